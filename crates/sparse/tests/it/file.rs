//! The index in a file: the same answers, the same bytes, and damage that is found out.

use std::collections::BTreeMap;
use std::io::{self, Cursor};

use cornu_core::Fingerprint;
use cornu_core::testing::proptest::collection::{btree_map, vec};
use cornu_core::testing::proptest::prelude::*;
use cornu_sparse::{
    Bm25, Bm25Index, Builder, DocumentRows, FileBuilder, FileError, Origin, Output, Query, Row,
    Scratch, SparseError, TermCounts,
};

use crate::view;

const OWNER: [u8; 32] = [7; 32];

fn tokenizer() -> Fingerprint {
    Fingerprint::new("test")
}

fn origin() -> Origin {
    Origin {
        owner: OWNER,
        state: [3; 16],
        documents: vec![(0, [1; 16]), (5, *b"0123456789abcdef")],
    }
}

fn bytes_of(index: &Bm25Index<u32>) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    index.write(&origin(), &mut file).unwrap();
    file.into_inner()
}

fn open(bytes: Vec<u8>) -> Option<(Bm25Index<u32>, Origin)> {
    Bm25Index::open(bytes, tokenizer(), &OWNER)
}

/// One step: documents with the words of their rows; none to remove it.
fn step() -> impl Strategy<Value = BTreeMap<u32, Vec<Vec<String>>>> {
    btree_map(0_u32..8, vec(vec("[a-c]{1,2}", 0..6), 0..4), 0..5)
}

fn rows(document: u32, texts: &[Vec<String>]) -> DocumentRows<u32> {
    let row = |(at, words): (usize, &Vec<String>)| Row {
        id: document * 10 + at as u32,
        counts: TermCounts::from_pairs(
            words.len() as u32,
            words.iter().map(|word| (word.as_str(), 1)),
        )
        .unwrap(),
    };
    DocumentRows {
        document,
        rows: texts.iter().enumerate().map(row).collect(),
    }
}

fn answers(index: &Bm25Index<u32>, seen: u8) -> Result<String, SparseError> {
    let searcher = index.searcher(&view(8, |document| seen >> document & 1 == 1))?;
    let mut out = String::new();
    for words in ["a", "b ab", "c cc e a"] {
        let terms = words.split(' ').map(|word| (word.to_owned(), 1.0));
        let query = Query::weighted(terms).unwrap();
        let found = searcher.search(&query, &Bm25::default(), 5)?;
        out.push_str(&format!("{found:?}"));
        for id in 0..80 {
            let why = searcher.explain(&query, &Bm25::default(), &id)?;
            out.push_str(&format!("{why:?}"));
        }
    }
    Ok(out)
}

proptest! {
    /// Written and opened at any step of a history, and changed further, an index answers as one
    /// that never was a file; and its file is, byte for byte, that of a fresh build.
    #[test]
    fn a_file_is_the_index(steps in vec((step(), any::<bool>(), any::<u8>()), 1..6)) {
        let mut state: BTreeMap<u32, DocumentRows<u32>> = BTreeMap::new();
        let mut index = Bm25Index::build(tokenizer(), [], 1).unwrap();
        for (step, through_a_file, seen) in steps {
            let changes: Vec<_> = step.iter().map(|(at, texts)| rows(*at, texts)).collect();
            state.extend(changes.iter().cloned().map(|change| (change.document, change)));
            index.apply(changes, 1).unwrap();
            let fresh = Bm25Index::build(tokenizer(), state.values().cloned(), 1).unwrap();
            let file = bytes_of(&index);
            prop_assert_eq!(&file, &bytes_of(&fresh));
            if through_a_file {
                let (opened, found) = open(file).unwrap();
                prop_assert_eq!(found, origin());
                prop_assert_eq!(&opened, &fresh);
                prop_assert_eq!(opened.epoch(), 1);
                index = opened;
            }
            prop_assert_eq!(answers(&index, seen).unwrap(), answers(&fresh, seen).unwrap());
        }
    }

    #[test]
    fn batches_give_what_one_build_gives(
        documents in btree_map(0_u32..60, vec(vec("[a-c]{1,2}", 0..6), 0..4), 0..40),
        size in 1_usize..9,
        of_a_file in 0_usize..20,
    ) {
        let all: Vec<_> = documents.iter().map(|(at, texts)| rows(*at, texts)).collect();
        let fresh = Bm25Index::build(tokenizer(), all.iter().cloned(), 4).unwrap();
        let (first, rest) = all.split_at(of_a_file.min(all.len()));
        let base = Bm25Index::build(tokenizer(), first.iter().cloned(), 1).unwrap();
        let (base, _) = open(bytes_of(&base)).unwrap();
        let mut builder = Builder::onto(base).unwrap();
        for some in rest.chunks(size) {
            builder.push(some.iter().cloned()).unwrap();
        }
        prop_assert_eq!(builder.finish(4).unwrap(), fresh);
    }
}

