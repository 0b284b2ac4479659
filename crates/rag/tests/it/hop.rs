//! The route over names and facts, from files to a bridge that no similarity finds.

use std::collections::BTreeMap;
use std::sync::Arc;

use cornu::chunk::{TableRows, TableRowsOptions};
use cornu::core::testing::proptest::prelude::*;
use cornu::core::{Extraction, Extractor, ProviderError};
use cornu::extract::RuleExtractor;
use cornu::text::WordCounter;
use cornu::{
    Acl, Disclosure, DocId, Document, Fingerprint, Found, HashEmbeddingProvider, LiveRagIndex,
    Outcome, Principal, RagError, RagOptions, Reason,
};
use parking_lot::Mutex;

use crate::world::{Home, cases, document, grants, holder, options, provider};

const QUESTION: &str = "Alpha 资本的最终实控人是否涉足对 Gamma 科技的投资与跨境制裁名单？";
const CHAIN: [(&str, &str); 3] = [
    (
        "a.md",
        "Alpha 资本由开曼注册的 Cayman 星辰基金全资控股，主要布局亚太半导体硬科技基础设施。",
    ),
    (
        "b.md",
        "Cayman 星辰基金的最大受益人为实控人张某设立的 Horizon 家族信托，管理资产规模超十亿美元。",
    ),
    (
        "c.md",
        "Horizon 家族信托持有 Gamma 科技 65% 的控股股权。此外，其委托人张某已被列入近期跨境制裁名单。",
    ),
];

/// The three documents among 200 of the same trade, in which other funds hold other companies.
fn audit() -> Vec<Document> {
    let chain = CHAIN.map(|(name, text)| document(name, text, Acl::public()));
    let others = (0..200_u32).map(|at| {
        let (one, two) = (at % 25, (at * 7 + 3) % 40);
        let text = match at % 4 {
            0 => format!("Orion{one} 资本由开曼注册的 Vega{two} 基金控股，布局东南亚物流设施。"),
            1 => format!("Vega{two} 基金的受益人为 Lyra{one} 家族信托，管理资产超过五亿美元。"),
            2 => format!("Lyra{one} 家族信托持有 Draco{two} 科技 51% 的股权，投资金额 2 亿元。"),
            _ => format!("Draco{two} 科技的实控人被列入制裁名单，跨境投资已中止。"),
        };
        document(&format!("d{at:03}.md"), &text, Acl::public())
    });
    chain.into_iter().chain(others).collect()
}

fn reading() -> RagOptions {
    with(Arc::new(RuleExtractor::new()))
}

fn with(extractor: Arc<dyn Extractor>) -> RagOptions {
    RagOptions {
        extractor: Some(extractor),
        ..options()
    }
}

/// An index of the chain and the others, with vectors in which few words collide.
fn home(documents: &[Document], options: RagOptions) -> Home {
    let home = Home::of(Arc::new(HashEmbeddingProvider::default()), options);
    let report = home.index.ingest_all(documents, |_| {}).unwrap();
    assert!(report.failed.is_empty(), "{report:?}");
    home
}

fn names(found: &Found) -> Vec<&str> {
    let hits = found.hits.iter();
    hits.map(|hit| hit.chunk.doc.as_str()).collect()
}

/// The audit: who stands behind a company, where no document says it.
#[test]
fn hop_finds_the_bridge_that_similarity_loses() {
    let home = home(&audit(), reading());
    let reader = Principal::public();
    let dense = home.index.search_dense(&reader, QUESTION, 3).unwrap();
    assert!(!names(&dense).contains(&"b.md"), "{:?}", names(&dense));

    let found = home.index.search_hop(&reader, QUESTION, 3).unwrap();
    let mut first = names(&found);
    first.sort_unstable();
    assert_eq!(first, ["a.md", "b.md", "c.md"], "{}", found.trace);

    // It says how: from a name of the question, over a name that two documents share.
    let trace = found.trace.to_string();
    let bridge = trace
        .lines()
        .find(|line| line.contains("\"b.md, line 1\""))
        .unwrap();
    assert!(
        bridge.contains("from the name Gamma 科技: [c.md, line 1] → Horizon 家族信托"),
        "{bridge}"
    );
    // Scores are probabilities.
    let sum: f64 = home
        .index
        .search_hop(&reader, QUESTION, 1000)
        .unwrap()
        .hits
        .iter()
        .map(|hit| hit.score)
        .sum();
    assert!(sum > 0.0 && sum <= 1.0 + 1e-9, "{sum}");
}

