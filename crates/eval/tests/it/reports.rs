//! Tables and their places in documents.

use cornu_eval::evidence::{Invalid, Printed, Record, Row};
use cornu_eval::report::{
    Best, Column, Format, SpliceError, TableSpec, provenance, render, splice,
};
use proptest::prelude::*;

use crate::records::record;

fn spec() -> TableSpec {
    TableSpec::new([
        Column::new("chunks", "chunks", Format::Integer),
        Column::new("recall@5", "recall@5", Format::Fixed(2))
            .with_interval()
            .with_printed(),
        Column::new("p95", "p95_ms", Format::Milliseconds(1)),
    ])
}

#[test]
fn a_table_stays() {
    insta::assert_snapshot!(render(&[record()], &spec()).unwrap());
}

#[test]
fn a_table_of_several_records_stays() {
    let mut other = record();
    other.table = "chunking-course".into();
    other.quick.clear();
    for row in &mut other.rows {
        row.dataset = "course".into();
    }
    other.rows.truncate(1);
    other.rows[0].metrics.get_mut("recall@5").unwrap().lo = None;
    other.rows[0].metrics.get_mut("recall@5").unwrap().hi = None;
    other.rows[0].metrics.remove("chunks");
    other.printed = vec![
        Printed {
            system: "fixed".into(),
            dataset: Some("course".into()),
            metrics: [("recall@5".to_owned(), 0.706)].into(),
            source: "chapter 14, section 9".into(),
        },
        Printed {
            system: "absent".into(),
            dataset: None,
            metrics: [("recall@5".to_owned(), 0.1)].into(),
            source: "never shown".into(),
        },
    ];
    let gated = Record::gated("embedding", record().environment, "no weights |\n anywhere");
    let gated = Record {
        measured_tree: record().measured_tree,
        ..gated
    };
    let mut spec = spec();
    spec.columns[0].best = Some(Best::Lowest);
    spec.columns[1] = Column::new("recall@5", "recall@5", Format::Percent(1))
        .with_printed()
        .with_best(Best::Highest);
    insta::assert_snapshot!(render(&[record(), other, gated], &spec).unwrap());
}

#[test]
fn bold_is_for_all_that_read_the_same() {
    let mut record = record();
    let recall = |row: &mut Row, value: f64| {
        let measure = row.metrics.get_mut("recall@5").unwrap();
        *measure = cornu_eval::evidence::Measure::exact(value, "fraction", 17);
    };
    recall(&mut record.rows[0], 0.8801);
    recall(&mut record.rows[1], 0.8799);
    let column = Column::new("recall@5", "recall@5", Format::Fixed(2)).with_best(Best::Highest);
    let spec = TableSpec::new([column]).without_datasets();
    let table = render(&[record.clone()], &spec).unwrap();
    assert_eq!(table.matches("**0.88**").count(), 2, "{table}");
    // One alone is no winner.
    record.rows.truncate(1);
    record.quick.clear();
    record.printed.clear();
    assert!(!render(&[record], &spec).unwrap().contains("**"));
}

#[test]
fn a_cell_stays_a_cell() {
    let mut record = record();
    record.rows[2] = Row::gated("bench-data", "gemini", "a | b\nc");
    let table = render(&[record], &spec()).unwrap();
    assert!(
        table.contains("| gemini | not measured: a \\| b c | – |"),
        "{table}"
    );
}

#[test]
fn a_gated_record_is_words_alone() {
    let gated = Record::gated("embedding", record().environment, "no weights");
    let gated = Record {
        measured_tree: record().measured_tree,
        ..gated
    };
    let text = render(&[gated], &spec()).unwrap();
    assert_eq!(text, "Table `embedding` not measured: no weights\n");
}

#[test]
fn an_invalid_record_never_renders() {
    let mut invalid = record();
    invalid.rows[2].metrics = invalid.rows[0].metrics.clone();
    let error = render(&[invalid], &spec()).unwrap_err();
    assert!(matches!(error, Invalid::GatedWithResults { .. }));
}

