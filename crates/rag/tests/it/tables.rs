//! Tables through the index.

use std::sync::Arc;

use cornu::chunk::{TableRows, TableRowsOptions, expand};
use cornu::core::Ranking;
use cornu::text::WordCounter;
use cornu::{Acl, Principal, RagOptions};

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
            .map(|hit| &hit.chunk)
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
