//! Ids are functions of what they name, and of nothing else.

use std::path::Path;

use cornu_core::id::MAX_DOC_ID_BYTES;
use cornu_core::{ChunkId, ChunkIdParts, ChunkKind, DocId, IdError};
use proptest::prelude::*;

/// All that goes into a chunk id, owned.
#[derive(Clone, Debug, PartialEq)]
struct Parts {
    doc: String,
    chunker: String,
    kind: ChunkKind,
    heading_path: Vec<String>,
    index_text: String,
    text: String,
    ordinal: u32,
}

impl Parts {
    fn id(&self) -> ChunkId {
        ChunkId::derive(&ChunkIdParts {
            doc: &DocId::new(&self.doc).unwrap(),
            chunker: &self.chunker,
            kind: self.kind,
            heading_path: &self.heading_path,
            index_text: &self.index_text,
            text: &self.text,
            ordinal: self.ordinal,
        })
    }
}

/// Few letters, so that two tuples often join to the same string.
fn word() -> impl Strategy<Value = String> {
    let letter = prop::sample::select(vec!["a", "_", "/", "1"]);
    prop::collection::vec(letter, 0..4).prop_map(|letters| letters.concat())
}

fn parts() -> impl Strategy<Value = Parts> {
    let kind = prop::sample::select(vec![ChunkKind::Prose, ChunkKind::Code, ChunkKind::Table]);
    let headings = prop::collection::vec(word(), 0..3);
    (word(), word(), kind, headings, word(), word(), 0_u32..2).prop_map(
        |(doc, chunker, kind, heading_path, index_text, text, ordinal)| Parts {
            doc: format!("d{doc}"),
            chunker,
            kind,
            heading_path,
            index_text,
            text,
            ordinal,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn ck_07_ck_09_chunk_ids_differ_exactly_when_a_part_does(a in parts(), b in parts()) {
        prop_assert_eq!(a.id() == b.id(), a == b);
        prop_assert_eq!(a.id(), a.clone().id());
    }

    /// Moves a border between neighbouring parts: joined, they are equal.
    #[test]
    fn ck_07_a_border_between_parts_counts(text in "[ab_/]{1,8}", cut in any::<prop::sample::Index>()) {
        let at = cut.index(text.len() + 1);
        let base = Parts {
            doc: "d".into(), chunker: String::new(), kind: ChunkKind::Prose,
            heading_path: vec![], index_text: String::new(), text: text.clone(), ordinal: 0,
        };
        let moved = Parts { index_text: text[..at].into(), text: text[at..].into(), ..base.clone() };
        prop_assert_eq!(moved.id() == base.id(), at == 0);
        let joined = Parts { heading_path: vec![text.clone()], ..base.clone() };
        let split = Parts { heading_path: vec![text[..at].into(), text[at..].into()], ..base };
        prop_assert_ne!(joined.id(), split.id());
    }

    #[test]
    fn chunk_ids_survive_hex(bytes in any::<[u8; 32]>()) {
        let id = ChunkId::from_bytes(bytes);
        prop_assert_eq!(id.to_string().parse::<ChunkId>().unwrap(), id);
        prop_assert_eq!(id.as_bytes(), &bytes);
    }

    #[test]
    fn document_ids_are_nfc_and_bounded(name in any::<String>()) {
        use unicode_normalization::UnicodeNormalization;
        if let Ok(id) = DocId::new(&name) {
            prop_assert_eq!(id.as_str(), name.nfc().collect::<String>());
            prop_assert_eq!(DocId::new(id.as_str()).unwrap(), id);
        }
    }
}

#[test]
fn ck_07_tenants_and_documents_do_not_join() {
    let base = Parts {
        doc: "hr/fin_1".into(),
        chunker: "c".into(),
        kind: ChunkKind::Prose,
        heading_path: vec![],
        index_text: "t".into(),
        text: "t".into(),
        ordinal: 0,
    };
    let other = Parts {
        doc: "hr_fin/1".into(),
        ..base.clone()
    };
    assert_ne!(base.id(), other.id());
}

#[test]
fn tb_12_a_table_and_the_prose_of_the_same_bytes_are_two_chunks() {
    let table = "| 键 | 值 |\n|---|---|\n| k | 1 |";
    let of = |kind| Parts {
        doc: "t.md".into(),
        chunker: "c".into(),
        kind,
        heading_path: vec![],
        index_text: table.into(),
        text: table.into(),
        ordinal: 0,
    };
    assert_ne!(of(ChunkKind::Table).id(), of(ChunkKind::Prose).id());
    for kind in [ChunkKind::Prose, ChunkKind::Code, ChunkKind::Table] {
        assert_eq!(kind.to_string().parse(), Ok(kind));
    }
    assert!("Table".parse::<ChunkKind>().is_err());
}

#[test]
fn a_path_becomes_an_id_relative_to_the_root() {
    let id = |root: &str, path: &str| DocId::from_path(Path::new(root), Path::new(path));
    for (root, path, expected) in [
        ("notes", "notes/ml/a.md", "ml/a.md"),
        ("notes/", "notes//ml/./a.md", "ml/a.md"),
        ("/srv/notes", "/srv/notes/a.md", "a.md"),
        (".", "./a.md", "a.md"),
        (".", "a.md", "a.md"),
        ("", "a.md", "a.md"),
        ("./notes", "notes/a.md", "a.md"),
        ("notes", "./notes/a.md", "a.md"),
        ("../notes", "../notes/a.md", "a.md"),
        ("n", "n/cafe\u{301}/财务.md", "caf\u{e9}/财务.md"),
        ("n", "n/with space & 'quote'.md", "with space & 'quote'.md"),
    ] {
        let found = id(root, path).unwrap_or_else(|error| panic!("{root} {path}: {error}"));
        assert_eq!(found.as_str(), expected, "{root} {path}");
    }
}

#[test]
fn a_path_outside_the_root_is_no_id() {
    let id = |root: &str, path: &str| DocId::from_path(Path::new(root), Path::new(path));
    for (root, path) in [
        ("notes", "notes/../secret.md"),
        ("notes", "notes/a/../../secret.md"),
        ("notes", "notes/a/../b.md"),
        ("notes", "notes2/a.md"),
        ("notes", "/etc/passwd"),
        (".", "/etc/passwd"),
        ("", "/etc/passwd"),
        (".", "../a.md"),
        ("/srv/notes", "a.md"),
    ] {
        assert!(
            matches!(id(root, path), Err(IdError::OutsideRoot { .. })),
            "{root} {path}"
        );
    }
    assert_eq!(id("notes", "notes"), Err(IdError::Empty));
    assert!(matches!(
        id("n", "n/a\nb.md"),
        Err(IdError::ControlCharacter { .. })
    ));
}

#[cfg(unix)]
#[test]
fn a_file_name_that_is_not_unicode_is_named_in_the_error() {
    use std::os::unix::ffi::OsStrExt;
    let path = Path::new("n").join(std::ffi::OsStr::from_bytes(b"caf\xe9.md"));
    let error = DocId::from_path(Path::new("n"), &path).unwrap_err();
    assert!(matches!(&error, IdError::NotUnicode { path } if path.starts_with("n/caf")));
}

#[test]
fn long_ids_are_refused_by_their_length_after_normalisation() {
    let name = "e\u{301}".repeat(MAX_DOC_ID_BYTES / 2); // 3 bytes each, 2 in NFC
    assert!(DocId::new(&name).is_ok());
    assert_eq!(
        DocId::new(&format!("{name}a")),
        Err(IdError::TooLong { bytes: 1025 })
    );
    assert!(matches!(
        "xyz".parse::<ChunkId>(),
        Err(IdError::NotHex { .. })
    ));
}