/// Runs in memory.
struct Memory;

impl Scratch for Memory {
    type Bytes = Vec<u8>;

    fn keep(
        &mut self,
        write: impl FnOnce(&mut dyn Output) -> io::Result<()>,
    ) -> io::Result<Vec<u8>> {
        let mut run = Cursor::new(Vec::new());
        write(&mut run)?;
        Ok(run.into_inner())
    }
}

proptest! {
    /// Whatever the size of the runs and of the batches, and whatever is left out of the file that
    /// was there, the bytes are those of a fresh build.
    #[test]
    fn runs_of_any_size_give_the_same_file(
        documents in btree_map(0_u32..60, vec(vec("[a-c]{1,2}", 0..6), 0..4), 0..40),
        batch in 1_usize..9,
        limit in 0_usize..60,
        of_a_file in 0_usize..30,
        stale in vec(any::<bool>(), 30),
    ) {
        let all: Vec<_> = documents.iter().map(|(at, texts)| rows(*at, texts)).collect();
        let (first, rest) = all.split_at(of_a_file.min(all.len()));
        let base = Bm25Index::build(tokenizer(), first.iter().cloned(), 1).unwrap();
        let (mut base, _) = open(bytes_of(&base)).unwrap();
        // Some are gone from the index before, some are left out now.
        let gone = |at: &usize| stale.get(*at) == Some(&true);
        let (before, now): (Vec<usize>, Vec<usize>) =
            (0..first.len()).filter(gone).partition(|at| at % 2 == 0);
        let dropped = before.iter().map(|&at| DocumentRows {
            document: first[at].document,
            rows: Vec::new(),
        });
        base.apply(dropped, 1).unwrap();
        let now = |document| now.iter().any(|&at| first[at].document == document);
        let kept = (0..all.len()).filter(|at| *at >= first.len() || !gone(at));
        let kept = kept.map(|at| all[at].clone());
        let fresh = Bm25Index::build(tokenizer(), kept, 4).unwrap();

        let mut builder = FileBuilder::onto(base, now, limit, Memory).unwrap();
        for some in rest.chunks(batch) {
            builder.push(some.iter().cloned()).unwrap();
        }
        let mut file = Cursor::new(Vec::new());
        builder.finish(4, &origin(), &mut file).unwrap();
        prop_assert!(file.into_inner() == bytes_of(&fresh));
    }
}

/// A term of more postings than a block, over several runs.
#[test]
fn long_lists_are_merged_block_by_block() {
    let document = |document: u32| DocumentRows {
        document,
        rows: vec![Row {
            // Rows of all runs stand among each other.
            id: document.wrapping_mul(0x9e37_79b1),
            counts: TermCounts::from_pairs(
                1 + document % 7,
                [
                    ("all", 1 + document % 3),
                    (
                        if document.is_multiple_of(2) {
                            "even"
                        } else {
                            "odd"
                        },
                        1,
                    ),
                ],
            )
            .unwrap(),
        }],
    };
    let fresh = Bm25Index::build(tokenizer(), (0..1_000).map(document), 2).unwrap();
    for limit in [1, 100, 999, 1_000_000] {
        let mut builder = FileBuilder::new(tokenizer(), limit, Memory);
        for batch in 0..100 {
            builder
                .push((10 * batch..10 * batch + 10).map(document))
                .unwrap();
        }
        let mut file = Cursor::new(Vec::new());
        builder.finish(2, &origin(), &mut file).unwrap();
        assert!(file.into_inner() == bytes_of(&fresh), "{limit}");
    }
}

#[test]
fn runs_take_no_document_or_row_twice_and_fail_with_their_place() {
    let one = |document, id| DocumentRows {
        document,
        rows: vec![Row {
            id,
            counts: TermCounts::from_pairs(1, [("a", 1)]).unwrap(),
        }],
    };
    for limit in [1, 9] {
        let mut builder = FileBuilder::<u32, _>::new(tokenizer(), limit, Memory);
        builder.push([one(1, 10)]).unwrap();
        let error = builder.push([one(1, 11)]).unwrap_err();
        let twice = SparseError::DuplicateDocument { document: 1 };
        assert!(matches!(error, FileError::Sparse(error) if error == twice));

        let mut builder = FileBuilder::<u32, _>::new(tokenizer(), limit, Memory);
        builder.push([one(1, 10)]).unwrap();
        let error = builder
            .push([one(2, 10)])
            .and_then(|()| builder.finish(1, &origin(), &mut Cursor::new(Vec::new())));
        let twice = SparseError::DuplicateRow { document: 2 };
        assert!(matches!(error, Err(FileError::Sparse(error)) if error == twice));
    }
    struct Full;
    impl Scratch for Full {
        type Bytes = Vec<u8>;
        fn keep(
            &mut self,
            _: impl FnOnce(&mut dyn Output) -> io::Result<()>,
        ) -> io::Result<Vec<u8>> {
            Err(io::ErrorKind::StorageFull.into())
        }
    }
    let mut builder = FileBuilder::<u32, _>::new(tokenizer(), 1, Full);
    let error = builder.push([one(1, 10)]).unwrap_err();
    assert!(matches!(error, FileError::Io(error) if error.kind() == io::ErrorKind::StorageFull));
}

