//! HTML in, readable answers out.

use crate::program::Folder;

const PAGE: &str = "<!doctype html>\n<html><head><title>Training</title>\n<script>var zero_grad = \
    'turbine';</script></head>\n<body><nav><a href=\"/\">Home turbine</a></nav>\n<h1>Gradients</h1>\n\
    <p>Call <code class=\"x\">zero_grad</code>&nbsp;before each backward pass &amp; step.<br>Then \
    rest.</p>\n<table><tr><th>City<th>Limit\n<tr><td>Oslo<td>1800&nbsp;NOK\n<tr><td>Lima<td>300 PEN\n\
    </table></body></html>\n";

fn indexed() -> Folder {
    let folder = Folder::empty();
    folder.write("site/page.html", PAGE);
    folder.write("site/old.HTM", "<p>Valves <b>close</b> slowly.");
    folder.run("index site --db a.db --acl public").expect(0);
    folder
}

#[test]
fn an_answer_from_a_page_shows_words_and_cites_bytes_and_lines() {
    let folder = indexed();
    let question = "When to call zero_grad?";
    let run = folder.asks("ask", question, "--db a.db --public").expect(0);
    let first = run.out.lines().next().unwrap();
    assert_eq!(
        first,
        "Call zero_grad before each backward pass & step. [1]"
    );
    assert!(
        run.out
            .contains("[1] site/page.html § Gradients, line 6 (chunk"),
        "{}",
        run.out
    );

    let json = folder
        .asks("ask", question, "--db a.db --public --json")
        .expect(0)
        .json();
    let citation = &json["outcome"]["answered"]["statements"][0]["citation"];
    let quote = citation["quote"].as_str().unwrap();
    let (start, end) = (&citation["span"]["start"], &citation["span"]["end"]);
    let span = start.as_u64().unwrap() as usize..end.as_u64().unwrap() as usize;
    assert_eq!(&PAGE[span], quote);
    assert_eq!(
        citation["words"],
        "Call zero_grad before each backward pass & step."
    );
}

#[test]
fn a_row_of_a_table_answers_by_itself() {
    let folder = indexed();
    let question = "What is the limit in Oslo?";
    let run = folder
        .asks("ask", question, "--db a.db --public --threshold 0.05")
        .expect(0);
    assert!(run.out.contains("\n\nOslo | 1800 NOK [1]\n"), "{}", run.out);
    // The cell by itself, with its place.
    assert!(
        run.out.starts_with(
            "1800 NOK [T1]\n\n[T1] lookup\n  \
             site/page.html § Gradients, line 8, row 1, column 2 (Limit): 1800 NOK\n"
        ),
        "{}",
        run.out
    );
}

#[test]
fn what_a_page_does_not_show_is_not_found() {
    let folder = indexed();
    let arguments = "--db a.db --public --route sparse";
    folder.asks("search", "turbine", arguments).expect(3);
    let run = folder.asks("search", "close slowly", arguments).expect(0);
    assert!(run.out.contains("1. site/old.HTM"), "{}", run.out);
    assert!(run.out.contains("   Valves close slowly.\n"), "{}", run.out);
    // A name in a tag alone is no name in the evidence.
    folder
        .asks(
            "ask",
            "What does `turbine` mean for gradients?",
            "--db a.db --public --threshold -1",
        )
        .expect(3);
}
