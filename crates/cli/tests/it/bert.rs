//! With a model. Needs the feature `torch` and the weights.

#[test]
fn a_model_finds_what_shares_no_word() {
    use std::io::Write;

    use crate::program::Folder;

    const MODEL: &str = "multilingual-e5-small";
    let models = std::env::var_os("CORNU_MODELS").map(std::path::PathBuf::from);
    let there = models.is_some_and(|models| {
        models.join(MODEL).is_dir() || models.join(format!("{MODEL}-q4")).is_dir()
    });
    if !there {
        assert!(
            std::env::var_os("CORNU_REQUIRE_MODELS").is_none_or(|value| value != "1"),
            "{MODEL} is required"
        );
        // Not `eprintln!`: the test harness swallows it when a test passes.
        let why = format!("SKIPPED a_model_finds_what_shares_no_word: no {MODEL} in CORNU_MODELS");
        let _ = writeln!(std::io::stderr(), "{why}");
        return;
    }
    let folder = Folder::with_sources();
    folder.write(
        "notes/lunch.md",
        "# Lunch\n\nThe canteen serves soup at noon.\n",
    );
    let embedder = format!("--embedder bert:{MODEL}");
    folder
        .run(&format!("index notes --db b.db --acl public {embedder}"))
        .expect(0);
    let arguments = format!("--db b.db --public --route dense -k 1 --json {embedder}");
    let found = folder
        .asks("search", "Where do people eat?", &arguments)
        .expect(0)
        .json();
    assert_eq!(found["hits"][0]["chunk"]["doc"], "notes/lunch.md");
    // Its similarities have their own scale.
    let run = folder.asks(
        "ask",
        "Where do people eat?",
        &format!("--db b.db --public {embedder}"),
    );
    assert!(run.expect(2).err.contains("--threshold"));
    // The index holds this model's vectors.
    folder
        .asks("search", "soup", "--db b.db --public")
        .expect(2);
}
