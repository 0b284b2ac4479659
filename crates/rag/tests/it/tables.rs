//! Tables through the index.

use std::sync::Arc;

use cornu::chunk::{TableRows, TableRowsOptions, expand};
use cornu::core::Ranking;
use cornu::segment::Relevance;
use cornu::text::WordCounter;
use cornu::{Acl, Outcome, Preset, Principal, RagOptions, SegmentOptions, Threshold};

use crate::world::{Home, document, grants, holder, options};

const PUMPS: &str = "# Pumps\n\nTable 1. Limits\n\n| Model | Pressure (MPa) |\n|---|---|\n\
    | P-1 | 3.5 |\n| P-2 | 12 |\n";
const SECRET: &str =
    "# Pumps\n\n| Model | Pressure (MPa) |\n|---|---|\n| P-1 | 99 |\n| P-9 | 900 |\n";

fn home() -> Home {
    let chunker = TableRows::new(Arc::new(WordCounter::new()), TableRowsOptions::default());
    Home::with(RagOptions {
        chunker: Arc::new(chunker),
        ..options()
    })
}

/// A row is found by its words, leads to its table, and answers cite the bytes of cells.
#[test]
fn a_row_leads_to_its_table_and_answers_cite_cells() {
    let home = home();
    home.index
        .ingest(&document("pumps.md", PUMPS, Acl::public()))
        .unwrap();
    let reader = Principal::public();
    let found = home
        .index
        .search_sparse(&reader, "P-2 pressure", 5)
        .unwrap();
    let row = &found.hits[0].chunk;
    assert_eq!(row.text, "| P-2 | 12 |");
    let hits = Ranking::new([(row.id, 1.0)]).unwrap();
    let shown = expand(&hits, |id| {
        found
            .hits
            .iter()
            .map(|hit| &*hit.chunk)
            .find(|c| c.id == *id)
    });
    assert_eq!(Some(shown[0].id), row.parent);

    let answers = home
        .index
        .ask_tables(&reader, "What is the pressure of P-1?")
        .unwrap();
    assert_eq!(answers[0].answer.value, "3.5 MPa");
    for citation in &answers[0].citations {
        assert!(citation.resolves_in(PUMPS));
        assert_eq!(citation.to_string(), "pumps.md § Pumps, line 7");
    }
    let silent = home
        .index
        .ask_tables(&reader, "Why is the pressure of P-1 so low?");
    assert!(silent.unwrap().is_empty());
}

/// Two documents with one question: the asker gets the tables that they see, as if there were no
/// others.
#[test]
fn hidden_tables_answer_nothing() {
    let (both, one) = (home(), home());
    for home in [&both, &one] {
        home.index
            .ingest(&document("pumps.md", PUMPS, Acl::public()))
            .unwrap();
    }
    both.index
        .ingest(&document("a-secret.md", SECRET, grants(["hr"])))
        .unwrap();
    let question = "Which model has the highest pressure?";
    let ask = |home: &Home, who: &Principal| home.index.ask_tables(who, question).unwrap();
    let public = ask(&both, &Principal::public());
    assert_eq!(public, ask(&one, &Principal::public()));
    assert_eq!(public.len(), 1);
    assert_eq!(public[0].answer.to_string(), "P-2: 12 MPa");
    let insider = ask(&both, &holder(["hr", "public"]));
    assert_eq!(insider.len(), 2, "who sees both gets both");
}

const FLEET: &str = "# Fleet\n\n| Ship | Built | Speed (kn) | Port |\n|---|---|---|---|\n\
    | Aster | 1998 | 13 | Corrin |\n| Bryony | 2004 | 14 | Skerry |\n| Clover | 2011 | 15 | Corrin |\n";
const SECRET_FLEET: &str = "# Fleet\n\n| Ship | Built | Speed (kn) | Port |\n|---|---|---|---|\n\
    | Aster | 1998 | 99 | Corrin |\n| Zinnia | 2024 | 30 | Nowhere |\n";

