//! `cornu index --tables` and `--context`, and what `ask` and `explain` then say of tables.

use crate::program::{Folder, GUIDE};

const PUMPS: &str = "# Pumps\n\n| Model | Pressure (MPa) |\n|---|---|\n| P-1 | 3.5 |\n| P-2 | 12 |\n\
     | P-3 | 4-5 |\n";
const QUESTION: &str = "Which model has the highest pressure?";

fn folder() -> Folder {
    let folder = Folder::empty();
    folder.write("notes/pumps.md", PUMPS);
    folder.write("notes/guide.md", GUIDE);
    folder
}

#[test]
fn cells_answer_and_are_cited() {
    let folder = folder();
    folder.run("index notes --db a.db --acl public").expect(0);
    // Too strict for sentences: the cells answer all the same.
    let arguments = "--db a.db --public --threshold 0.99";
    let run = folder.asks("ask", QUESTION, arguments).expect(0);
    assert_eq!(
        run.out,
        "P-2: 12 MPa [T1]\n\n[T1] maximum\n  \
         notes/pumps.md § Pumps, line 6, row 2, column 2 (Pressure (MPa)): 12\n  \
         left out, a range: line 7, \"4-5\"\n"
    );
    let json = folder
        .asks("ask", QUESTION, &format!("{arguments} --json"))
        .expect(0)
        .json();
    let table = &json["tables"][0];
    assert_eq!(table["answer"], "P-2: 12 MPa");
    let cell = &table["cells"][0];
    assert_eq!(
        (cell["row"].as_u64(), cell["column"].as_u64()),
        (Some(2), Some(2))
    );
    let citation = &cell["citation"];
    assert_eq!(
        (&citation["doc"], &citation["lines"]["first"]),
        (&"notes/pumps.md".into(), &6.into())
    );
    assert!(
        json["outcome"]["refused"].is_object(),
        "the sentences' own verdict stands"
    );
    for threshold in ["", "--threshold 0.99"] {
        let arguments = format!("--db a.db --public {threshold}");
        let explained = folder.asks("explain", QUESTION, &arguments).expect(0);
        assert!(
            explained.out.contains("answer = \"P-2: 12 MPa\""),
            "{}",
            explained.out
        );
    }
    // Sentences and cells both.
    let run = folder
        .asks("ask", QUESTION, "--db a.db --public --threshold -1")
        .expect(0);
    assert!(
        run.out.starts_with("P-2: 12 MPa [T1]\n") && run.out.contains("\n[1] notes/"),
        "{}",
        run.out
    );
}

#[test]
fn tables_are_silent_where_they_do_not_answer() {
    let folder = folder();
    folder.run("index notes --db a.db --acl public").expect(0);
    for question in [
        "Which model has the best colour?",
        "What is the pressure of P-9?",
    ] {
        let run = folder
            .asks("ask", question, "--db a.db --public --threshold 0.99")
            .expect(3);
        assert!(run.out.starts_with("No answer: "), "{}", run.out);
        let run = folder
            .asks(
                "ask",
                question,
                "--db a.db --public --json --threshold 0.99",
            )
            .expect(3);
        assert!(run.json().get("tables").is_none());
    }
    // Who may not see the table gets nothing of it.
    folder
        .asks("ask", QUESTION, "--db a.db --group hr --threshold 0.99")
        .expect(3);
    // Nor does anybody where tables are text.
    folder
        .run("index notes --db text.db --acl public --tables text")
        .expect(0);
    folder
        .asks("ask", QUESTION, "--db text.db --public --threshold 0.99")
        .expect(3);
}

/// No other command names the chunker, and `index` needs to name it once.
#[test]
fn an_index_says_what_it_was_built_with() {
    let folder = folder();
    for tables in ["rows", "columns", "text"] {
        for context in ["off", "title", "summary"] {
            let db = format!("{tables}-{context}.db");
            let flags = format!("--tables {tables} --context {context}");
            let index = format!("index notes --db {db} --acl public");
            folder.run(&format!("{index} {flags}")).expect(0);
            let again = folder.run(&format!("{index} --json")).expect(0).json();
            assert_eq!(again["unchanged"], 2, "{db}");
            for command in ["search", "ask", "explain"] {
                folder
                    .asks(
                        command,
                        "When to call zero_grad?",
                        &format!("--db {db} --public"),
                    )
                    .expect(0);
            }
        }
    }
    let run = folder
        .run("index notes --db rows-title.db --acl public --context off")
        .expect(2);
    assert!(
        run.err
            .contains("rows-title.db was built with `--tables rows --context title`"),
        "{}",
        run.err
    );
    // What agrees may be said again.
    folder
        .run("index notes --db rows-title.db --acl public --context title")
        .expect(0);
}

/// A header is matched, and never shown.
#[test]
fn a_title_finds_chunks_that_do_not_name_it() {
    let folder = Folder::empty();
    let text = "---\ntitle: Gearbox GX-5\n---\nOil is changed yearly.\n";
    folder.write("a.md", text);
    folder.run("index a.md --db off.db --acl public").expect(0);
    folder
        .run("index a.md --db title.db --acl public --context title")
        .expect(0);
    let find = |db: &str| {
        folder.asks(
            "search",
            "gearbox",
            &format!("--db {db} --public --route sparse --json"),
        )
    };
    find("off.db").expect(3);
    let hit = &find("title.db").expect(0).json()["hits"][0]["chunk"];
    assert_eq!(hit["text"], "Oil is changed yearly.");
}

#[test]
fn a_configuration_file_may_set_both() {
    let folder = folder();
    folder.write("cornu.toml", "tables = \"text\"\ncontext = \"title\"\n");
    folder.run("index notes --db a.db --acl public").expect(0);
    folder
        .asks("search", "zero_grad", "--db a.db --public")
        .expect(0);
    let run = folder
        .run("index notes --db a.db --acl public --tables rows")
        .expect(2);
    assert!(
        run.err.contains("--tables text --context title"),
        "{}",
        run.err
    );
}
