//! From documents to cited answers, and back out again.

use std::sync::Arc;

use cornu::core::{Embeddings, ProviderError};
use cornu::{
    Acl, AskOptions, Change, Citation, Disclosure, DocId, Document, EmbeddingProvider, Fingerprint,
    HashEmbeddingProvider, Labelled, LiveRagIndex, Outcome, Principal, RagError, RagOptions,
    Reason, Target, Threshold,
};
use ndarray::Array1;

use crate::world::{Home, document, grants, holder, options};

const GUIDE: &str = "# 自动微分\n\n梯度默认会累加。\n\n## 清空梯度\n\n每一步之前要调用 `zero_grad` 清空梯度。否则上一步的梯度会混进来。\n\n## Saving memory\n\nUse `no_grad` for evaluation. It keeps no graph, so it saves memory.\n";
const TABLE: &str = "# Limits\r\n\r\nEach city has a limit.\r\n\r\n| City | Hotel |\r\n|---|---|\r\n| Oslo | 1800 NOK |\r\n| Lima | 300 PEN |\r\n";
const SALARIES: &str = "# Salaries\n\nThe average salary of an engineer is 90000.\n";

fn corpus() -> Vec<Document> {
    vec![
        document("guide.md", GUIDE, Acl::public()),
        document("limits.md", TABLE, grants(["public", "travel"])),
        document("hr/salaries.md", SALARIES, grants(["hr"])),
    ]
}

fn source(citation: &Citation) -> &'static str {
    match citation.doc.as_str() {
        "guide.md" => GUIDE,
        "limits.md" => TABLE,
        _ => SALARIES,
    }
}

#[test]
fn answers_cite_the_bytes_and_lines_of_their_sources() {
    let home = Home::holding(&corpus());
    let reader = Principal::public();
    for (question, quote, place) in [
        (
            "怎么清空梯度？",
            "每一步之前要调用 `zero_grad` 清空梯度。",
            "guide.md § 自动微分 › 清空梯度, line 7",
        ),
        (
            "Does it save memory without a graph?",
            "It keeps no graph, so it saves memory.",
            "guide.md § 自动微分 › Saving memory, line 11",
        ),
        (
            "What is the hotel limit in Oslo?",
            "| Oslo | 1800 NOK |",
            "limits.md § Limits, line 7",
        ),
    ] {
        let response = home.index.answer(&reader, question, &home.threshold(0.1));
        let response = response.unwrap();
        let Outcome::Answered(answer) = &response.outcome else {
            panic!("{question}: {}\n{}", response.outcome, response.trace);
        };
        for statement in &answer.statements {
            let citation = &statement.citation;
            let source = source(citation);
            assert_eq!(&source[citation.span.range()], citation.quote);
            assert!(citation.resolves_in(source));
            let first = source[..citation.span.start()].matches('\n').count() + 1;
            assert_eq!(citation.lines.first(), first, "{citation}");
        }
        let found = answer
            .statements
            .iter()
            .find(|one| one.citation.quote == quote);
        let found = found.unwrap_or_else(|| panic!("{question}: {answer}"));
        assert_eq!(found.citation.to_string(), place);
        assert!(
            answer
                .to_string()
                .contains(&format!("[1] {}", answer.statements[0].citation))
        );
    }
}

#[test]
fn any_chunker_gives_citations_that_resolve() {
    use cornu::chunk::{Chunker, FixedWindow, ParentChild, Window};
    let counter = || Arc::new(cornu::text::WordCounter::new());
    let small = Window::new(8, 2).unwrap();
    let windows = FixedWindow::new(
        counter(),
        cornu::chunk::FixedWindowOptions { window: small },
    );
    let children = ParentChild::new(
        counter(),
        cornu::chunk::ParentChildOptions {
            child: small,
            ..Default::default()
        },
    );
    let chunkers: [Arc<dyn Chunker>; 2] = [Arc::new(windows), Arc::new(children.unwrap())];
    for chunker in chunkers {
        let home = Home::with(RagOptions {
            chunker,
            ..options()
        });
        home.index.ingest_all(&corpus(), |_| {}).unwrap();
        let all = holder(["public", "hr"]);
        for question in ["清空梯度", "hotel limit", "salary", "memory graph"] {
            let response = home
                .index
                .answer(&all, question, &home.threshold(-1.0))
                .unwrap();
            for statement in &response.outcome.answer().unwrap().statements {
                let citation = &statement.citation;
                assert!(citation.resolves_in(source(citation)), "{citation}");
            }
        }
    }
}

