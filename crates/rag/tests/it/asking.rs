//! Answer, tables and runs of one state, and of what the asker sees alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use cornu::chunk::{TableRows, TableRowsOptions};
use cornu::core::{Embeddings, ProviderError};
use cornu::segment::Relevance;
use cornu::text::WordCounter;
use cornu::{
    Acl, AskOptions, Asked, DocId, Document, EmbeddingProvider, Fingerprint, LiveRagIndex, Preset,
    Principal, RagOptions, SegmentOptions, Threshold,
};
use ndarray::Array1;

use crate::suite::pairs;
use crate::world::{Home, Scenario, Write, document, grants, holder, options, provider};

const PUMPS: &str = "# Pumps\n\nThe pressure of each model was measured in May.\n\n\
    | Model | Pressure (MPa) |\n|---|---|\n| P-1 | 3.5 |\n| P-2 | 12 |\n| P-3 | 4-5 |\n";

fn by_rows() -> RagOptions {
    let chunker = TableRows::new(Arc::new(WordCounter::new()), TableRowsOptions::default());
    RagOptions {
        chunker: Arc::new(chunker),
        ..options()
    }
}

fn with_runs() -> AskOptions {
    AskOptions {
        segments: Some(SegmentOptions {
            relevance: Relevance::around(0.1),
            minimum_value: 0.05,
            ..SegmentOptions::preset(Preset::FindAll)
        }),
        ..AskOptions::default()
    }
}

fn ask(home: &Home, who: &Principal, question: &str, value: f64) -> Asked {
    let threshold = home.threshold(value);
    let asked = home.index.ask(who, question, &threshold, &with_runs());
    asked.unwrap()
}

/// The parts are those of the methods that give them alone.
#[test]
fn what_is_asked_at_once_is_what_is_asked_by_parts() {
    let home = Home::with(by_rows());
    home.index
        .ingest(&document("pumps.md", PUMPS, Acl::public()))
        .unwrap();
    let reader = Principal::public();
    let question = "Which model has the highest pressure?";
    let asked = ask(&home, &reader, question, -1.0);
    let threshold = home.threshold(-1.0);
    let alone = home.index.answer(&reader, question, &threshold).unwrap();
    assert_eq!(asked.response.outcome, alone.outcome);
    let tables = home.index.ask_tables(&reader, question).unwrap();
    assert_eq!((asked.tables.len(), &asked.tables), (1, &tables));
    let runs = with_runs().segments.unwrap();
    let runs = home.index.segments(&reader, &[question], &runs).unwrap();
    assert!(!runs.runs.is_empty());
    assert_eq!(asked.segments, Some(runs));
    // Its trace goes on where that of the answer ends, and there only.
    let (longer, shorter) = (asked.response.trace.to_string(), alone.trace.to_string());
    let more = longer.strip_prefix(shorter.as_str()).expect("a prefix");
    assert!(more.contains("answer = \"P-2: 12 MPa\""), "{more}");
    assert!(more.contains("line 8, row 2, column 2: 12"), "{more}");
    let explained = home.index.explain(&reader, question, 1).unwrap();
    assert!(explained.to_string().ends_with(more.trim_start()), "{more}");

    let no_tables = AskOptions {
        route: cornu::AnswerRoute::Hybrid,
        tables: false,
        segments: None,
    };
    let asked = home.index.ask(&reader, question, &threshold, &no_tables);
    assert_eq!(asked.unwrap().response, alone);
}