/// Hidden, the bridge has no part: as if it were not there.
#[test]
fn a_hidden_bridge_carries_nobody() {
    let mut documents = audit();
    documents[1] = document("b.md", CHAIN[1].1, grants(["audit"]));
    let whole = home(&documents, reading());
    documents.remove(1);
    let without = home(&documents, reading());
    let ask = |home: &Home, principal: &Principal| {
        let found = home.index.search_hop(principal, QUESTION, 9).unwrap();
        found.to_json()
    };
    let reader = Principal::public();
    assert_eq!(ask(&whole, &reader), ask(&without, &reader));
    // Whoever may see it gets it, before and after others have asked.
    let auditor = holder(["audit", "public"]);
    assert!(ask(&whole, &auditor).contains("b.md"));
    assert_eq!(ask(&whole, &reader), ask(&without, &reader));
}

/// Texts about few names, some under a title that the others may name.
const ABOUT: [&str; 7] = [
    "# Elm House\n\nElm House was founded by Ada Stone.",
    "# Ada Stone (painter)\n\nAda Stone met Dara Lund in Elm House.",
    "# Dara Lund\n\nDara Lund directed Fen Trust.",
    "Fen Trust is the owner of Elm House. Holt is in Leeds.",
    "# Fen Trust\n\nDara Lund is the owner of Holt.",
    "# Holt\n\nAda Stone lived in Holt.",
    "nothing is named here",
];

/// Who reads a document when it is written: nobody, or one of two extractors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    Nobody,
    Rules,
    Other,
}

/// What is done to an index between two questions.
#[derive(Clone, Debug)]
enum Act {
    /// A document is written, with a text and for everybody or not.
    Write(usize, usize, bool, Reader),
    Remove(usize),
    /// What an extractor has not read is read.
    Complete(Reader),
}

fn act() -> impl Strategy<Value = Act> {
    let reader = || prop::sample::select(&[Reader::Nobody, Reader::Rules, Reader::Other][..]);
    let at = 0..5_usize;
    prop_oneof![
        6 => (at.clone(), 0..ABOUT.len(), any::<bool>(), reader())
            .prop_map(|(at, text, is_open, by)| Act::Write(at, text, is_open, by)),
        2 => at.prop_map(Act::Remove),
        4 => reader().prop_map(Act::Complete),
    ]
}

/// One index, opened without an extractor and with each of two.
struct Opened {
    plain: Home,
    rules: LiveRagIndex,
    other: LiveRagIndex,
}

impl Opened {
    fn new() -> Self {
        let plain = Home::with(options());
        let open = |options| {
            let path = plain.folder.path().join("index.db");
            LiveRagIndex::open(path, provider(), options).unwrap()
        };
        Self {
            rules: open(reading()),
            other: open(with(Watched::new())),
            plain,
        }
    }

    fn by(&self, reader: Reader) -> &LiveRagIndex {
        match reader {
            Reader::Nobody => &self.plain.index,
            Reader::Rules => &self.rules,
            Reader::Other => &self.other,
        }
    }

    fn ask(&self, asker: &Principal) -> Result<(String, String), String> {
        let question = "Who directed Fen Trust, met by Ada Stone of Elm House?";
        let found = self.rules.search_hop(asker, question, 9);
        let found = found.map_err(|error| error.to_string())?;
        Ok((found.to_json(), found.trace.to_string()))
    }
}

