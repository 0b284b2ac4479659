//! Headers in front of what is indexed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cornu_core::{Chunk, ChunkRole, Fingerprint, ProviderError, Summariser, TokenCounter};
use cornu_segment::{
    AutoContext, AutoContextOptions, CachedSummariser, Contextual, ExtractiveSummariser,
    FolderStore, HeaderStyle, MemoryStore, SummaryStore,
};
use cornu_text::WordCounter;

use crate::document;

/// Says how long its input is, and counts its calls.
struct Lengths(Fingerprint, AtomicUsize);

impl Lengths {
    fn new() -> Arc<Self> {
        Arc::new(Self(Fingerprint::new("lengths"), AtomicUsize::new(0)))
    }
}

impl Summariser for Lengths {
    fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }
    fn summarise(&self, text: &str, _: usize) -> Result<String, ProviderError> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Ok(format!("About\n {} bytes.", text.len()))
    }
}

struct Broken(Fingerprint);

impl Summariser for Broken {
    fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }
    fn summarise(&self, _: &str, _: usize) -> Result<String, ProviderError> {
        Err(ProviderError::Unavailable {
            provider: "broken".to_owned(),
            reason: "it is".to_owned(),
            remedy: "mend it".to_owned(),
        })
    }
}

fn apply(options: AutoContextOptions, texts: &[(&[&str], &str)]) -> Contextual {
    let (doc, chunks) = document("manual/gx5.md", texts);
    AutoContext::new(Lengths::new(), Arc::new(WordCounter::new()), options)
        .apply(&doc, None, "test", chunks)
        .unwrap()
}

fn index_texts(done: &Contextual) -> Vec<&str> {
    done.chunks
        .iter()
        .map(|chunk| chunk.index_text.as_str())
        .collect()
}

#[test]
fn a_header_stands_before_what_is_indexed_and_nowhere_else() {
    let texts: &[(&[&str], &str)] = &[(&["One"], "First."), (&["Two"], "Second.")];
    let (_, before) = document("manual/gx5.md", texts);
    let done = apply(AutoContextOptions::default(), texts);
    let expected = [
        "gx5: About 15 bytes.\nFirst.",
        "gx5: About 15 bytes.\nSecond.",
    ];
    assert_eq!(index_texts(&done), expected);
    for (old, new) in before.iter().zip(&done.chunks) {
        assert_ne!(old.id, new.id, "what is indexed is part of the id");
        assert_eq!(new.tokens, WordCounter::new().count(&new.index_text));
        let same = Chunk {
            id: old.id,
            index_text: old.index_text.clone(),
            tokens: old.tokens,
            ..new.clone()
        };
        assert_eq!(*old, same, "all else stays");
    }
    assert_eq!((done.calls, done.shortened), (1, 0));
}

#[test]
fn a_title_that_the_heading_path_gives_is_not_repeated() {
    let options = AutoContextOptions {
        document_tokens: 0,
        ..AutoContextOptions::default()
    };
    let shown: &[(&[&str], &str)] = &[
        (&["GX-5", "Oil"], "GX-5 > Oil\nChange it."),
        (&["GX-5"], "GX-5\nA gearbox."),
    ];
    assert_eq!(
        index_texts(&apply(options.clone(), shown)),
        ["GX-5 > Oil\nChange it.", "GX-5\nA gearbox."]
    );
    // Where the index text does not show the path, the title is needed.
    let bare: &[(&[&str], &str)] = &[(&["GX-5", "Oil"], "Change it."), (&["GX-5"], "A gearbox.")];
    assert_eq!(
        index_texts(&apply(options, bare)),
        ["GX-5\nChange it.", "GX-5\nA gearbox."]
    );
}

#[test]
fn sections_of_several_chunks_are_summarised_too() {
    let texts: &[(&[&str], &str)] = &[
        (&["T", "One"], "aa"),
        (&["T", "One"], "bbb"),
        (&["T", "Two"], "cccc"),
    ];
    let options = AutoContextOptions {
        section_tokens: 16,
        ..AutoContextOptions::default()
    };
    let done = apply(options.clone(), texts);
    assert_eq!(
        index_texts(&done),
        [
            "T: About 13 bytes.\nAbout 7 bytes.\naa",
            "T: About 13 bytes.\nAbout 7 bytes.\nbbb",
            "T: About 13 bytes.\ncccc",
        ]
    );
    assert_eq!(done.calls, 2);
    let none = AutoContextOptions {
        max_sections: 0,
        ..options
    };
    assert_eq!(apply(none, texts).calls, 1);
}

