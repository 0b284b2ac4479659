//! Segments and headers through the index.

use std::sync::Arc;

use cornu::chunk::{SentencePacked, SentencePackedOptions, TableRows, TableRowsOptions, Window};
use cornu::core::Summariser;
use cornu::remote::testing::{Reply, Server};
use cornu::remote::{Client, Endpoint, Policy};
use cornu::segment::{
    AutoContext, AutoContextOptions, CachedSummariser, ExtractiveSummariser, MemoryStore, Mode,
    Relevance, documents_of,
};
use cornu::text::WordCounter;
use cornu::{
    Acl, ChatSummariser, ContextualChunker, Document, Preset, Principal, RagError, RagOptions,
    SegmentOptions,
};
use serde_json::json;

use crate::suite::{Route, caught, pairs};
use crate::world::{Home, World, document, grants, holder, options};

const PUMP: &str = "# Pump\n\n## Start\n\nOpen the valve of the pump slowly.\n\n## Wait\n\nCount to ten.\n\n\
    ## Check\n\nRead the pressure behind the valve of the pump.\n\n## Paint\n\nThe colour is free.\n";

fn settings(mode: Mode, preset: Preset) -> SegmentOptions {
    SegmentOptions {
        mode,
        relevance: Relevance::around(0.2),
        ..SegmentOptions::preset(preset)
    }
}

/// Every mode and preset, one question and two, as text and as JSON.
fn segments(world: &World, principal: &Principal, question: &str) -> String {
    let mut out = String::new();
    for mode in [Mode::Paper, Mode::Clean] {
        for preset in [Preset::Balanced, Preset::Precision, Preset::FindAll] {
            let options = SegmentOptions {
                minimum_value: 0.1,
                documents: 2,
                ..settings(mode, preset)
            };
            for questions in [&[question][..], &[question, "gradient zero"]] {
                let found = world.home.index.segments(principal, questions, &options);
                let found = found.unwrap();
                out += &format!("{}{}", found.to_json(), found.trace);
            }
        }
    }
    out
}

#[test]
fn hidden_documents_have_no_part_in_segments() {
    let mut runs = 0;
    for pair in pairs() {
        if let Some((whole, visible)) = pair.interferes(&segments) {
            panic!("whole: {whole}\nvisible: {visible}\n{:#?}", pair.scenario);
        }
        let world = World::of(&pair.scenario.writes, &pair.scenario.question);
        let found = segments(&world, &pair.scenario.principal, &pair.scenario.question);
        runs += usize::from(found.contains("\nrun: "));
    }
    assert!(runs * 4 > pairs().len(), "{runs} scenarios have a run");
}

/// A document is looked at because of its place among *all* results: a hidden one before it pushes
/// it out.
#[test]
fn documents_chosen_among_all_results_are_caught() {
    let leak = |world: &World, principal: &Principal, question: &str| {
        let owner = world.owner();
        let found = world.home.index.search_hybrid(&owner, question, 200);
        let hits = found.unwrap().hits;
        let docs: Vec<_> = hits.iter().map(|hit| &hit.chunk.doc).collect();
        let chosen = documents_of(&[&docs], 2);
        let visible = chosen
            .into_iter()
            .filter(|doc| world.all[*doc].acl().admits(principal));
        format!("{:?}", visible.collect::<Vec<_>>())
    };
    let route: &dyn Route = &leak;
    assert!(caught(route) > 0, "the suite did not notice");
}

/// Rows of two tables with a heading between them that is in no chunk, in a file of either line end.
#[test]
fn a_run_over_tables_reads_as_its_source() {
    let tables = "# Pumps\n\n## Small\n\n| Pump | Valve |\n|---|---|\n| P-1 | 3 |\n| P-2 | 5 |\n\n\
        ## Large\n\n| Pump | Valve |\n|---|---|\n| P-7 | 30 |\n| P-8 | 50 |\n";
    for ends in ["\n", "\r\n"] {
        let source = tables.replace('\n', ends);
        let chunker = TableRows::new(Arc::new(WordCounter::new()), TableRowsOptions::default());
        let home = Home::with(RagOptions {
            chunker: Arc::new(chunker),
            ..options()
        });
        home.index
            .ingest(&document("pumps.md", &source, Acl::public()))
            .unwrap();
        let options = SegmentOptions {
            relevance: Relevance::Constant(0.9),
            ..SegmentOptions::preset(Preset::FindAll)
        };
        let found = home
            .index
            .segments(&Principal::public(), &["pump valve"], &options)
            .unwrap();
        let [run] = found.runs.as_slice() else {
            panic!("{}", found.trace);
        };
        let read = source[run.span.range()].replace("## Large", "Large");
        assert_eq!(run.text, read);
        assert!(read.contains("P-1") && read.contains("P-8"), "{read}");
    }
}