fn by_columns() -> Home {
    let wide = TableRowsOptions {
        wide: Some(4),
        ..TableRowsOptions::default()
    };
    let chunker = TableRows::new(Arc::new(WordCounter::new()), wide);
    Home::with(RagOptions {
        chunker: Arc::new(chunker),
        ..options()
    })
}

/// Rows and columns of one table are found together; an answer quotes each of its bytes once.
#[test]
fn a_column_is_found_and_no_byte_is_quoted_twice() {
    let home = by_columns();
    home.index
        .ingest(&document("fleet.md", FLEET, Acl::public()))
        .unwrap();
    let reader = Principal::public();
    let question = "speed of Aster, Bryony and Clover";
    let found = home.index.search_hybrid(&reader, question, 20).unwrap();
    let said = "Fleet\n[Column 3 Speed (kn): Aster: 13, Bryony: 14, Clover: 15]";
    let mut hits = found.hits.iter().map(|hit| &hit.chunk);
    let column = hits.find(|chunk| chunk.index_text == said).unwrap();
    assert_eq!(column.citation(), "fleet.md § Fleet, lines 3-7");
    assert_eq!(found.hits.len(), 4 + 3, "columns and rows");
    let threshold = Threshold::by_hand(-1.0, home.index.provider()).unwrap();
    let answer = home.index.answer(&reader, question, &threshold).unwrap();
    let Outcome::Answered(answer) = answer.outcome else {
        panic!("refused");
    };
    let mut spans: Vec<_> = answer.statements.iter().map(|s| s.citation.span).collect();
    spans.sort_by_key(|span| span.start());
    assert!(
        spans
            .windows(2)
            .all(|pair| pair[0].end() <= pair[1].start())
    );
    // Tables answer from rows and columns alike, and runs are of rows.
    let tables = home
        .index
        .ask_tables(&reader, "Which ship has the highest speed?");
    assert_eq!(tables.unwrap()[0].answer.to_string(), "Clover: 15 kn");
    let found = home.index.segments(&reader, &[question], &runs()).unwrap();
    for run in &found.runs {
        assert_eq!(&FLEET[run.span.range()], run.text);
    }
    assert!(!found.runs.is_empty(), "{}", found.trace);
}

/// Whatever a hidden table holds, its columns have no part in what others get.
#[test]
fn hidden_columns_have_no_part_in_any_answer() {
    let (both, one) = (by_columns(), by_columns());
    for home in [&both, &one] {
        home.index
            .ingest(&document("fleet.md", FLEET, Acl::public()))
            .unwrap();
    }
    both.index
        .ingest(&document("a-secret.md", SECRET_FLEET, grants(["hr"])))
        .unwrap();
    let reader = Principal::public();
    for question in [
        "speed of all ships",
        "port of Zinnia",
        "Which ship has the highest speed?",
    ] {
        let all = |home: &Home| {
            let index = &home.index;
            let threshold = Threshold::by_hand(-1.0, index.provider()).unwrap();
            [
                index.search_dense(&reader, question, 20).unwrap().to_json(),
                index
                    .search_sparse(&reader, question, 20)
                    .unwrap()
                    .to_json(),
                index
                    .search_hybrid(&reader, question, 20)
                    .unwrap()
                    .to_json(),
                index
                    .answer(&reader, question, &threshold)
                    .unwrap()
                    .to_json(),
                index
                    .segments(&reader, &[question], &runs())
                    .unwrap()
                    .to_json(),
                format!("{:?}", index.ask_tables(&reader, question).unwrap()),
            ]
        };
        assert_eq!(all(&both), all(&one));
    }
}

fn runs() -> SegmentOptions {
    SegmentOptions {
        relevance: Relevance::Constant(0.9),
        ..SegmentOptions::preset(Preset::FindAll)
    }
}