#[test]
fn a_builder_takes_no_document_or_row_twice() {
    let one = |document, id| DocumentRows {
        document,
        rows: vec![Row {
            id,
            counts: TermCounts::from_pairs(1, [("a", 1)]).unwrap(),
        }],
    };
    let mut builder = Builder::new(tokenizer());
    builder.push([one(1, 10)]).unwrap();
    let error = builder.push([one(1, 11)]).unwrap_err();
    assert_eq!(error, SparseError::DuplicateDocument { document: 1 });

    let mut builder = Builder::new(tokenizer());
    builder.push([one(1, 10)]).unwrap();
    let twice = builder
        .push([one(2, 10)])
        .and_then(|()| builder.finish(1).map(drop));
    assert_eq!(twice, Err(SparseError::DuplicateRow { document: 2 }));
}

/// Enough rows and terms for several pages.
fn large() -> Bm25Index<u32> {
    let documents = (0..8).map(|document| {
        let text = |at: u32| -> Vec<String> {
            let words = (0..6).map(|word| ((at * 31 + word * 7) % 900).to_string());
            words.chain(["a".to_owned(), format!("b{at}")]).collect()
        };
        let texts: Vec<Vec<String>> = (0..600).map(|at| text(document * 600 + at)).collect();
        let rows = texts.iter().zip(0..).map(|(words, at)| Row {
            id: document * 1000 + at,
            counts: TermCounts::from_pairs(8, words.iter().map(|word| (word, 1))).unwrap(),
        });
        DocumentRows {
            document,
            rows: rows.collect(),
        }
    });
    Bm25Index::build(tokenizer(), documents, 1).unwrap()
}

/// A byte changed anywhere: the file is not opened, or the search says so, or it did not touch the
/// page. Never another answer.
#[test]
fn a_changed_byte_is_found_out_or_does_not_matter() {
    let index = large();
    let expected = answers(&index, 0b1010_1101).unwrap();
    let file = bytes_of(&index);
    let pages = file.len() / (16 << 10);
    assert!(pages > 10, "{pages} pages");
    let (mut refused, mut damaged, mut untouched) = (0, 0, 0);
    let places = (0..256).chain((256..file.len()).step_by(997));
    for at in places {
        let mut changed = file.clone();
        changed[at] ^= 0x10;
        match open(changed) {
            None => refused += 1,
            Some((index, _)) => match answers(&index, 0b1010_1101) {
                Err(SparseError::Damaged) => damaged += 1,
                Ok(found) => {
                    assert_eq!(found, expected, "byte {at}");
                    untouched += 1;
                }
                Err(error) => panic!("byte {at}: {error}"),
            },
        }
    }
    assert!(refused >= 256, "the header is hashed: {refused}");
    assert!(damaged > 10, "{damaged} damaged, {untouched} untouched");
    assert!(untouched > 10, "a search reads its own terms: {untouched}");
}

#[test]
fn other_files_are_not_opened() {
    let file = bytes_of(&large());
    assert!(open(file.clone()).is_some());
    assert!(Bm25Index::<u32>::open(file.clone(), tokenizer(), &[8; 32]).is_none());
    let other = Fingerprint::new("another tokenizer");
    assert!(Bm25Index::<u32>::open(file.clone(), other, &OWNER).is_none());
    assert!(Bm25Index::<u64>::open(file.clone(), tokenizer(), &OWNER).is_none());
    for end in [0, 8, 255, 256, 4096, file.len() - 1] {
        assert!(open(file[..end].to_vec()).is_none(), "cut at {end}");
    }
    let mut longer = file;
    longer.push(0);
    assert!(open(longer).is_none());
}

/// The whole of a file that stands in memory is read where it is merged.
#[test]
fn a_damaged_file_is_not_merged() {
    let index = large();
    let mut file = bytes_of(&index);
    let last = file.len() - 1;
    file[last] ^= 1;
    let (mut opened, _) = open(file).unwrap();
    assert_ne!(opened, index);
    opened.apply([rows(3, &[])], 2).unwrap();
    assert_eq!(opened.compact(), Err(SparseError::Damaged));
    assert!(bytes_of_is_an_error(&opened));
}

fn bytes_of_is_an_error(index: &Bm25Index<u32>) -> bool {
    index.write(&origin(), Cursor::new(Vec::new())).is_err()
}
