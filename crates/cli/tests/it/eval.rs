//! `cornu eval`: figures that can be checked by hand.

use serde_json::{Value, json};

use crate::program::Folder;

/// Three short documents, one of them hidden from the public, and questions about them. Words are
/// shared in such a way that BM25 finds what it should, and that the figures are known.
fn asked() -> Folder {
    let folder = Folder::empty();
    folder.write("notes/a.md", "# Turbines\n\nTurbines turn at noon.\n");
    folder.write("notes/b.md", "# Pumps\n\nPumps rest at midnight.\n");
    folder.write("hr/c.md", "# Pay\n\nSalaries rise in spring.\n");
    folder.run("index notes --db a.db --acl public").expect(0);
    folder.run("index hr --db a.db --acl hr").expect(0);
    let evidence = |doc: &str, phrase: &str| json!([[{"doc": doc, "phrase": phrase}]]);
    let lines: Vec<String> = [
        (
            "q1",
            "When do turbines turn?",
            evidence("notes/a.md", "turn at noon"),
        ),
        (
            "q2",
            "When do pumps rest?",
            evidence("notes/b.md", "rest at midnight"),
        ),
        (
            "q3",
            "When do salaries rise?",
            evidence("hr/c.md", "rise in spring"),
        ),
        ("q4", "Which colour has the XK-77?", json!([])),
    ]
    .into_iter()
    .map(|(id, question, evidence)| {
        json!({"id": id, "type": "t", "split": "test", "lang": "en", "question": question,
            "answer": null, "evidence": evidence, "near_miss": false})
        .to_string()
    })
    .collect();
    folder.write("questions.jsonl", lines.join("\n"));
    folder
}

fn metric<'a>(report: &'a Value, route: &str, name: &str) -> &'a Value {
    let routes = report["routes"].as_array().unwrap();
    let found = routes.iter().find(|it| it["route"] == route).unwrap();
    let metrics = found["metrics"].as_array().unwrap();
    metrics.iter().find(|it| it["metric"] == name).unwrap()
}

