//! What an import keeps, and what it says of the rest.

use cornu_extract::{ImportRules, OpenIeError, read_openie};

fn one(triples: &str) -> String {
    format!(
        r#"{{"idx":"chunk-1","passage":"p","extracted_entities":["a"],"extracted_triples":{triples}}}"#
    )
}

#[test]
fn what_is_wrong_is_left_out_and_counted() {
    let file = one(
        r#"[["a","b","c"],["a","b","c"],["a","b"],["a","b","c","d"],"abc",["a",null,"c"],
           ["a",["b"],"c"],["a","b",NaN],["","b","c"],["a","b","!"],["a","b",1963]]"#,
    )
    .replace('\n', "");
    let (passages, report) = read_openie(&file, ImportRules::Strict).unwrap();
    assert_eq!(passages[0].id, "chunk-1");
    let kept: Vec<&str> = passages[0]
        .extraction
        .triples
        .iter()
        .map(|t| t.object.as_str())
        .collect();
    assert_eq!(kept, ["c", "1963"]);
    assert_eq!((report.triples, report.kept, report.duplicates), (11, 2, 1));
    assert_eq!(
        (report.wrong_length, report.not_text, report.empty_end),
        (3, 3, 2)
    );
    assert!(
        report
            .examples
            .iter()
            .all(|line| line.starts_with("chunk-1: "))
    );
    assert!(!report.is_clean());
}

#[test]
fn nan_within_a_string_is_a_word() {
    let (passages, report) = read_openie(
        &one(r#"[["NaN \" NaN","is","Infinity"]]"#),
        ImportRules::Strict,
    )
    .unwrap();
    assert!(report.is_clean());
    assert_eq!(passages[0].extraction.triples[0].subject, "NaN \" NaN");
}

#[test]
fn both_published_forms_and_repeated_passages() {
    let line = one("[]");
    let lines = format!("{line}\n\n{line}\n");
    let docs = format!(r#"{{"docs":[{line},{line}],"avg_ent_chars":NaN}}"#);
    for file in [lines, docs] {
        let (passages, report) = read_openie(&file, ImportRules::Strict).unwrap();
        assert_eq!((passages.len(), report.duplicate_passages), (1, 1));
    }
}

#[test]
fn what_is_no_such_file_is_refused() {
    let broken = format!("{}\n{{", one("[]"));
    let refused = read_openie(&broken, ImportRules::Strict).unwrap_err();
    assert!(matches!(refused, OpenIeError::NotJson { line: 2, .. }));
    let refused = read_openie(
        r#"{"passage":"p","extracted_entities":[]}"#,
        ImportRules::Strict,
    )
    .unwrap_err();
    assert!(matches!(
        refused,
        OpenIeError::Missing {
            at: 0,
            field: "extracted_triples"
        }
    ));
    assert!(refused.to_string().contains("extracted_triples"));
}