#[test]
fn paper_style_is_the_papers() {
    let texts: &[(&[&str], &str)] = &[
        (&["T", "One"], "aa"),
        (&["T", "One"], "bbb"),
        (&["T", "Two"], "c"),
    ];
    let options = AutoContextOptions {
        style: HeaderStyle::Paper,
        section_tokens: 16,
        ..AutoContextOptions::default()
    };
    let done = apply(options, texts);
    assert_eq!(
        done.chunks[0].index_text,
        "Document context: the following excerpt is from a document titled 'T'. About 10 bytes.\n\n\
         Section context: this excerpt is from the section titled 'One'. About 7 bytes.\n\naa"
    );
    assert_eq!(
        done.chunks[2].index_text,
        "Document context: the following excerpt is from a document titled 'T'. About 10 bytes.\n\nc"
    );
}

/// No chunk passes the limit: the header gives way, part by part.
#[test]
fn the_header_gives_way_to_the_limit() {
    let texts: &[(&[&str], &str)] = &[
        (&["T", "One"], "a b c d"),
        (&["T", "One"], "a"),
        (&["T", "One"], "a b c d e f"),
        (&["T", "Two"], "x"),
    ];
    // Counting words: title 1, document's summary 3, section's 3.
    let options = AutoContextOptions {
        section_tokens: 8,
        limit: 8,
        ..AutoContextOptions::default()
    };
    let done = apply(options, texts);
    assert!(
        done.chunks.iter().all(|chunk| chunk.tokens <= 8),
        "{:?}",
        index_texts(&done)
    );
    let starts: Vec<_> = index_texts(&done)
        .iter()
        .map(|text| text.lines().count())
        .collect();
    assert_eq!(done.chunks[0].index_text, "T: About 26 bytes.\na b c d");
    assert_eq!(done.chunks[1].index_text.lines().count(), 3, "{starts:?}");
    assert_eq!(done.chunks[2].index_text, "T\na b c d e f");
    assert_eq!(done.shortened, 2);
}

#[test]
fn what_needs_no_summary_costs_none() {
    let done = apply(AutoContextOptions::default(), &[(&["T"], "the only chunk")]);
    assert_eq!(
        (done.calls, index_texts(&done)),
        (0, vec!["T\nthe only chunk"])
    );
    assert_eq!(apply(AutoContextOptions::default(), &[]).calls, 0);
    let off = AutoContextOptions {
        document_tokens: 0,
        ..AutoContextOptions::default()
    };
    assert_eq!(apply(off, &[(&[], "a"), (&[], "b")]).calls, 0);
}

#[test]
fn input_and_output_are_bounded() {
    let long = "word ".repeat(500);
    let texts: &[(&[&str], &str)] = &[(&[], &long), (&[], "b")];
    let (doc, chunks) = document("a.md", texts);
    let options = AutoContextOptions {
        input_tokens: 10,
        document_tokens: 2,
        ..AutoContextOptions::default()
    };
    let context = AutoContext::new(Lengths::new(), Arc::new(WordCounter::new()), options);
    let done = context
        .apply(&doc, Some(" Title "), "test", chunks)
        .unwrap();
    assert_eq!(done.input_tokens, 10);
    assert_eq!(
        done.chunks[1].index_text, "Title: About 50\nb",
        "two tokens of the summary"
    );
}

#[test]
fn a_summary_that_the_chunk_holds_is_not_repeated() {
    let opening = "The gearbox GX-5 drives the mill directly.";
    let texts: &[(&[&str], &str)] = &[(&[], opening), (&[], "Oil is changed each year.")];
    let (doc, chunks) = document("gx5.md", texts);
    let context = AutoContext::new(
        Arc::new(ExtractiveSummariser::default()),
        Arc::new(WordCounter::new()),
        AutoContextOptions {
            document_tokens: 10,
            ..AutoContextOptions::default()
        },
    );
    let done = context.apply(&doc, None, "test", chunks).unwrap();
    assert_eq!(
        index_texts(&done),
        [
            &format!("gx5\n{opening}"),
            &format!("gx5: {opening}\nOil is changed each year.")
        ]
    );
}