/// A refusal stays one, and the table still answers; what no table understands, none answers.
#[test]
fn tables_have_no_part_in_the_decision() {
    let home = Home::with(by_rows());
    home.index
        .ingest(&document("pumps.md", PUMPS, Acl::public()))
        .unwrap();
    let reader = Principal::public();
    let asked = ask(&home, &reader, "What is the pressure of P-1?", 0.999);
    assert!(asked.response.outcome.refusal().is_some() && asked.is_answered());
    assert_eq!(asked.tables[0].answer.value, "3.5 MPa");
    assert_eq!(asked.segments, None);
    let json: serde_json::Value = serde_json::from_str(&asked.to_json()).unwrap();
    let table = &json["tables"][0];
    assert_eq!(table["operation"], "lookup");
    let cell = &table["cells"][0];
    assert_eq!(
        (&cell["row"], &cell["column"]),
        (&serde_json::json!(1), &serde_json::json!(2))
    );
    let span = &asked.tables[0].citations[0];
    assert!(span.resolves_in(PUMPS));
    assert_eq!(cell["citation"]["quote"], span.quote);

    for silent in [
        "What is the colour of P-1?",
        "What is the pressure of P-9?",
        "Why is the pressure of P-1 so low?",
    ] {
        let asked = ask(&home, &reader, silent, 0.999);
        assert!(!asked.is_answered(), "{silent}");
        assert!(!asked.to_json().contains("\"tables\""));
    }
}

/// A provider that removes the document when a question is embedded for the second time.
struct Meddler {
    inner: Arc<dyn EmbeddingProvider>,
    questions: AtomicUsize,
    other: OnceLock<LiveRagIndex>,
}

impl EmbeddingProvider for Meddler {
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }
    fn fingerprint(&self) -> &Fingerprint {
        self.inner.fingerprint()
    }
    fn embed_counted(&self, texts: &[&str]) -> Result<Embeddings, ProviderError> {
        self.inner.embed_counted(texts)
    }
    fn embed_query(&self, text: &str) -> Result<Array1<f32>, ProviderError> {
        if self.questions.fetch_add(1, Ordering::SeqCst) == 1
            && let Some(other) = self.other.get()
        {
            let doc = DocId::new("pumps.md").unwrap();
            assert!(other.remove(&doc).unwrap());
        }
        self.inner.embed_query(text)
    }
}

/// While a question is answered, somebody removes the document: the runs are still those of the
/// answer's state.
#[test]
fn answer_tables_and_runs_are_of_one_state() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    let meddler = Arc::new(Meddler {
        inner: provider(),
        questions: AtomicUsize::new(0),
        other: OnceLock::new(),
    });
    let index = LiveRagIndex::open(&path, meddler.clone(), by_rows()).unwrap();
    index
        .ingest(&document("pumps.md", PUMPS, Acl::public()))
        .unwrap();
    let other = LiveRagIndex::open(&path, provider(), by_rows()).unwrap();
    assert!(meddler.other.set(other).is_ok());
    let reader = Principal::public();
    let question = "Which model has the highest pressure?";
    let threshold = Threshold::by_hand(-1.0, index.provider()).unwrap();
    let asked = index.ask(&reader, question, &threshold, &with_runs());
    let asked = asked.unwrap();
    assert_eq!(meddler.questions.load(Ordering::SeqCst), 2, "it meddled");
    assert!(index.documents(&reader).unwrap().is_empty());
    assert_eq!(asked.tables[0].answer.to_string(), "P-2: 12 MPa");
    assert!(!asked.segments.expect("runs").runs.is_empty());
}

const QUESTIONS: [&str; 4] = [
    "Which model has the highest pressure?",
    "What is the pressure of P-2?",
    "What is the total pressure?",
    "How many models have a pressure above 20 MPa?",
];

/// The document with a table behind it whose rows and numbers are those of its name, text and
/// grants, so that twins differ.
fn with_table(plain: &Document) -> Document {
    let acl: Vec<&str> = plain.acl().grants().map(cornu::Grant::as_str).collect();
    let bytes = plain.id().as_str().bytes().chain(plain.source().bytes());
    let bytes = bytes.chain(acl.join(",").into_bytes());
    let mut state = bytes.fold(7_u32, |state, byte| {
        state.wrapping_mul(31).wrapping_add(u32::from(byte))
    });
    let mut source = format!(
        "{}\n\n# Limits\n\n| Model | Pressure (MPa) |\n|---|---|\n",
        plain.source()
    );
    for model in 1..=5 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if !(state >> 8).is_multiple_of(4) {
            source.push_str(&format!("| P-{model} | {} |\n", (state >> 16) % 40));
        }
    }
    Document::new(plain.id().clone(), source, plain.acl().clone())
}