proptest! {
    #![proptest_config(cases(12))]

    /// Graphs that are brought up to date are those of an index that holds what is seen, and never
    /// held anything else: every byte of what is found, and of why. Texts change, grants do, and
    /// what was read from a document that stays.
    #[test]
    fn asked_between_any_writes(
        acts in prop::collection::vec(act(), 1..10),
        asked in prop::collection::vec(any::<[bool; 2]>(), 10),
    ) {
        let grown = Opened::new();
        let mut all: BTreeMap<usize, (Document, Reader)> = BTreeMap::new();
        let name = |at: usize| format!("{at}.md");
        for (act, asked) in acts.into_iter().zip(asked) {
            match act {
                Act::Write(at, text, is_open, by) => {
                    let acl = if is_open { Acl::public() } else { grants(["hr"]) };
                    let document = document(&name(at), ABOUT[text], acl);
                    grown.by(by).ingest(&document).unwrap();
                    // One that is there as it is stays as it was read.
                    if all.get(&at).is_none_or(|(before, _)| *before != document) {
                        all.insert(at, (document, by));
                    }
                }
                Act::Remove(at) => {
                    let id = DocId::new(name(at).as_str()).unwrap();
                    grown.plain.index.remove(&id).unwrap();
                    all.remove(&at);
                }
                Act::Complete(Reader::Nobody) => {}
                Act::Complete(by) => {
                    grown.by(by).complete_extractions(|_| {}).unwrap();
                    all.values_mut().for_each(|(_, read_by)| *read_by = by);
                }
            }
            let askers = [Principal::public(), holder(["hr", "public"])];
            for (asker, _) in askers.iter().zip(asked).filter(|(_, asked)| *asked) {
                let fresh = Opened::new();
                for (document, by) in all.values() {
                    if document.acl().admits(asker) {
                        fresh.by(*by).ingest(document).unwrap();
                    }
                }
                prop_assert_eq!(grown.ask(asker), fresh.ask(asker));
            }
        }
    }
}

/// Every change of the documents is a change of the walk, and leaves nothing behind.
#[test]
fn what_is_written_and_removed_is_walked_over_at_once() {
    let home = home(&audit(), reading());
    let reader = Principal::public();
    let ask = || home.index.search_hop(&reader, QUESTION, 3).unwrap();
    let before = ask().to_json();
    assert!(home.index.remove(&DocId::new("b.md").unwrap()).unwrap());
    assert!(!names(&ask()).contains(&"b.md"));
    let changed = document("b.md", "Some fund has some holder.", Acl::public());
    home.index.ingest(&changed).unwrap();
    assert!(!names(&ask()).contains(&"b.md"));
    let again = document("b.md", CHAIN[1].1, Acl::public());
    home.index.ingest(&again).unwrap();
    assert_eq!(ask().to_json(), before);
    assert_eq!(cornu::upkeep::doctor(home.index.store()).unwrap(), []);
}

