//! Readers: what they take, and what they say of the rest.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use cornu_eval::ReadError;
use cornu_eval::beir::{
    corpus_from, qrels_from, queries_from, read_corpus, read_qrels, read_queries,
};
use cornu_eval::questions::{self, Alternative, Ranks};
use proptest::prelude::*;

#[test]
fn a_beir_folder_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let corpus = file(
        "corpus.jsonl",
        "\u{feff}{\"_id\": \"0\", \"title\": \"Horn\", \"text\": \"海马\", \"metadata\": {}}\r\n\n{\"_id\": \"1\", \"text\": \"\"}",
    );
    let passages: Vec<_> = read_corpus(&corpus).unwrap().map(Result::unwrap).collect();
    assert_eq!(passages.len(), 2);
    assert_eq!(
        (passages[0].titled().as_str(), passages[1].titled().as_str()),
        ("Horn\n海马", "")
    );

    let queries = file(
        "queries.jsonl",
        "{\"_id\":\"q\",\"text\":\"?\",\"answer\":\"a\",\"hops\":2}\n",
    );
    let queries: Vec<_> = read_queries(&queries)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(queries[0].label("answer"), Some("a"));
    assert_eq!(queries[0].fields["hops"], 2);

    let qrels = file(
        "qrels.tsv",
        "query-id\tcorpus-id\tscore\r\nq\t0\t2\r\nq\t1\t0\r\nq\t2\t-2\r\n",
    );
    let qrels = read_qrels(&qrels).unwrap();
    let judgments = qrels.get("q").unwrap();
    assert_eq!((judgments.grade(&"0".into()), judgments.relevant()), (2, 1));
    assert!(judgments.is_judged(&"1".into()));
    // Junk, in files of TREC: judged, and not relevant.
    assert_eq!(judgments.grade(&"2".into()), 0);
    assert!(judgments.is_judged(&"2".into()));

    let absent = read_corpus(&folder.path().join("absent.jsonl")).unwrap_err();
    assert!(matches!(&absent, ReadError::Io { file, .. } if file.ends_with("absent.jsonl")));
}

#[track_caller]
fn assert_message(error: &ReadError, parts: &[&str]) {
    let message = error.to_string();
    assert!(parts.iter().all(|part| message.contains(part)), "{message}");
}

#[test]
fn an_error_names_file_line_value_and_remedy() {
    let qrels = |body: &str| {
        let text = format!("query-id\tcorpus-id\tscore\n{body}");
        qrels_from(text.as_bytes(), "dev/qrels.tsv").unwrap_err()
    };
    assert_message(
        &qrels("q\td\t1\nq\te\t-300\n"),
        &["dev/qrels.tsv, line 3", "\"-300\"", "0 downwards"],
    );
    assert_message(&qrels("q\td\t300\n"), &["line 2", "\"300\"", "to 255"]);
    assert_message(&qrels("q\td\t1.0\n"), &["\"1.0\""]);
    assert_message(&qrels("q 0 d 1\n"), &["1 fields", "one tab"]);
    assert_message(&qrels("q\td\t1\n\nq\td\t0\n"), &["line 4", "judged before"]);
    assert_message(&qrels("\td\t1\n"), &["empty id"]);
    assert_message(
        &qrels_from("".as_bytes(), "f").unwrap_err(),
        &["empty file", "header"],
    );

    let first = |text: &[u8]| corpus_from(text, "c.jsonl").find_map(Result::err).unwrap();
    assert_message(&first(b"{\"_id\": \"1\"}"), &["c.jsonl, line 1", "text"]);
    assert_message(
        &first(b"{\"_id\":\"1\",\"text\":\"a\"}\n{\"_id\":\"1\",\"text\":\"b\"}"),
        &["line 2", "id seen before: \"1\""],
    );
    assert_message(&first(b"{\"_id\":\"\",\"text\":\"a\"}"), &["empty id"]);
    assert_message(&first(b"\xff\xfe"), &["line 1", "UTF-8"]);
    let long = format!("[{}]", "海".repeat(500));
    assert_message(&first(long.as_bytes()), &["…"]);
    assert!(first(long.as_bytes()).to_string().len() < 600);
}

