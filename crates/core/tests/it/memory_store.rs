//! The reference store beyond the suite: its errors, and many threads.

use cornu_core::testing::strategies::{History, Operation};
use cornu_core::testing::{MemoryStore, MemoryStoreError};
use cornu_core::{
    Acl, ByteSpan, Chunk, ChunkId, ChunkIdParts, ChunkKind, ChunkRole, ContentHash, DocId,
    DocumentFacts, FactStore, LineSpan, Principal,
};
use ndarray::{Array2, aview1};

/// A document of chunks that stand at these angles to the first axis of four.
pub(crate) fn facts(doc: &str, grant: &str, degrees: &[f32]) -> DocumentFacts {
    let doc = DocId::new(doc).unwrap();
    let chunk = |ordinal: u32| Chunk {
        id: ChunkId::derive(&ChunkIdParts {
            doc: &doc,
            chunker: "test",
            kind: ChunkKind::Prose,
            heading_path: &[],
            index_text: "x",
            text: "x",
            ordinal,
        }),
        doc: doc.clone(),
        kind: ChunkKind::Prose,
        role: ChunkRole::Indexed,
        parent: None,
        heading_path: vec![],
        span: ByteSpan::new(0, 1).unwrap(),
        core: ByteSpan::new(0, 1).unwrap(),
        lines: LineSpan::new(1, 1).unwrap(),
        prefix: vec![],
        language: None,
        text: "x".into(),
        index_text: "x".into(),
        tokens: 1,
    };
    let angles: Vec<f32> = degrees
        .iter()
        .flat_map(|degrees| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            [cos, sin, 0.0, 0.0]
        })
        .collect();
    DocumentFacts {
        chunks: (0..degrees.len() as u32).map(chunk).collect(),
        content: ContentHash::of(doc.as_str().as_bytes()),
        acl: Acl::new([grant]).unwrap(),
        vectors: Array2::from_shape_vec((degrees.len(), 4), angles).unwrap(),
        doc,
    }
}

/// Two operations guides nearer to the first axis than the two public ones.
pub(crate) fn guides() -> Vec<DocumentFacts> {
    vec![
        facts("ops-guide.md", "ops", &[1.0, 2.0]),
        facts("public-guide.md", "public", &[10.0, 20.0]),
    ]
}

#[test]
fn errors_name_the_document_the_row_and_the_remedy() {
    let store = MemoryStore::new(4);
    let mut bad = facts("a.md", "public", &[0.0, 10.0]);
    bad.vectors[[1, 0]] = f32::NAN;
    let error = store.upsert(&bad).unwrap_err();
    assert!(matches!(&error, MemoryStoreError::NotUnit { row: 1, norm, .. } if norm.is_nan()));
    assert_eq!(
        error.to_string(),
        "a.md, vector 1: norm NaN, not 1; normalise before writing"
    );

    let view = store.view(&Principal::public()).unwrap();
    store.upsert(&facts("a.md", "public", &[0.0])).unwrap();
    let outdated = MemoryStoreError::Outdated { view: 0, store: 1 };
    assert_eq!(store.documents(&view), Err(outdated.clone()));
    assert_eq!(
        store.knn(&view, aview1(&[1.0, 0.0, 0.0, 0.0]), 1),
        Err(outdated)
    );
}

#[test]
fn an_upsert_that_changes_nothing_leaves_views_valid() {
    let store = MemoryStore::new(4);
    let document = facts("a.md", "public", &[0.0]);
    store.upsert(&document).unwrap();
    let view = store.view(&Principal::public()).unwrap();
    store.upsert(&document).unwrap();
    assert!(!store.remove(&DocId::new("b.md").unwrap()).unwrap());
    assert_eq!(store.documents(&view).unwrap(), [document.doc]);
}

/// One writer switches a document between two states; readers see one or the other, whole.
#[test]
fn readers_never_see_half_a_write() {
    let store = MemoryStore::new(4);
    let states = [
        facts("a.md", "public", &[0.0]),
        facts("a.md", "public", &[0.0, 10.0, 20.0]),
    ];
    History::new([Operation::Upsert(states[0].clone())])
        .apply(&store)
        .unwrap();
    let mut answered = 0;
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let mut answered = 0;
                    for _ in 0..300 {
                        let view = store.view(&Principal::public()).unwrap();
                        match store.knn(&view, aview1(&[1.0, 0.0, 0.0, 0.0]), 10) {
                            Ok(hits) => {
                                assert!(hits.len() == 1 || hits.len() == 3, "{}", hits.len());
                                answered += 1;
                            }
                            Err(error) => {
                                assert!(matches!(error, MemoryStoreError::Outdated { .. }));
                            }
                        }
                    }
                    answered
                })
            })
            .collect();
        for turn in 0..300 {
            store.upsert(&states[turn % 2]).unwrap();
        }
        answered = readers
            .into_iter()
            .map(|reader| reader.join().unwrap())
            .sum();
    });
    assert!(answered > 0);
}