#[test]
fn provenance_names_tree_time_machine_and_command() {
    assert_eq!(
        provenance(&record()),
        "Measured on tree 0123456789ab at 2026-01-31T23:59:59Z with 2 threads on Example CPU @ \
         2.50GHz (2 cores), by `cargo xtask bench-tables --table chunking`."
    );
}

#[test]
fn figures_are_written_without_surprises() {
    assert_eq!(Format::Fixed(2).write(-0.001), "0.00");
    assert_eq!(Format::Fixed(2).write(-0.01), "-0.01");
    assert_eq!(Format::Integer.write(1234.5), "1234");
    assert_eq!(
        Format::Percent(0).write_with_interval(0.5, 0.25, 0.755),
        "50 % [25, 76]"
    );
}

#[test]
fn a_table_goes_between_its_markers_only() {
    let document = "a\n  <!-- table:x -->  \nold\n\n<!-- /table:x -->\nb <!-- table:x --> c\n\
                    <!-- table:xy -->\n<!-- /table:xy -->";
    let once = splice(document, "x", "new").unwrap();
    assert_eq!(once, document.replace("old\n\n", "new\n"));
    assert_eq!(
        splice(&once, "x", "new\n").unwrap(),
        once,
        "a second time changes nothing"
    );
    let at_the_end = splice(document, "xy", "1\n2\n").unwrap();
    assert!(at_the_end.ends_with("<!-- table:xy -->\n1\n2\n<!-- /table:xy -->"));
    let windows = splice("<!-- table:x -->\r\n<!-- /table:x -->\r\n", "x", "1\n2").unwrap();
    assert_eq!(
        windows,
        "<!-- table:x -->\r\n1\r\n2\r\n<!-- /table:x -->\r\n"
    );
    assert_eq!(
        splice(&once, "x", "").unwrap(),
        document.replace("old\n\n", "")
    );
}

#[test]
fn faulty_markers_are_named() {
    let (open, close) = ("<!-- table:x -->\n", "<!-- /table:x -->\n");
    let (other, other_close) = ("<!-- table:y -->\n", "<!-- /table:y -->\n");
    let error = |parts: &[&str]| splice(&parts.concat(), "x", "").unwrap_err();
    assert!(matches!(error(&[]), SpliceError::Missing { .. }));
    let missing = error(&[open]);
    assert_eq!(
        missing.to_string(),
        "no line `<!-- /table:x -->`; add it where the table goes"
    );
    assert!(matches!(error(&[close]), SpliceError::Missing { .. }));
    assert!(matches!(
        error(&[open, open, close]),
        SpliceError::Duplicate { line: 2, .. }
    ));
    assert!(matches!(
        error(&[open, close, close]),
        SpliceError::Duplicate { line: 3, .. }
    ));
    assert!(matches!(
        error(&["\n", close, open]),
        SpliceError::Reversed { line: 2, .. }
    ));
    assert!(matches!(
        error(&[open, other, close]),
        SpliceError::Nested { line: 2, .. }
    ));
    assert!(matches!(
        error(&[open, other_close, close]),
        SpliceError::Nested { line: 2, .. }
    ));
    let inside = error(&[other, open, close, other_close]);
    assert!(matches!(&inside, SpliceError::Nested { name, line: 2, .. } if name == "y"));
    let body = splice(&[open, close].concat(), "x", other).unwrap_err();
    assert!(matches!(body, SpliceError::MarkerInBody { .. }));
}

proptest! {
    #[test]
    fn splicing_leaves_the_rest_and_repeats(
        before in "[a-z\n|<>! -]{0,40}", after in "[a-z\n|<>! -]{0,40}", body in "[a-z\n|-]{0,40}",
    ) {
        let document = format!("{before}\n<!-- table:t -->\nold\n<!-- /table:t -->\n{after}");
        let once = splice(&document, "t", &body).unwrap();
        let (head, tail) = (format!("{before}\n<!-- table:t -->\n"), format!("<!-- /table:t -->\n{after}"));
        prop_assert!(once.starts_with(&head) && once.ends_with(&tail));
        prop_assert_eq!(splice(&once, "t", &body).unwrap(), once);
    }

    #[test]
    fn splicing_never_panics(document in "(<!-- /?table:[ab] -->|x|\n){0,12}") {
        let _ = splice(&document, "a", "body");
    }
}