#[test]
fn an_answer_has_no_word_that_is_not_in_its_evidence() {
    let home = Home::holding(&corpus());
    let response = home
        .index
        .answer(
            &Principal::public(),
            "zero_grad 和 memory",
            &home.threshold(-1.0),
        )
        .unwrap();
    for statement in &response.outcome.answer().unwrap().statements {
        assert!(source(&statement.citation).contains(&statement.citation.quote));
    }
}

#[test]
fn grants_decide_and_may_change_without_embedding_again() {
    let home = Home::holding(&corpus());
    let question = "What is the average salary of an engineer?";
    let ask = |who: &Principal| {
        let response = home.index.answer(who, question, &home.threshold(0.3));
        response.unwrap().outcome.answer().is_some()
    };
    assert!(!ask(&Principal::public()) && ask(&holder(["hr"])));

    let opened = document("hr/salaries.md", SALARIES, grants(["hr", "public"]));
    assert_eq!(home.index.ingest(&opened).unwrap().change, Change::Replaced);
    assert!(ask(&Principal::public()));

    let closed = document("hr/salaries.md", SALARIES, Acl::nobody());
    assert_eq!(home.index.ingest(&closed).unwrap().change, Change::Replaced);
    assert!(!ask(&Principal::public()) && !ask(&holder(["hr"])));
}

#[test]
fn removed_documents_and_their_words_are_gone() {
    let home = Home::holding(&corpus());
    let id = DocId::new("guide.md").unwrap();
    let reader = Principal::public();
    assert!(
        !home
            .index
            .search_sparse(&reader, "zero_grad", 5)
            .unwrap()
            .hits
            .is_empty()
    );
    assert!(home.index.remove(&id).unwrap());
    assert!(!home.index.remove(&id).unwrap());
    assert!(
        home.index
            .search_sparse(&reader, "zero_grad", 5)
            .unwrap()
            .hits
            .is_empty()
    );
    assert_eq!(home.index.documents(&reader).unwrap().len(), 1);
}

#[test]
fn unchanged_documents_are_not_embedded() {
    let counting = Arc::new(Counting::default());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    let index = LiveRagIndex::open(&path, counting.clone(), options()).unwrap();
    let report = index.ingest_all(&corpus(), |_| {}).unwrap();
    assert_eq!((report.inserted, report.unchanged), (3, 0));
    let embedded = counting.texts();
    assert!(embedded > 0);

    let epoch = index.store().epoch().unwrap();
    let mut seen = Vec::new();
    let report = index
        .ingest_all(&corpus(), |progress| seen.push(progress.to_string()))
        .unwrap();
    assert_eq!(
        (report.inserted, report.replaced, report.unchanged),
        (0, 0, 3)
    );
    assert_eq!(seen, ["3 of 3 documents"]);
    assert_eq!(counting.texts(), embedded);
    assert_eq!(index.store().epoch().unwrap(), epoch);

    // Other grants, same text.
    let regranted = document("guide.md", GUIDE, grants(["public", "team"]));
    assert_eq!(index.ingest(&regranted).unwrap().change, Change::Replaced);
    assert_eq!(counting.texts(), embedded);

    // Another text.
    let changed = document("guide.md", "# 自动微分\n\n新的一句。\n", Acl::public());
    assert_eq!(index.ingest(&changed).unwrap().change, Change::Replaced);
    assert_eq!(counting.texts(), embedded + 1);
}

#[test]
fn reopening_changes_nothing_and_another_model_is_refused() {
    let home = Home::holding(&corpus());
    let path = home.folder.path().join("index.db");
    let reader = Principal::public();
    let before = home
        .index
        .search_hybrid(&reader, "zero_grad", 5)
        .unwrap()
        .to_json();
    drop(home.index);
    let index = LiveRagIndex::open(&path, crate::world::provider(), options()).unwrap();
    assert_eq!(
        index
            .search_hybrid(&reader, "zero_grad", 5)
            .unwrap()
            .to_json(),
        before
    );
    drop(index);

    let other: Arc<dyn EmbeddingProvider> = Arc::new(Counting::default());
    let error = LiveRagIndex::open(&path, other, options()).unwrap_err();
    assert!(matches!(error, RagError::Store(_)), "{error}");

    let counter = Arc::new(cornu::text::CharCounter::new());
    let chunker = cornu::chunk::SentencePacked::new(counter, Default::default());
    let other_chunks = RagOptions {
        chunker: Arc::new(chunker),
        ..options()
    };
    let error = LiveRagIndex::open(&path, crate::world::provider(), other_chunks).unwrap_err();
    assert!(error.to_string().contains("chunker"), "{error}");
}

