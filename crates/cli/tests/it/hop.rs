//! `--extract` and `--route hop`.

use crate::program::Folder;

const QUESTION: &str = "How are Alpha Capital and Gamma Systems related?";

/// A chain of which the middle names nothing of the question, and others of the same kind.
fn folder() -> Folder {
    let folder = Folder::empty();
    folder.write("docs/a.md", "Alpha Capital owns Star Holdings.\n");
    folder.write(
        "docs/b.md",
        "Star Holdings is the sole parent of Horizon Trust.\n",
    );
    folder.write("docs/c.md", "Horizon Trust bought Gamma Systems.\n");
    for at in 0..12 {
        let text = format!("Vega{at} Capital and Lyra{at} Systems are related to the region.\n");
        folder.write(&format!("docs/d{at:02}.md"), text);
    }
    folder
}

#[test]
fn the_hop_route_finds_what_the_hybrid_does_not_and_says_how() {
    let folder = folder();
    let index = "index docs --db h.db --acl public --extract rules";
    // What is new is read as it is written, so there is nothing to tell of.
    let run = folder.run(index).expect(0);
    assert!(!run.err.contains("names and statements of"), "{}", run.err);
    let found = |route: &str| {
        let arguments = format!("--db h.db --public --json -k 3 --route {route}");
        let json = folder.asks("search", QUESTION, &arguments).expect(0).json();
        let hits = json["hits"].as_array().unwrap().clone();
        let names = hits.iter().map(|hit| hit["chunk"]["doc"].to_string());
        names.collect::<Vec<_>>()
    };
    let bridge = "\"docs/b.md\"".to_owned();
    assert!(!found("hybrid").contains(&bridge));
    assert!(found("hop").contains(&bridge));

    let explained = folder
        .asks("explain", QUESTION, "--db h.db --public --route hop")
        .expect(0);
    assert!(explained.out.contains("hop: k = 10"), "{}", explained.out);
    assert!(explained.out.contains("from the name"), "{}", explained.out);
    assert!(explained.out.contains("Star Holdings"), "{}", explained.out);

    let ask = "--db h.db --public --threshold -1 --route hop";
    let answered = folder.asks("ask", QUESTION, ask).expect(0);
    assert!(answered.out.contains("docs/"), "{}", answered.out);
    let explained = folder.asks("explain", QUESTION, ask).expect(0);
    assert!(explained.out.contains("hop: k = 6"), "{}", explained.out);

    // It can be measured like the others.
    let question = serde_json::json!({
        "id": "1", "type": "hop", "split": "test", "lang": "en", "question": QUESTION,
        "answer": "", "near_miss": false,
        "evidence": [[{"doc": "docs/b.md", "phrase": "sole parent"}]],
    });
    folder.write("q.jsonl", format!("{question}\n"));
    let eval = "eval --db h.db --public --questions q.jsonl --routes hybrid,hop -k 3 --json";
    let report = folder.run(eval).expect(0).json();
    assert_eq!(report["routes"][1]["route"], "hop", "{report}");
    let recall = &report["routes"][1]["metrics"];
    let recall = recall.as_array().unwrap().iter();
    let mut recall = recall.filter(|metric| metric["metric"] == "recall@3");
    assert_eq!(recall.next().unwrap()["mean"], 1.0, "{report}");
}

#[test]
fn an_index_without_extractions_says_what_to_run() {
    let folder = folder();
    folder.run("index docs --db h.db --acl public").expect(0);
    for command in ["search", "ask", "explain"] {
        let run = folder
            .asks(command, QUESTION, "--db h.db --public --route hop")
            .expect(2);
        assert_eq!(run.out, "");
        assert!(
            run.err.contains("cornu index --extract rules"),
            "{command}: {}",
            run.err
        );
        assert!(!run.err.contains("complete_extractions"), "{}", run.err);
    }
    // Said and done: what is in the index already is read, too.
    let again = "index docs --db h.db --acl public --extract rules";
    let run = folder.run(again).expect(0);
    assert!(run.out.contains("15 as before"), "{}", run.out);
    assert!(run.err.contains("15 chunks"), "{}", run.err);
    folder
        .asks("search", QUESTION, "--db h.db --public --route hop")
        .expect(0);
    folder.run("doctor --db h.db").expect(0);
}

#[test]
fn hop_takes_no_reranker() {
    let folder = folder();
    folder.run("index docs --db h.db --acl public").expect(0);
    for command in ["search", "ask", "explain"] {
        let arguments = "--db h.db --public --route hop --rerank maxsim";
        let run = folder.asks(command, QUESTION, arguments).expect(2);
        assert!(run.err.contains("hybrid"), "{command}: {}", run.err);
    }
}

#[test]
fn auto_takes_one_of_two_routes_and_says_why() {
    let folder = folder();
    folder
        .run("index docs --db h.db --acl public --extract rules")
        .expect(0);
    let hits = |route: &str, question: &str| {
        let arguments = format!("--db h.db --public --json -k 3 --route {route}");
        let json = folder.asks("search", question, &arguments).expect(0).json();
        json["hits"].clone()
    };
    let nameless = "which regions are related?";
    let auto = "--db h.db --public --route auto";
    for question in [QUESTION, nameless] {
        let explained = folder.asks("explain", question, auto).expect(0).out;
        let route = explained
            .lines()
            .find(|line| line.contains("asked = \"auto\""));
        let route = route.unwrap_or_else(|| panic!("{explained}"));
        assert!(route.contains("reasons"), "{route}");
        let taken = ["hop", "hybrid"]
            .into_iter()
            .find(|name| route.contains(&format!("taken = \"{name}\"")));
        let taken = taken.unwrap_or_else(|| panic!("{route}"));
        assert_eq!(hits("auto", question), hits(taken, question));
        // Without a name there is nothing to walk from.
        assert!(question != nameless || taken == "hybrid", "{route}");
        let ask = "--db h.db --public --threshold -1 --route auto --json";
        let asked = folder.asks("ask", question, ask).expect(0).json();
        assert!(asked["trace"].to_string().contains(taken), "{asked}");
    }
    for route in ["dense", "auto"] {
        let ask = format!("--db h.db --public --threshold -1 --route {route}");
        let answered = folder.asks("ask", nameless, &ask).expect(0);
        assert!(answered.out.contains("docs/"), "{}", answered.out);
        let with = format!("{ask} --rerank maxsim");
        let refused = folder.asks("ask", nameless, &with).expect(2);
        assert!(refused.err.contains("hybrid"), "{}", refused.err);
    }
}