#[test]
fn reading_ends_at_the_first_error() {
    let text = "{\"_id\":\"1\",\"text\":\"a\"}\nnonsense\n{\"_id\":\"2\",\"text\":\"b\"}\n";
    let items: Vec<_> = queries_from(text.as_bytes(), "q").collect();
    assert_eq!(items.len(), 2);
    assert!(items[0].is_ok() && items[1].is_err());
}

const QUESTION: &str = r#"{"id":"q1","type":"multi-hop","split":"test","lang":"zh","question":"为什么?","answer":"x","evidence":[[{"doc":"a.md","phrase":"梯度 累加"},{"doc":"b.md","phrase":"accumulate"}],[{"doc":"a.md","phrase":"zero_grad"}]],"near_miss":false}"#;

#[test]
fn a_question_needs_all_pieces_and_any_alternative() {
    let question = &questions::read_from(QUESTION.as_bytes(), "q.jsonl").unwrap()[0];
    assert_eq!(
        (question.kind.as_str(), question.evidence.len()),
        ("multi-hop", 2)
    );
    let text = serde_json::to_string(question).unwrap();
    assert_eq!(text, QUESTION, "written as it was read");

    let retrieved = [
        ("b.md", "zero_grad"),             // the right phrase in the wrong document
        ("b.md", "they Accumulate"),       // case is not folded
        ("b.md", "they accumulate"),       // first piece, by its second alternative
        ("a.md", "梯度累加"),              // a space that only the phrase has
        ("a.md", "call\u{3000}zero_grad"), // second piece
        ("a.md", "梯度 \n 累加"),          // first piece again: counted once
    ];
    let ranks = Ranks::find(&question.evidence, &retrieved);
    assert_eq!(ranks.ranks, [Some(3), Some(5)]);
    let recall: Vec<_> = [0, 2, 3, 5, 100].map(|k| ranks.recall(k).unwrap()).into();
    assert_eq!(recall, [0.0, 0.0, 0.5, 1.0, 1.0]);
    assert_eq!([ranks.hit(3), ranks.hit(5)], [Some(0.0), Some(1.0)]);
    assert_eq!(ranks.reciprocal_rank(), Some(1.0 / 3.0));
    for k in 0..8 {
        let direct = questions::evidence_recall(&question.evidence, &retrieved, k);
        assert_eq!(direct, ranks.recall(k));
    }
    // Nothing to find is not found.
    let unanswerable = Ranks::find(&[], &retrieved);
    assert_eq!((unanswerable.recall(5), unanswerable.hit(5)), (None, None));
    assert_eq!(unanswerable.reciprocal_rank(), None);
}

