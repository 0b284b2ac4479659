//! `cornu search`, `ask`, `explain` and `calibrate`.

use crate::program::{Folder, GUIDE};

const QUESTION: &str = "When to call zero_grad?";

#[test]
fn an_answer_cites_its_source() {
    let folder = Folder::indexed();
    let run = folder
        .asks("ask", QUESTION, "--db all.db --group public")
        .expect(0);
    assert!(
        run.out
            .contains("Call `zero_grad` before each backward pass"),
        "{}",
        run.out
    );
    assert!(
        run.out
            .contains("] notes/guide.md § Training › Gradients, line 5 (chunk "),
        "{}",
        run.out
    );
    assert!(run.err.contains("knows words, not meaning"), "{}", run.err);
    assert!(run.err.contains("nobody fitted"), "{}", run.err);
    let json = folder
        .asks("ask", QUESTION, "--db all.db --public --json")
        .expect(0)
        .json();
    let citation = &json["outcome"]["answered"]["statements"][0]["citation"];
    assert_eq!(citation["doc"], "notes/guide.md");
    assert!(GUIDE.contains(citation["quote"].as_str().unwrap()));
    let run = folder
        .asks("ask", "怎么清空梯度？", "--db all.db --public --quiet")
        .expect(0);
    assert!(
        run.out
            .contains("notes/zh/handbook.md § 自动微分 › 清空梯度, line 5"),
        "{}",
        run.out
    );
    assert_eq!(run.err, "");
}

#[test]
fn a_refusal_is_told_by_its_exit_code() {
    let folder = Folder::indexed();
    let pay = "What is the salary band of senior engineers?";
    let run = folder.asks("ask", pay, "--db all.db --public").expect(3);
    assert!(run.out.starts_with("No answer: "), "{}", run.out);
    let run = folder
        .asks("ask", pay, "--db all.db --public --json")
        .expect(3);
    assert_eq!(
        run.json()["outcome"]["refused"]["reason"]["kind"],
        "below_threshold"
    );
    let run = folder.asks("ask", pay, "--db all.db --group hr").expect(0);
    assert!(
        run.out.contains("hr/pay.md § Salaries, line 3"),
        "{}",
        run.out
    );
    let run = folder
        .asks("search", "zzzz", "--db all.db --public --route sparse")
        .expect(3);
    assert_eq!(run.out, "Nothing found.\n");
}

#[test]
fn an_asker_without_grants_sees_nothing() {
    let folder = Folder::indexed();
    for command in ["search", "ask"] {
        let run = folder.asks(command, QUESTION, "--db all.db").expect(3);
        assert!(run.err.contains("--group"), "{}", run.err);
        assert!(!run.out.contains("guide"), "{}", run.out);
    }
    let run = folder
        .asks("search", QUESTION, "--db all.db --json")
        .expect(3);
    assert_eq!(run.json()["hits"].as_array().map(Vec::len), Some(0));
}

/// Non-interference from outside: every byte that a public asker gets is that of an index which
/// never held the other folder.
#[test]
fn what_the_asker_may_not_see_changes_no_byte() {
    let folder = Folder::indexed();
    folder
        .run("index notes --db notes.db --acl public")
        .expect(0);
    let mut differ = 0;
    let mut asked = 0;
    for (question, formats) in [
        (QUESTION, &["", "--json"][..]),
        ("What is the salary band of senior engineers?", &["--json"]),
    ] {
        for (command, options) in [
            ("search", ""),
            ("search", "--route dense"),
            ("search", "--route sparse -k 1"),
            ("ask", ""),
            ("ask", "--threshold -1"),
            ("ask", "--segments balanced"),
            ("explain", ""),
            ("explain", "--threshold 0.3"),
        ] {
            for format in formats {
                let run = |db: &str, who: &str| {
                    let arguments = format!("--db {db} {who} {options} {format}");
                    let run = folder.asks(command, question, &arguments);
                    (run.code, run.out, run.err)
                };
                let full = run("all.db", "--public");
                assert_eq!(
                    full,
                    run("notes.db", "--public"),
                    "{command} {options} {question}"
                );
                if *format == "--json" {
                    differ += usize::from(full != run("all.db", "--public --group hr"));
                    asked += 1;
                }
            }
        }
    }
    // The hidden folder does bear on these questions: who sees it gets something else.
    assert!(differ * 2 > asked, "{differ} of {asked}");
}

#[test]
fn an_explanation_shows_routes_and_with_a_threshold_the_decision() {
    let folder = Folder::indexed();
    let run = folder
        .asks("explain", QUESTION, "--db all.db --public")
        .expect(0);
    assert!(
        run.out.contains("dense") && run.out.contains("sparse"),
        "{}",
        run.out
    );
    let arguments = "--db all.db --public --threshold 0.99 --json";
    let json = folder.asks("explain", QUESTION, arguments).expect(3).json();
    assert!(
        json["trace"]
            .to_string()
            .contains("out: below the threshold"),
        "{json}"
    );
    assert!(!json.to_string().contains("hr/"), "{json}");
}