/// Read later, an index is as one that was read from the start.
#[test]
fn extractions_can_come_later() {
    let fresh = home(&audit(), reading());
    let late = home(&audit(), options());
    let path = late.folder.path().join("index.db");
    let provider = Arc::new(HashEmbeddingProvider::default());
    let reader = Principal::public();

    let error = late.index.search_hop(&reader, QUESTION, 3).unwrap_err();
    assert!(matches!(error, RagError::Options { .. }), "{error}");
    assert!(late.index.complete_extractions(|_| {}).is_err());

    let index = LiveRagIndex::open(path, provider, reading()).unwrap();
    let error = index.search_hop(&reader, QUESTION, 3).unwrap_err();
    assert!(matches!(error, RagError::NoExtractions { .. }), "{error}");
    assert!(
        error.to_string().contains("complete_extractions"),
        "{error}"
    );
    // Who sees nothing is told nothing.
    let nobody = holder(["nobody"]);
    assert_eq!(index.search_hop(&nobody, QUESTION, 3).unwrap().hits, []);

    let mut steps = Vec::new();
    assert_eq!(
        index.complete_extractions(|at| steps.push(at)).unwrap(),
        203
    );
    assert_eq!(steps, [64, 128, 192, 203]);
    assert_eq!(index.complete_extractions(|_| {}).unwrap(), 0);
    let json = |index: &LiveRagIndex| index.search_hop(&reader, QUESTION, 9).unwrap().to_json();
    assert_eq!(json(&index), json(&fresh.index));
    let stats = index.store().extraction_stats().unwrap();
    assert_eq!(stats, fresh.index.store().extraction_stats().unwrap());
    assert_eq!(stats.chunks, 203);

    // A document that was read by nobody is counted, and is found by the titles of others alone.
    let unread = "Horizon 家族信托持有 Epsilon 科技 51% 的股权。";
    let unread = document("e.md", unread, Acl::public());
    late.index.ingest(&unread).unwrap();
    let trace = index.search_hop(&reader, QUESTION, 3).unwrap().trace;
    assert!(trace.to_string().contains("unread = 1"), "{trace}");
    // Read now, it is another graph of the same view.
    assert_eq!(index.complete_extractions(|_| {}).unwrap(), 1);
    let trace = index.search_hop(&reader, QUESTION, 3).unwrap().trace;
    assert!(trace.to_string().contains("unread = 0"), "{trace}");
    fresh.index.ingest(&unread).unwrap();
    assert_eq!(json(&index), json(&fresh.index));
}

/// The title of a document is what its chunks are about, also those far below it.
#[test]
fn a_documents_title_stands_for_its_pronouns() {
    let film = "# Billy Elliot\n\n## Plot\n\nA boy dances.\n\n## Crew\n\nIt was scored by Stephen Warbeck.\n";
    let documents = [
        document("film.md", film, Acl::public()),
        document(
            "warbeck.md",
            "# Stephen Warbeck\n\nStephen Warbeck was born in Southampton.\n",
            Acl::public(),
        ),
        document("other.md", "# Boats\n\nBoats float.\n", Acl::public()),
    ];
    let home = home(&documents, reading());
    let question = "Where was the composer that scored Billy Elliot born?";
    let found = home
        .index
        .search_hop(&Principal::public(), question, 3)
        .unwrap();
    assert!(names(&found).contains(&"warbeck.md"), "{}", found.trace);
    let trace = found.trace.to_string();
    assert!(
        trace.contains("Billy Elliot was scored by Stephen Warbeck"),
        "{trace}"
    );
}

#[test]
fn an_answer_is_made_of_the_chunks_of_the_walk_and_judged_as_ever() {
    let home = home(&audit(), reading());
    let reader = Principal::public();
    let low = home.threshold(-1.0);
    let response = home.index.answer_hop(&reader, QUESTION, &low).unwrap();
    let Outcome::Answered(answer) = &response.outcome else {
        panic!("{}", response.trace);
    };
    let first = &answer.statements[0].citation;
    assert!(["a.md", "b.md", "c.md"].contains(&first.doc.as_str()));
    let trace = response.trace.to_string();
    assert!(trace.contains("hop: k = 6"), "{trace}");
    assert!(trace.contains("Cayman 星辰基金"), "{trace}");
    // The similarity decides as it does without a walk.
    let high = home.threshold(0.99);
    let response = home.index.answer_hop(&reader, QUESTION, &high).unwrap();
    let refusal = response.outcome.refusal().unwrap();
    assert!(matches!(refusal.reason, Reason::BelowThreshold { .. }));
}

/// An extractor that notes what it is sent, as one behind a server would get it.
struct Watched {
    fingerprint: Fingerprint,
    sent: Mutex<Vec<String>>,
    rules: RuleExtractor,
}

impl Watched {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            fingerprint: Fingerprint::new("watched"),
            sent: Mutex::default(),
            rules: RuleExtractor::new(),
        })
    }
}