#[test]
fn a_faulty_question_is_refused() {
    let read = |text: &str| questions::read_from(text.as_bytes(), "q.jsonl").unwrap_err();
    assert_message(
        &read(&format!("{QUESTION}\n{QUESTION}")),
        &["line 2", "id seen before"],
    );
    assert_message(&read(&QUESTION.replace("\"q1\"", "\"\"")), &["empty id"]);
    assert_message(
        &read(&QUESTION.replace("test", "train")),
        &["split", "\"train\""],
    );
    assert_message(
        &read(&QUESTION.replace("zero_grad", " \\n ")),
        &["empty evidence"],
    );
    assert_message(
        &read(&QUESTION.replace("\"near_miss\":false", "\"near_miss\":true")),
        &["near miss with evidence"],
    );
    assert_message(
        &read(&QUESTION.replace("\"lang\"", "\"language\"")),
        &["language"],
    );
    let empty_piece = QUESTION.replace(r#"[{"doc":"a.md","phrase":"zero_grad"}]"#, "[]");
    assert_message(&read(&empty_piece), &["empty evidence", "\"q1\""]);
    let unanswerable = r#"{"id":"u","type":"unanswerable","split":"dev","lang":"en","question":"Who?","answer":null,"evidence":[],"near_miss":true}"#;
    let question = &questions::read_from(unanswerable.as_bytes(), "q").unwrap()[0];
    assert!(!question.is_answerable() && question.near_miss);
}

proptest! {
    /// Any white space for any other, as long as there is some in the same places.
    #[test]
    fn white_space_matches_white_space(
        words in prop::collection::vec("[a-z\u{4e00}-\u{4e20}]{1,4}", 1..6),
        spaces in prop::collection::vec("[ \n\r\t\u{3000}\u{a0}]{1,3}", 12),
    ) {
        let join = |from: usize| {
            let mut text = String::new();
            for (index, word) in words.iter().enumerate() {
                if index > 0 {
                    text.push_str(&spaces[(from + index) % spaces.len()]);
                }
                text.push_str(word);
            }
            text
        };
        let piece = vec![Alternative { doc: "d".into(), phrase: format!("{} ", join(0)) }];
        let text = format!("before {} after", join(6));
        let found = Ranks::find(std::slice::from_ref(&piece), &[("d", &text)]);
        prop_assert_eq!(found.ranks, vec![Some(1)]);
        let glued = format!("before {} after", words.concat());
        let found = Ranks::find(&[piece], &[("d", &glued)]);
        prop_assert_eq!(found.ranks, vec![(words.len() == 1).then_some(1)]);
    }

    #[test]
    fn readers_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = qrels_from(bytes.as_slice(), "f");
        let _ = corpus_from(bytes.as_slice(), "f").count();
        let _ = questions::read_from(bytes.as_slice(), "f");
    }
}

/// Says so past the capture of test output.
fn skipped(why: &str) {
    let mut stderr = std::io::stderr(); // eprintln! would be captured
    writeln!(stderr, "{why}").unwrap();
}

/// The project's own question sets: every piece of evidence is in the documents as they stand.
#[test]
fn own_question_sets_are_read_and_their_evidence_is_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench-data");
    if !folder.is_dir() {
        skipped("SKIPPED own_question_sets…: bench-data is not beside this crate");
        return;
    }
    let mut documents = BTreeMap::new();
    for entry in fs::read_dir(folder.join("corpus")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        documents.insert(name, fs::read_to_string(path).unwrap());
    }
    let whole: Vec<(&str, &str)> = documents
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    for (set, answerable, unanswerable) in [("questions-20", 17, 3), ("questions-ext", 220, 80)] {
        let questions = questions::read(&folder.join(set).with_extension("jsonl")).unwrap();
        let (with, without): (Vec<_>, Vec<_>) = questions.iter().partition(|q| q.is_answerable());
        assert!(
            with.len() >= answerable && without.len() >= unanswerable,
            "{set}"
        );
        for question in with {
            let ranks = Ranks::find(&question.evidence, &whole);
            assert_eq!(
                ranks.recall(whole.len()),
                Some(1.0),
                "{}: {ranks:?}",
                question.id
            );
        }
    }
}

/// The public sets, where they are.
#[test]
fn public_sets_are_read() {
    let Ok(data) = std::env::var("CORNU_DATA") else {
        skipped("SKIPPED public_sets_are_read: CORNU_DATA does not name the folder of public sets");
        return;
    };
    let mut sets = 0;
    for entry in fs::read_dir(&data).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.join("qrels.tsv").is_file() {
            continue;
        }
        sets += 1;
        let mut ids = std::collections::BTreeSet::new();
        for passage in read_corpus(&folder.join("corpus.jsonl")).unwrap() {
            ids.insert(passage.unwrap().id);
        }
        let qrels = read_qrels(&folder.join("qrels.tsv")).unwrap();
        for query in read_queries(&folder.join("queries.jsonl")).unwrap() {
            let judgments = qrels
                .get(&query.unwrap().id)
                .expect("every query is judged");
            assert!(judgments.iter().all(|(document, _)| ids.contains(document)));
        }
    }
    assert!(sets > 0, "no folder with a qrels.tsv in CORNU_DATA");
}