#[test]
fn a_threshold_is_fitted_and_used() {
    let folder = Folder::indexed();
    let line = |id: u32, question: &str, evidence: &str| {
        format!(
            "{{\"id\": \"q{id}\", \"type\": \"t\", \"split\": \"dev\", \"lang\": \"en\", \
             \"question\": \"{question}\", \"answer\": null, \"evidence\": {evidence}, \
             \"near_miss\": false}}\n"
        )
    };
    let evidence = "[[{\"doc\": \"notes/guide.md\", \"phrase\": \"zero_grad\"}]]";
    let questions = line(1, QUESTION, evidence) + &line(2, "Who won the race?", "[]");
    folder.write("questions.jsonl", questions);
    let arguments = "calibrate --db all.db --public --questions questions.jsonl -o t.json";
    let run = folder
        .run(&format!("{arguments} --false-answers 0.5"))
        .expect(0);
    assert!(
        run.out.contains("1 with an answer, 1 without"),
        "{}",
        run.out
    );
    let run = folder
        .run(&format!("{arguments} --false-answers 0.5 --json"))
        .expect(0);
    assert_eq!(run.json()["threshold"]["origin"]["set"], "questions");
    let ask = "--db all.db --public --threshold t.json";
    let run = folder.asks("ask", QUESTION, ask).expect(0);
    assert!(!run.err.contains("nobody fitted"), "{}", run.err);
    folder.asks("ask", "Who won the race?", ask).expect(3);
    // The asker sees something else than it was fitted on.
    let run = folder
        .asks("ask", QUESTION, &format!("{ask} --group hr"))
        .expect(0);
    assert!(run.err.contains("other documents"), "{}", run.err);
    // No question of that split.
    let run = folder.run(&format!("{arguments} --split test")).expect(2);
    assert!(run.err.contains("questions with an answer"), "{}", run.err);
}

#[test]
fn a_threshold_that_is_none_is_refused() {
    let folder = Folder::indexed();
    folder.write("t.json", "{}");
    for threshold in ["7", "absent.json", "t.json"] {
        let arguments = format!("--db all.db --public --threshold {threshold}");
        let run = folder.asks("ask", QUESTION, &arguments).expect(2);
        assert!(run.err.contains(threshold), "{}", run.err);
        assert_eq!(run.out, "");
    }
}

#[test]
fn an_index_that_is_not_there_is_not_made() {
    let folder = Folder::empty();
    for command in ["search", "ask", "explain"] {
        let run = folder
            .asks(command, QUESTION, "--db absent.db --public")
            .expect(2);
        assert!(run.err.contains("absent.db"), "{}", run.err);
        assert!(run.err.contains("cornu index"), "{}", run.err);
    }
    assert!(!folder.path().join("absent.db").exists());
}

/// Beside an answer the run around it; beside a refusal nothing.
#[test]
fn an_answer_comes_with_the_runs_around_it() {
    let folder = Folder::with_sources();
    let pump = "# Pump\n\n## Start\n\nOpen the valve of the pump slowly.\n\n## Check\n\n\
        Read the pressure behind the valve of the pump.\n";
    folder.write("pumps/pump.md", pump);
    folder.run("index pumps --db p.db --acl public").expect(0);
    let question = "Open the valve of the pump?";
    let ask =
        |options: &str| folder.asks("ask", question, &format!("--db p.db --public {options}"));

    let plain = ask("").expect(0);
    assert_eq!(plain.out, ask("--segments off").expect(0).out);
    let with = ask("--segments balanced").expect(0);
    assert!(with.out.starts_with(&plain.out), "{}", with.out);
    assert!(
        with.out
            .contains("\n[S1] pumps/pump.md § Pump, lines 3-9 (value "),
        "{}",
        with.out
    );
    assert!(
        with.out.contains(pump.trim_start_matches("# Pump").trim()),
        "{}",
        with.out
    );

    let json = ask("--segments find-all --json").expect(0).json();
    let run = &json["segments"]["runs"][0];
    assert_eq!(run["lines"]["first"], 3);
    assert_eq!(run["chunks"][0]["value"]["rank"], 1);
    assert!(json["outcome"]["answered"].is_object());
    assert!(ask("--json").expect(0).json().get("segments").is_none());

    let refused = folder
        .asks(
            "ask",
            "zzzz",
            "--db p.db --public --segments balanced --json",
        )
        .expect(3);
    assert!(refused.json().get("segments").is_none());

    let explained = folder
        .asks(
            "explain",
            question,
            "--db p.db --public --segments precision",
        )
        .expect(0);
    assert!(
        explained.out.contains("\nvalues: question = 1"),
        "{}",
        explained.out
    );
    assert!(
        explained.out.contains("\nrun: place = 1"),
        "{}",
        explained.out
    );
}