#[test]
fn questions_are_scored_by_their_evidence_as_the_asker() {
    let folder = asked();
    let eval = "eval --db a.db --questions questions.jsonl --routes sparse,hybrid --json";
    let run = folder.run(&format!("{eval} --public --group hr")).expect(0);
    let report = run.json();
    assert_eq!(report["set"], "questions");
    assert_eq!(
        (&report["answerable"], &report["unanswerable"]),
        (&json!(3), &json!(1))
    );
    for name in ["recall@1", "recall@5", "recall@10", "ndcg@10", "mrr"] {
        let found = metric(&report, "sparse", name);
        assert_eq!(
            (&found["mean"], &found["n"]),
            (&json!(1.0), &json!(3)),
            "{name}"
        );
    }
    // Three of three still allows much less (Clopper and Pearson).
    let low = metric(&report, "sparse", "recall@1")["low"]
        .as_f64()
        .unwrap();
    assert!((low - 0.025_f64.powf(1.0 / 3.0)).abs() < 1e-9, "{low}");
    assert_eq!(report["refusals"]["false_answers"]["expected"], 0.0);
    assert_eq!(report["comparisons"], json!([]));

    // The public does not see one of the three.
    let run = folder.run(&format!("{eval} --public")).expect(0);
    assert!(run.err.contains("1 of the documents"), "{}", run.err);
    let report = run.json();
    let found = metric(&report, "sparse", "recall@5")["mean"]
        .as_f64()
        .unwrap();
    assert!((found - 2.0 / 3.0).abs() < 1e-9);
    let refused = &report["refusals"]["false_refusals"]["expected"];
    assert!(
        (refused.as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-9,
        "{refused}"
    );
}

/// nDCG is over documents: one that is cut into many chunks counts once, at its best place, and so
/// do alternatives; finding one of two that are needed is not enough.
#[test]
fn a_document_counts_once_for_ndcg() {
    let folder = Folder::empty();
    let long: String = (0..40)
        .map(|at| {
            format!(
                "## Part {at}\n\nTurbines turn. {}\n\n",
                "More of turbines. ".repeat(60)
            )
        })
        .collect();
    folder.write("d/long.md", format!("# Turbines\n\n{long}"));
    folder.write("d/noon.md", "# Clock\n\nTurbines turn at noon.\n");
    folder.write("d/zh.md", "# Uhr\n\nTurbines turn at noon, too.\n");
    folder.write("d/other.md", "# Rain\n\nRain falls on pumps.\n");
    let stats = folder
        .run("index d --db a.db --acl public --json")
        .expect(0)
        .json();
    assert!(stats["chunks"].as_u64().unwrap() > 20);
    let at = |doc: &str, phrase: &str| json!({"doc": doc, "phrase": phrase});
    let ndcg = |question: &str, evidence: Value| {
        let line = json!({"id": "q", "type": "t", "split": "test", "lang": "en", "answer": null,
            "question": question, "evidence": evidence, "near_miss": false});
        folder.write("q.jsonl", line.to_string());
        let eval = "eval --db a.db --public --questions q.jsonl --routes sparse --json";
        let report = folder.run(eval).expect(0).json();
        let found = metric(&report, "sparse", "ndcg@10");
        assert_eq!(found["over"], "documents");
        assert_eq!(metric(&report, "sparse", "mrr")["over"], "evidence");
        found["mean"].as_f64().unwrap()
    };
    // Forty chunks of one document above the wanted one are one document above it.
    let noon = || at("d/noon.md", "turn at noon");
    let second = ndcg("more of part turbines", json!([[noon()]]));
    assert!((second - 1.0 / 3.0_f64.log2()).abs() < 1e-12, "{second}");
    // Alternatives: one found is all found, both found count once.
    let zh = || at("d/zh.md", "turn at noon");
    assert_eq!(ndcg("noon", json!([[zh(), noon()]])), 1.0);
    assert_eq!(ndcg("clock noon", json!([[noon(), zh()]])), 1.0);
    // A chain of alternatives is one; what is needed for itself has no stand-in.
    let rain = || at("d/other.md", "falls on pumps");
    assert_eq!(ndcg("uhr", json!([[rain(), noon()], [noon(), zh()]])), 1.0);
    assert_eq!(ndcg("clock", json!([[zh(), noon()], [zh()]])), 0.0);
}

#[test]
fn two_routes_are_compared_question_by_question() {
    let folder = asked();
    let eval = "eval --db a.db --questions questions.jsonl --public --group hr -k 1,5 \
                --compare dense,sparse --compare hybrid,sparse";
    let report = folder.run(&format!("{eval} --json")).expect(0).json();
    let comparisons = report["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 2);
    assert_eq!(
        (&comparisons[0]["first"], &comparisons[0]["second"]),
        (&json!("dense"), &json!("sparse"))
    );
    let hybrid = &comparisons[1]["metrics"][0];
    assert_eq!(
        (&hybrid["metric"], &hybrid["n"]),
        (&json!("recall@1"), &json!(3))
    );
    assert_eq!(
        (&hybrid["difference"], &hybrid["p"]),
        (&json!(0.0), &json!(1.0))
    );
    assert_eq!(hybrid["p_holm"], 1.0);

    let out = folder.run(eval).expect(0).out;
    assert!(
        out.starts_with("questions: 3 questions with an answer, 1 without\n"),
        "{out}"
    );
    let units = "recall and mrr count pieces of evidence in chunks, ndcg counts documents\n";
    assert!(out.contains(units), "{out}");
    assert!(
        out.contains("hybrid less sparse\nrecall@1      +0.000"),
        "{out}"
    );
    assert!(out.contains("false answers   0.0 %"), "{out}");

    let pair = "eval --db a.db --questions questions.jsonl --public --compare";
    folder.run(&format!("{pair} dense,dense")).expect(2);
    folder.run(&format!("{pair} dense")).expect(2);
    folder
        .run(&format!("{pair} dense,hybrid --routes dense"))
        .expect(2);
}

#[test]
fn the_layout_of_beir_is_read_and_its_documents_are_found() {
    let folder = asked();
    folder.write(
        "set/queries.jsonl",
        "{\"_id\": \"1\", \"text\": \"When do turbines turn?\"}\n\
         {\"_id\": \"2\", \"text\": \"pumps at midnight, turbines at noon\"}\n\
         {\"_id\": \"3\", \"text\": \"nobody judged this\"}\n",
    );
    let judgments = "query-id\tcorpus-id\tscore\n1\tnotes/a.md\t1\n2\tnotes/b\t1\n2\tnotes/a\t2\n";
    folder.write("set/qrels/test.tsv", judgments);
    let eval = "eval --db a.db --beir set --public --routes sparse -k 1,5";
    let report = folder.run(&format!("{eval} --json")).expect(0).json();
    assert_eq!(
        (&report["set"], &report["answerable"]),
        (&json!("set"), &json!(2))
    );
    assert_eq!(metric(&report, "sparse", "recall@1")["mean"], 0.75);
    assert_eq!(metric(&report, "sparse", "recall@5")["mean"], 1.0);
    assert_eq!(metric(&report, "sparse", "mrr")["mean"], 1.0);
    assert_eq!(report["refusals"]["false_answers"], Value::Null);

    folder.write("other.tsv", judgments);
    let same = folder
        .run(&format!("{eval} --json --qrels other.tsv"))
        .expect(0)
        .json();
    assert_eq!(same["routes"], report["routes"]);
    let run = folder.run(&format!("{eval} --split train")).expect(2);
    assert!(run.err.contains("qrels/train.tsv"), "{}", run.err);
}

/// A judgment that cannot be followed is told, and never followed at random.
#[test]
fn judgments_of_two_documents_or_of_no_query_are_said() {
    let folder = asked();
    folder.write("notes/c.md", "# Wells\n\nWells are deep.\n");
    folder.write("notes/c.html", "<h1>Wells</h1><p>Wells are dry.</p>");
    folder.run("index notes --db a.db --acl public").expect(0);
    let query = json!({"_id": "1", "text": "Which wells are deep?"});
    folder.write("set/queries.jsonl", query.to_string());
    let judge = |doc: &str| {
        let judgments = format!("query-id\tcorpus-id\tscore\n1\t{doc}\t1\n9\tnotes/a.md\t1\n");
        folder.write("set/qrels/test.tsv", judgments);
        folder.run("eval --db a.db --beir set --public --routes sparse -k 1")
    };
    let run = judge("notes/c").expect(2);
    for part in [
        "qrels/test.tsv",
        "query 1",
        "notes/c.html or notes/c.md",
        "ending",
    ] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
    let run = judge("notes/c.md").expect(0);
    assert!(run.err.contains("1 of the 2 queries"), "{}", run.err);
}

/// `é` as one character or as two, as some systems name files: the document is the same.
#[test]
fn documents_are_the_same_however_their_names_are_composed() {
    let folder = asked();
    let (composed, apart) = ("notes/caf\u{e9}.md", "notes/cafe\u{301}.md");
    folder.write(composed, "# Coffee\n\nBeans are roasted at dawn.\n");
    folder.run("index notes --db a.db --acl public").expect(0);
    let text = "When are beans roasted?";
    folder.write(
        "set/queries.jsonl",
        json!({"_id": "1", "text": text}).to_string(),
    );
    for name in [composed, apart, &apart.replace(".md", "")] {
        let judgments = format!("query-id\tcorpus-id\tscore\n1\t{name}\t1\n");
        folder.write("set/qrels/test.tsv", judgments);
        let eval = "eval --db a.db --beir set --public --routes sparse -k 1 --json";
        let report = folder.run(eval).expect(0).json();
        assert_eq!(metric(&report, "sparse", "recall@1")["mean"], 1.0, "{name}");
        if !name.ends_with(".md") {
            continue;
        }
        let question = json!({"id": "q", "type": "t", "split": "test", "lang": "en",
            "question": text, "answer": null, "near_miss": false,
            "evidence": [[{"doc": name, "phrase": "roasted at dawn"}]]});
        folder.write("named.jsonl", question.to_string());
        let eval = "eval --db a.db --questions named.jsonl --public --routes sparse -k 1 --json";
        let report = folder.run(eval).expect(0).json();
        for found in ["recall@1", "mrr", "ndcg@10"] {
            assert_eq!(
                metric(&report, "sparse", found)["mean"],
                1.0,
                "{name} {found}"
            );
        }
    }
}

#[test]
fn what_cannot_be_measured_is_said() {
    let folder = asked();
    folder.run("eval --db a.db --public").expect(2);
    let run = folder
        .run("eval --db a.db --questions questions.jsonl")
        .expect(2);
    assert!(
        run.err.contains("sees none of the documents"),
        "{}",
        run.err
    );
    folder
        .run("eval --db a.db --public --questions questions.jsonl --beir .")
        .expect(2);
    let eval = "eval --db a.db --public --questions questions.jsonl";
    let run = folder.run(&format!("{eval} --split dev")).expect(2);
    assert!(run.err.contains("--split"), "{}", run.err);
    folder.run(&format!("{eval} -k 101")).expect(2);
    folder.run(&format!("{eval} -k 0")).expect(2);
    folder.write("broken.jsonl", "{}\n");
    let run = folder
        .run("eval --db a.db --public --questions broken.jsonl")
        .expect(2);
    assert!(run.err.contains("broken.jsonl"), "{}", run.err);
}