#[test]
fn a_folder_is_indexed_and_what_fails_is_reported() {
    let home = Home::new();
    let root = home.folder.path().join("notes");
    std::fs::create_dir_all(root.join("sub")).unwrap();
    std::fs::write(root.join("guide.md"), GUIDE).unwrap();
    std::fs::write(root.join("sub/limits.md"), TABLE).unwrap();
    std::fs::write(root.join("bad.md"), [b'#', 0xff]).unwrap();
    std::fs::write(root.join("empty.md"), "").unwrap();
    let report = home
        .index
        .ingest_tree(&root, |_| Acl::public(), |_| {})
        .unwrap();
    assert_eq!((report.inserted, report.failed.len()), (3, 1));
    assert!(report.failed[0].0.ends_with("bad.md"));
    assert!(matches!(report.failed[0].1, RagError::Tree(_)));
}

#[test]
fn one_document_that_cannot_be_embedded_does_not_stop_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    let index = LiveRagIndex::open(&path, Arc::new(Counting::default()), options()).unwrap();
    let documents = [
        document("a.md", "A good text.", Acl::public()),
        document("b.md", "A POISONED text.", Acl::public()),
        document("c.md", "Another good text.", Acl::public()),
    ];
    let report = index.ingest_all(&documents, |_| {}).unwrap();
    assert_eq!((report.inserted, report.failed.len()), (2, 1));
    assert_eq!(report.failed[0].0, "b.md");
    assert_eq!(index.documents(&Principal::public()).unwrap().len(), 2);
}

#[test]
fn a_document_that_comes_twice_ends_as_it_came_last() {
    let home = Home::holding(&corpus());
    let other = document("guide.md", "# Other\n\nAnother text.\n", grants(["hr"]));
    let again = document("guide.md", GUIDE, Acl::public());
    let report = home.index.ingest_all(&[other, again], |_| {}).unwrap();
    assert_eq!(report.replaced, 2);
    let hits = home
        .index
        .search_sparse(&Principal::public(), "zero_grad", 5)
        .unwrap()
        .hits;
    assert!(!hits.is_empty());
    assert!(home.index.documents(&holder(["hr"])).unwrap().len() == 1);
}