#[test]
fn parents_keep_their_names_and_twins_get_different_ones() {
    let (doc, mut chunks) = document("a.md", &[(&[], "parent"), (&[], "same"), (&[], "same")]);
    chunks[0].role = ChunkRole::Parent;
    let parent = chunks[0].clone();
    for chunk in &mut chunks[1..] {
        chunk.parent = Some(parent.id);
    }
    let context = AutoContext::new(
        Lengths::new(),
        Arc::new(WordCounter::new()),
        AutoContextOptions::default(),
    );
    let done = context.apply(&doc, None, "test", chunks).unwrap();
    assert_eq!(done.chunks[0], parent);
    assert_ne!(done.chunks[1].id, done.chunks[2].id);
    assert!(
        done.chunks[1..]
            .iter()
            .all(|chunk| chunk.parent == Some(parent.id))
    );
}

#[test]
fn a_failing_summariser_gives_no_chunks() {
    let (doc, chunks) = document("a.md", &[(&[], "a"), (&[], "b")]);
    let broken = Arc::new(Broken(Fingerprint::new("broken")));
    let context = AutoContext::new(
        broken,
        Arc::new(WordCounter::new()),
        AutoContextOptions::default(),
    );
    assert!(context.apply(&doc, None, "test", chunks).is_err());
}

#[test]
fn every_setting_is_in_the_fingerprint() {
    let of = |options| {
        let context = AutoContext::new(Lengths::new(), Arc::new(WordCounter::new()), options);
        context.fingerprint().clone()
    };
    let base = AutoContextOptions::default();
    let others = [
        AutoContextOptions {
            style: HeaderStyle::Paper,
            ..base.clone()
        },
        AutoContextOptions {
            document_tokens: 1,
            ..base.clone()
        },
        AutoContextOptions {
            section_tokens: 1,
            ..base.clone()
        },
        AutoContextOptions {
            input_tokens: 1,
            ..base.clone()
        },
        AutoContextOptions {
            max_sections: 1,
            ..base.clone()
        },
        AutoContextOptions {
            limit: 1,
            ..base.clone()
        },
    ];
    for other in others {
        assert_ne!(of(other), of(base.clone()));
    }
}

/// A text is summarised once, also by the next process; other sizes and texts are others.
#[test]
fn summaries_are_kept_by_content() {
    let folder = tempfile::tempdir().unwrap();
    let stores: [Arc<dyn SummaryStore>; 2] = [
        Arc::new(MemoryStore::new(10)),
        Arc::new(FolderStore::new(folder.path()).unwrap()),
    ];
    for store in stores {
        let inner = Lengths::new();
        let cached = CachedSummariser::new(inner.clone(), store.clone());
        for (text, tokens, calls) in [
            ("a", 5, 1),
            ("a", 5, 1),
            ("a", 6, 2),
            ("b", 5, 3),
            ("b", 5, 3),
        ] {
            cached.summarise(text, tokens).unwrap();
            assert_eq!(inner.1.load(Ordering::SeqCst), calls);
        }
        let next = CachedSummariser::new(inner.clone(), store);
        assert_eq!(next.summarise("a", 5).unwrap(), "About\n 1 bytes.");
        assert_eq!((next.hits(), next.misses(), next.unkept()), (1, 0, 0));
        assert_eq!(next.fingerprint(), inner.fingerprint());
    }
    let partial = std::fs::read_dir(folder.path()).unwrap();
    let names: Vec<_> = partial.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3);
    assert!(
        names
            .iter()
            .all(|name| name.to_string_lossy().ends_with(".txt"))
    );
}

/// Failures are not kept, and a store that cannot write does not stop anything.
#[test]
fn failures_are_not_kept() {
    let broken = Arc::new(Broken(Fingerprint::new("broken")));
    let store = Arc::new(MemoryStore::new(10));
    let cached = CachedSummariser::new(broken, store);
    assert!(cached.summarise("a", 5).is_err());
    assert!(cached.summarise("a", 5).is_err());
    assert_eq!(cached.misses(), 2);

    let folder = tempfile::tempdir().unwrap();
    let gone = FolderStore::new(folder.path().join("gone")).unwrap();
    drop(folder);
    let cached = CachedSummariser::new(Lengths::new(), Arc::new(gone));
    assert!(cached.summarise("a", 5).is_ok());
    assert_eq!(cached.unkept(), 1);
}
