//! `--rerank`, without a model and with one.

use crate::program::Folder;

const QUESTION: &str = "When to call zero_grad?";

#[test]
fn none_is_the_default_and_changes_no_byte() {
    let folder = Folder::indexed();
    for command in ["search", "ask", "explain"] {
        let plain = folder
            .asks(command, QUESTION, "--db all.db --public --json")
            .expect(0);
        let none = folder
            .asks(
                command,
                QUESTION,
                "--db all.db --public --json --rerank none",
            )
            .expect(0);
        assert_eq!(plain.out, none.out, "{command}");
        assert!(!plain.out.contains("second"));
    }
}

#[test]
fn a_reranker_that_cannot_be_says_what_it_needs() {
    let folder = Folder::indexed();
    let error = |arguments: &str| {
        let arguments = format!("--db all.db --public {arguments}");
        let run = folder.asks("search", QUESTION, &arguments).expect(2);
        assert_eq!(run.out, "");
        run.err
    };
    // The carried cross-encoder is the default; with torch it may well be at hand.
    if cfg!(not(feature = "torch")) {
        for how in ["cross", "cascade"] {
            assert!(error(&format!("--rerank {how}")).contains("e5-zh-en-pair"));
        }
    }
    // The hash embedder has no token vectors.
    for how in ["maxsim", "staged"] {
        assert!(error(&format!("--rerank {how}")).contains("`bert` embedder"));
    }
    for how in ["none", "cross", "cascade"] {
        let said = error(&format!("--rerank {how} --rerank-tokens m"));
        assert!(said.contains("--rerank-tokens"), "{said}");
    }
    let two = error("--rerank maxsim --rerank-tokens a --rerank-model b");
    assert!(two.contains("one model"), "{two}");
    assert!(error("--rerank-model m").contains("--rerank cross"));
    assert!(error("--rerank-weight 0.5").contains("--rerank cross"));
    assert!(error("--rerank cross --rerank-weight 1.5").contains("from 0 to 1"));
    assert!(error("--rerank cross --rerank-model m --route dense").contains("--route hybrid"));
    assert!(error("--rerank best").contains("possible values"));
    for empty in ["--rerank-model", "--rerank-tokens"] {
        let said = error(&format!("--rerank maxsim {empty}="));
        assert!(said.contains(empty) && said.contains("value"), "{said}");
    }
    let said = error("--rerank cross --rerank-model nowhere/model");
    if cfg!(feature = "torch") {
        assert!(said.contains("nowhere/model"), "{said}");
    } else {
        assert!(said.contains("feature `torch`"), "{said}");
    }
}

#[test]
fn token_vectors_need_a_model_too() {
    let folder = Folder::with_sources();
    let run = folder
        .run("index notes --db t.db --acl public --tokens nowhere/model")
        .expect(2);
    assert!(run.err.contains("nowhere/model"), "{}", run.err);
    assert!(!folder.path().join("t.db").exists());
}

/// Needs the feature `torch` and the weights.
#[cfg(feature = "torch")]
#[test]
fn late_interaction_reads_what_index_stored() {
    use std::io::Write;

    // An embedding model, and the carried projection with the base that it needs.
    const MODELS: [(&str, &str); 2] = [
        ("all-MiniLM-L6-v2", "all-MiniLM-L6-v2"),
        ("e5-zh-en-tokens", "multilingual-e5-small-q4"),
    ];
    let models = std::env::var_os("CORNU_MODELS").map(std::path::PathBuf::from);
    for (model, base) in MODELS {
        if !models
            .as_ref()
            .is_some_and(|models| models.join(base).is_dir())
        {
            assert!(
                std::env::var_os("CORNU_REQUIRE_MODELS").is_none_or(|value| value != "1"),
                "{base} is required"
            );
            // Not `eprintln!`: the test harness swallows it when a test passes.
            let why = "SKIPPED late_interaction_reads_what_index_stored: no model in CORNU_MODELS";
            let _ = writeln!(std::io::stderr(), "{why}");
            return;
        }
        let folder = Folder::with_sources();
        folder
            .run(&format!(
                "index notes --db t.db --acl public --tokens {model}"
            ))
            .expect(0);
        let arguments =
            format!("--db t.db --public --json --rerank maxsim --rerank-tokens {model}");
        let found = folder.asks("search", QUESTION, &arguments).expect(0).json();
        assert_eq!(found["hits"][0]["second"]["scale"], "max_sim");
        let trace = found["trace"].to_string();
        assert!(!trace.contains("\"with_stored_tokens\",0"), "{trace}");
        let same = arguments.replace("--rerank-tokens", "--rerank-model");
        assert_eq!(
            folder.asks("search", QUESTION, &same).expect(0).json(),
            found
        );
        let explained = folder.asks("explain", QUESTION, &arguments).expect(0);
        assert!(explained.out.contains("token_matches"), "{}", explained.out);
    }
}