impl Extractor for Watched {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn extract(&self, texts: &[&str]) -> Result<Vec<Extraction>, ProviderError> {
        if texts.iter().any(|text| text.contains("unreadable")) {
            return Err(ProviderError::Unavailable {
                provider: "watched".to_owned(),
                reason: "it does not read this".to_owned(),
                remedy: "leave it out".to_owned(),
            });
        }
        let sent = texts.iter().map(|text| (*text).to_owned());
        self.sent.lock().extend(sent);
        self.rules.extract(texts)
    }
}

#[test]
fn an_extractor_is_sent_what_may_be_disclosed() {
    let (open, closed) = (
        document("open.md", "Rome is in Italy.", Acl::public()),
        document("closed.md", "The salary of Ann is secret.", grants(["hr"])),
    );
    // Indexed by an index that sends nothing anywhere.
    let local = Home::with(options());
    for document in [&open, &closed] {
        local.index.ingest(document).unwrap();
    }
    let extractor = Watched::new();
    let public_only = || RagOptions {
        disclosure: Some(Disclosure::PublicOnly),
        ..with(Arc::clone(&extractor) as Arc<dyn Extractor>)
    };
    let path = local.folder.path().join("index.db");
    let index = LiveRagIndex::open(path, provider(), public_only()).unwrap();
    assert_eq!(index.complete_extractions(|_| {}).unwrap(), 1);
    assert_eq!(*extractor.sent.lock(), ["Rome is in Italy."]);

    let fresh = Home::with(public_only());
    let report = fresh.index.ingest_all(&[open, closed], |_| {}).unwrap();
    let failed = report.failed.iter().map(|(name, error)| {
        let undisclosed = matches!(error, RagError::NotDisclosed { .. });
        (name.as_str(), undisclosed)
    });
    assert_eq!(failed.collect::<Vec<_>>(), [("closed.md", true)]);
    let sent = extractor.sent.lock();
    assert!(sent.iter().all(|text| !text.contains("salary")), "{sent:?}");
}

/// What a column says its rows say: told twice, it would count twice.
#[test]
fn nothing_is_read_of_a_column() {
    let (rows, columns) = (Watched::new(), Watched::new());
    let ships = "# Fleet\n\n| Ship | Port |\n|---|---|\n| Aster | Corrin |\n| Bryony | Skerry |\n";
    for (extractor, wide) in [(&rows, None), (&columns, Some(2))] {
        let tables = TableRowsOptions {
            wide,
            ..TableRowsOptions::default()
        };
        let home = Home::with(RagOptions {
            chunker: Arc::new(TableRows::new(Arc::new(WordCounter::new()), tables)),
            ..with(Arc::clone(extractor) as Arc<dyn Extractor>)
        });
        let fleet = document("fleet.md", ships, Acl::public());
        home.index.ingest(&fleet).unwrap();
        // The rows of extractions are still those of the chunks, one each.
        let stats = home.index.store().extraction_stats().unwrap();
        assert_eq!(stats.chunks, wide.map_or(2, |columns| 2 + columns as u64));
        assert_eq!(home.index.complete_extractions(|_| {}).unwrap(), 0);
    }
    assert_eq!(*columns.sent.lock(), *rows.sent.lock());
    assert_eq!(rows.sent.lock().len(), 2);
}

#[test]
fn a_document_that_is_not_read_fails_alone() {
    let home = Home::with(with(Watched::new()));
    let documents = ["Rome is old.", "An unreadable page.", "Oslo is cold."]
        .iter()
        .enumerate()
        .map(|(at, text)| document(&format!("{at}.md"), text, Acl::public()));
    let documents: Vec<Document> = documents.collect();
    let report = home.index.ingest_all(&documents, |_| {}).unwrap();
    assert_eq!((report.inserted, report.failed.len()), (2, 1));
    assert_eq!(report.failed[0].0, "1.md");
    let seen = home.index.documents(&Principal::public()).unwrap();
    let seen: Vec<&str> = seen.iter().map(DocId::as_str).collect();
    assert_eq!(seen, ["0.md", "2.md"]);
    assert_eq!(home.index.store().extraction_stats().unwrap().chunks, 2);
}