/// A scenario of the suite with tables: the index after all its writes, that of what the asker
/// sees, and all documents that are there.
struct Tables {
    whole: Home,
    visible: Home,
    all: BTreeMap<DocId, Document>,
}

impl Tables {
    fn of(scenario: &Scenario) -> Self {
        let whole = Home::with(by_rows());
        let mut all = BTreeMap::new();
        for write in &scenario.writes {
            match write {
                Write::Ingest(document) => {
                    let document = with_table(document);
                    whole.index.ingest(&document).unwrap();
                    all.insert(document.id().clone(), document);
                }
                Write::Remove(id) => {
                    whole.index.remove(id).unwrap();
                    all.remove(id);
                }
            }
        }
        let visible = Home::with(by_rows());
        let seen = all
            .values()
            .filter(|document| document.acl().admits(&scenario.principal));
        let seen: Vec<Document> = seen.cloned().collect();
        let report = visible.index.ingest_all(&seen, |_| {}).unwrap();
        assert!(report.failed.is_empty(), "{report:?}");
        Self {
            whole,
            visible,
            all,
        }
    }

    fn owner(&self) -> Principal {
        self.all
            .values()
            .flat_map(|document| document.acl().grants().cloned())
            .collect()
    }
}

/// All that an asker gets to read of tables.
fn everything(home: &Home, who: &Principal, question: &str) -> String {
    let tables = home.index.ask_tables(who, question).unwrap();
    let explained = home.index.explain(who, question, 3).unwrap();
    let asked = [-1.0, 0.99].map(|value| {
        let asked = ask(home, who, question, value);
        asked.to_json() + &asked.response.trace.to_string()
    });
    format!("{tables:?}{explained}{}", asked.concat())
}

/// Tables that are found because of their place among *all* results.
fn among_all(tables: &Tables, home: &Home, who: &Principal, question: &str) -> BTreeSet<DocId> {
    let owner = tables.owner();
    let found = home.index.search_hybrid(&owner, question, 20).unwrap();
    let docs = found.hits.into_iter().map(|hit| hit.chunk.doc.clone());
    let seen = |doc: &DocId| tables.all[doc].acl().admits(who);
    docs.filter(seen).collect()
}

#[test]
fn hidden_tables_have_no_part_in_what_is_asked() {
    let (mut answers, mut differ, mut caught) = (0, 0, 0);
    for (at, pair) in pairs().iter().enumerate() {
        let scenario = &pair.scenario;
        let who = &scenario.principal;
        let tables = Tables::of(scenario);
        for question in QUESTIONS.into_iter().skip(at % 2 * 2).take(2) {
            let whole = everything(&tables.whole, who, question);
            let visible = everything(&tables.visible, who, question);
            assert_eq!(whole, visible, "{question}\n{scenario:#?}");
            answers += usize::from(whole.contains("\"tables\""));
            let asked = |who| tables.whole.index.ask_tables(who, question).unwrap();
            differ += usize::from(asked(who) != asked(&tables.owner()));
            let leak = |home| among_all(&tables, home, who, question);
            caught += usize::from(leak(&tables.whole) != leak(&tables.visible));
        }
    }
    let asked = pairs().len() * 2;
    assert!(answers * 3 > asked, "{answers} of {asked} have an answer");
    assert!(differ * 3 > asked, "{differ} of {asked} hide something");
    assert!(caught > 0, "the suite did not notice a leak");
}

/// Who gains a grant gains its tables.
#[test]
fn who_sees_more_tables_gets_more_answers() {
    let home = Home::with(by_rows());
    let secret = PUMPS.replace("| 12 |", "| 99 |");
    for (name, source, acl) in [
        ("pumps.md", PUMPS, Acl::public()),
        ("a.md", &secret, grants(["hr"])),
    ] {
        home.index.ingest(&document(name, source, acl)).unwrap();
    }
    let ask = |who: &Principal| ask(&home, who, QUESTIONS[0], 0.99).tables;
    assert_eq!(ask(&Principal::public()).len(), 1);
    assert_eq!(ask(&holder(["hr", "public"])).len(), 2);
    assert!(ask(&holder([])).is_empty());
}