#[test]
fn a_run_bridges_what_stands_between() {
    let home = Home::wide();
    home.index
        .ingest(&document("pump.md", PUMP, Acl::public()))
        .unwrap();
    let question = "valve of the pump";
    let find = |options: &SegmentOptions| {
        let options = &SegmentOptions {
            relevance: Relevance::Linear {
                zero: 0.25,
                one: 0.6,
            },
            ..options.clone()
        };
        let found = home
            .index
            .segments(&Principal::public(), &[question], options);
        found.unwrap()
    };
    let bridged = find(&settings(Mode::Clean, Preset::Balanced));
    let [run] = bridged.runs.as_slice() else {
        panic!("{}", bridged.trace);
    };
    assert_eq!(run.citation(), "pump.md § Pump, lines 3-13");
    assert_eq!(&PUMP[run.span.range()], run.text, "the source's bytes");
    assert_eq!(run.chunks.len(), 3);
    let trace = bridged.trace.to_string();
    assert!(trace.contains("segments: choice = \"exact\""), "{trace}");
    assert!(
        trace.contains("run: place = 1, question = 1, citation = \"pump.md § Pump, lines 3-13\"")
    );
    assert!(trace.contains("values: question = 1, document = \"pump.md\", chunks = 4"));

    let parted = find(&SegmentOptions {
        segment_price: Some(0.0),
        ..settings(Mode::Clean, Preset::Balanced)
    });
    assert!(
        parted.value >= bridged.value && parted.runs.len() == 2,
        "{}",
        parted.trace
    );
    let greedy = find(&settings(Mode::Paper, Preset::Balanced));
    assert_eq!(greedy.runs, bridged.runs);
}

#[test]
fn nothing_visible_gives_no_runs_and_bad_options_are_refused() {
    let home = Home::new();
    home.index
        .ingest(&document("pump.md", PUMP, grants(["hr"])))
        .unwrap();
    let options = settings(Mode::Clean, Preset::Balanced);
    let found = home
        .index
        .segments(&Principal::public(), &["valve"], &options);
    let found = found.unwrap();
    assert!(found.runs.is_empty() && found.value == 0.0);
    assert!(!found.to_json().contains("pump.md"));
    let seen = home
        .index
        .segments(&holder(["hr"]), &["valve of the pump"], &options);
    assert!(!seen.unwrap().runs.is_empty());
    let none = home.index.segments(&holder(["hr"]), &[], &options).unwrap();
    assert!(none.runs.is_empty());
    let bad = SegmentOptions {
        max_length: 0,
        ..options
    };
    let refused = home.index.segments(&Principal::public(), &["valve"], &bad);
    assert!(matches!(refused, Err(RagError::Segment(_))));
}

fn contextual(context: AutoContext) -> RagOptions {
    let small = SentencePackedOptions {
        window: Window::new(24, 0).unwrap(),
        ..SentencePackedOptions::default()
    };
    let inner = SentencePacked::new(Arc::new(WordCounter::new()), small);
    RagOptions {
        chunker: Arc::new(ContextualChunker::new(Arc::new(inner), context)),
        ..options()
    }
}

const MANUAL: &str = "The gearbox GX-5 drives the main mill of the plant. It was built by hand.\n\n\
    Oil is changed once in a year by the crew. The seal is checked as well.\n";

/// A chunk that does not name its subject is found by it, and shows its own words alone.
#[test]
fn headers_are_matched_and_never_shown() {
    let context = AutoContext::new(
        Arc::new(ExtractiveSummariser::default()),
        Arc::new(WordCounter::new()),
        AutoContextOptions::default(),
    );
    let home = Home::with(contextual(context));
    home.index
        .ingest(&document("notes/manual.md", MANUAL, Acl::public()))
        .unwrap();
    let found = home
        .index
        .search_sparse(&Principal::public(), "gearbox GX-5 oil", 5)
        .unwrap();
    let oil = found
        .hits
        .iter()
        .find(|hit| hit.chunk.text.starts_with("Oil"));
    let oil = &oil.expect("found by the title's words").chunk;
    assert!(
        oil.index_text
            .starts_with("manual: The gearbox GX-5 drives the main mill of the plant.")
    );
    assert!(!oil.text.contains("gearbox"));
    let response = home.index.answer(
        &Principal::public(),
        "When is the oil of the gearbox changed?",
        &home.threshold(0.1),
    );
    let response = response.unwrap();
    for statement in &response.outcome.answer().expect("an answer").statements {
        assert!(statement.citation.resolves_in(MANUAL));
    }
}