#[test]
fn options_that_no_fusion_takes_are_refused_at_the_door() {
    let folder = tempfile::tempdir().unwrap();
    for (options, word) in [
        (
            RagOptions {
                fusion: cornu::Fusion::Convex {
                    alpha: 1.5,
                    normalisation: Default::default(),
                },
                ..options()
            },
            "alpha",
        ),
        (
            RagOptions {
                depth: 0,
                ..options()
            },
            "depth",
        ),
        (
            RagOptions {
                evidence: 0,
                ..options()
            },
            "evidence",
        ),
    ] {
        let path = folder.path().join("index.db");
        let error = LiveRagIndex::open(path, crate::world::provider(), options).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn private_documents_are_not_sent_to_a_remote_provider() {
    let home = Home::with(RagOptions {
        disclosure: Some(Disclosure::PublicOnly),
        ..options()
    });
    let report = home.index.ingest_all(&corpus(), |_| {}).unwrap();
    assert_eq!((report.inserted, report.failed.len()), (2, 1));
    assert!(matches!(report.failed[0].1, RagError::NotDisclosed { .. }));

    // Public once, private now: it does not stay visible.
    let closed = document("guide.md", GUIDE, grants(["hr"]));
    assert!(matches!(
        home.index.ingest(&closed),
        Err(RagError::NotDisclosed { .. })
    ));
    let names = home.index.documents(&Principal::public()).unwrap();
    assert_eq!(names, [DocId::new("limits.md").unwrap()]);

    // An answer embeds sentences, so it keeps to the same rule.
    let threshold = Threshold::by_hand(0.2, home.index.provider()).unwrap();
    let ask = |grants: &[&str]| {
        let principal = Principal::new(grants).unwrap();
        home.index.answer(&principal, "zero_grad", &threshold)
    };
    assert!(ask(&["public"]).is_ok());
    assert!(matches!(
        ask(&["public", "hr"]),
        Err(RagError::AskerNotPublic)
    ));
    let (both, all) = (
        Principal::new(["public", "hr"]).unwrap(),
        AskOptions::default(),
    );
    let asked = home.index.ask(&both, "zero_grad", &threshold, &all);
    assert!(matches!(asked, Err(RagError::AskerNotPublic)));

    let home = Home::with(RagOptions {
        disclosure: Some(Disclosure::Everything),
        ..options()
    });
    assert_eq!(
        home.index.ingest_all(&corpus(), |_| {}).unwrap().inserted,
        3
    );
}

#[test]
fn a_threshold_knows_its_model_and_its_corpus() {
    let home = Home::holding(&corpus());
    let reader = Principal::public();
    let foreign = Threshold::by_hand(0.2, &Fingerprint::new("another model")).unwrap();
    let error = home
        .index
        .answer(&reader, "zero_grad", &foreign)
        .unwrap_err();
    assert!(matches!(error, RagError::ForeignThreshold { .. }));
    assert!(error.to_string().contains("calibrate"), "{error}");
    let all = AskOptions::default();
    let asked = home.index.ask(&reader, "zero_grad", &foreign, &all);
    assert!(matches!(asked, Err(RagError::ForeignThreshold { .. })));

    let questions = [
        Labelled::new("怎么清空梯度？", true),
        Labelled::new("What does no_grad do for memory?", true),
        Labelled::new("Who won the chess match?", false),
        Labelled::new("Which bridge is the longest?", false),
        Labelled::new("月亮离地球有多远？", false),
    ];
    let fitted = home
        .index
        .calibrate(&reader, "five", &questions, Target::FalseAnswers(0.25))
        .unwrap();
    assert_eq!((fitted.answerable, fitted.unanswerable), (2, 3));
    assert_eq!(fitted.threshold.origin().set, "five");
    assert_eq!(fitted.notes.len(), 2, "{:?}", fitted.notes);
    let json = serde_json::to_string(&fitted.threshold).unwrap();
    let read: Threshold = serde_json::from_str(&json).unwrap();
    assert_eq!(read, fitted.threshold);

    let ask = || home.index.answer(&reader, "怎么清空梯度？", &read).unwrap();
    assert_eq!(ask().corpus_moved, Some(false));
    // What the reader does not see does not count as a move.
    home.index
        .ingest(&document("x.md", "secret", grants(["hr"])))
        .unwrap();
    assert_eq!(ask().corpus_moved, Some(false));
    home.index
        .ingest(&document("y.md", "open", Acl::public()))
        .unwrap();
    let moved = ask();
    assert_eq!(moved.corpus_moved, Some(true));
    assert!(moved.trace.to_string().contains("corpus_moved = true"));
}

#[test]
fn the_trace_tells_why_each_chunk_is_in_or_out() {
    let home = Home::holding(&corpus());
    let reader = Principal::public();
    let response = home
        .index
        .answer(&reader, "怎么清空梯度？", &home.threshold(0.3))
        .unwrap();
    let trace = response.trace.to_string();
    for part in [
        "dense_rank = 1",
        "sparse_rank = 1",
        "dense_share = ",
        "verdict = \"in\"",
        "verdict = \"out: below the threshold\"",
        "statement: ",
    ] {
        assert!(trace.contains(part), "{part} is not in\n{trace}");
    }
    let why = home
        .index
        .explain(&reader, "zero_grad", 3)
        .unwrap()
        .to_string();
    assert!(
        why.contains("zero_grad: 1 × in the chunk, in 1 of"),
        "{why}"
    );
    let refused = home
        .index
        .answer(&reader, "怎么清空梯度？", &home.threshold(0.99))
        .unwrap();
    assert!(matches!(
        refused.outcome.refusal().unwrap().reason,
        Reason::BelowThreshold { .. }
    ));
    assert!(
        refused
            .trace
            .to_string()
            .ends_with("refuse: reason = \"below threshold\"\n")
    );
}

/// The hash provider under another name, which counts, and refuses a word.
pub(crate) struct Counting {
    inner: HashEmbeddingProvider,
    fingerprint: Fingerprint,
    texts: std::sync::atomic::AtomicUsize,
}

impl Default for Counting {
    fn default() -> Self {
        Self {
            inner: HashEmbeddingProvider::new(64).unwrap(),
            fingerprint: Fingerprint::new("counting"),
            texts: 0.into(),
        }
    }
}

impl Counting {
    pub(crate) fn texts(&self) -> usize {
        self.texts.load(std::sync::atomic::Ordering::SeqCst)
    }
}

impl EmbeddingProvider for Counting {
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
    fn embed_counted(&self, texts: &[&str]) -> Result<Embeddings, ProviderError> {
        if texts.iter().any(|text| text.contains("POISONED")) {
            return Err(ProviderError::Unavailable {
                provider: "the test".to_owned(),
                reason: "poison".to_owned(),
                remedy: "none".to_owned(),
            });
        }
        self.texts
            .fetch_add(texts.len(), std::sync::atomic::Ordering::SeqCst);
        self.inner.embed_counted(texts)
    }
    fn embed_query(&self, text: &str) -> Result<Array1<f32>, ProviderError> {
        self.inner.embed_query(text)
    }
}