/// A model behind an endpoint: asked once a text, its words matched and not shown.
#[test]
fn a_chat_model_summarises_each_text_once() {
    let reply = |text: &str| {
        Reply::json(&json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}))
    };
    let server = Server::scripted([reply(" About machines.\n")]).unwrap();
    let client = Client::new(Endpoint::new(&server.url()).unwrap(), Policy::once()).unwrap();
    let chat = ChatSummariser::new(Arc::new(client), "small-chat", Default::default());
    let cached = CachedSummariser::new(Arc::new(chat), Arc::new(MemoryStore::new(10)));
    let summariser: Arc<dyn Summariser> = Arc::new(cached);
    for name in ["a.md", "b.md"] {
        let context = AutoContext::new(
            summariser.clone(),
            Arc::new(WordCounter::new()),
            AutoContextOptions::default(),
        );
        let home = Home::with(contextual(context));
        home.index
            .ingest(&document(name, MANUAL, Acl::public()))
            .unwrap();
        let found = home
            .index
            .search_sparse(&Principal::public(), "machines", 5)
            .unwrap();
        assert!(found.hits.len() > 1, "all chunks have the header");
        assert!(
            found
                .hits
                .iter()
                .all(|hit| hit.chunk.index_text.contains("About machines."))
        );
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 1, "the second index asked the cache");
    let body = requests[0].json();
    assert_eq!(body["model"], "small-chat");
    assert_eq!(body["max_tokens"], 48);
    assert_eq!(body["messages"][1]["content"], MANUAL.trim_end());
}

#[test]
fn an_empty_summary_fails_the_document() {
    let body = json!({"choices": [{"message": {"content": " "}, "finish_reason": "stop"}]});
    let server = Server::scripted([Reply::json(&body)]).unwrap();
    let client = Client::new(Endpoint::new(&server.url()).unwrap(), Policy::once()).unwrap();
    let chat = ChatSummariser::new(Arc::new(client), "small-chat", Default::default());
    assert!(chat.summarise("text", 5).is_err());
    let context = AutoContext::new(
        Arc::new(chat),
        Arc::new(WordCounter::new()),
        AutoContextOptions::default(),
    );
    let home = Home::with(contextual(context));
    let failed = home.index.ingest(&document("a.md", MANUAL, Acl::public()));
    assert!(matches!(failed, Err(RagError::Chunk { .. })));
    assert!(
        home.index
            .documents(&Principal::public())
            .unwrap()
            .is_empty()
    );
}

/// A result that the dense list was too short for has the cosine of its stored vector.
#[test]
fn a_result_beyond_the_dense_list_has_its_own_similarity() {
    let home = Home::wide();
    let mut documents: Vec<Document> = (0..220)
        .map(|at| {
            let text = "What is it that was with the one of these?";
            document(&format!("{at:03}.md"), text, Acl::public())
        })
        .collect();
    let sought = "Gearbox zx81 drives the belt past a long row of idle rollers.";
    documents.push(document("sought.md", sought, Acl::public()));
    home.index.ingest_all(&documents, |_| {}).unwrap();
    let (reader, question) = (Principal::public(), "What is it that was with the zx81?");
    let dense = home.index.search_dense(&reader, question, 1000).unwrap();
    let of_sought = |hit: &&cornu::Hit| hit.chunk.doc.as_str() == "sought.md";
    let similarity = dense.hits.iter().find(of_sought).unwrap().score;
    assert!(similarity > 0.05, "{similarity}");
    let hybrid = home.index.search_hybrid(&reader, question, 200).unwrap();
    assert_eq!(hybrid.hits.iter().find(of_sought).unwrap().dense, None);

    let options = SegmentOptions {
        relevance: Relevance::Linear {
            zero: 0.0,
            one: 1.0,
        },
        minimum_value: 0.0,
        irrelevant_chunk_penalty: 0.001,
        ..SegmentOptions::preset(Preset::FindAll)
    };
    let found = home.index.segments(&reader, &[question], &options).unwrap();
    let run = found
        .runs
        .iter()
        .find(|run| run.doc.as_str() == "sought.md");
    let value = run.expect("a run").chunks[0].value;
    let score = value.score.unwrap();
    assert!((score - similarity).abs() < 1e-6, "{score} {similarity}");
}
