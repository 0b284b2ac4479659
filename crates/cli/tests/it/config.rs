//! The configuration file, the environment, and which of them wins.

use serde_json::{Value, json};

use crate::program::{Folder, Run};

fn settings(run: &Run) -> Value {
    let listed = run.json();
    let pair = |it: &Value| {
        let key = it["key"].as_str().unwrap().to_owned();
        (key, json!([it["values"], it["origin"]]))
    };
    listed.as_array().unwrap().iter().map(pair).collect()
}

#[test]
fn a_file_in_the_folder_gives_what_the_flags_do_not() {
    let folder = Folder::with_sources();
    folder.write(
        "cornu.toml",
        "# ours\ndb = \"all.db\"\nacl = [\"public\"]\ngroup = [\"public\"]\nprune = true\n",
    );
    folder.run("index notes").expect(0);
    let run = folder.asks("search", "zero_grad", "").expect(0);
    assert!(run.out.contains("notes/guide.md"), "{}", run.out);
    std::fs::remove_file(folder.path().join("notes/guide.md")).unwrap();
    let run = folder.run("index notes --json").expect(0);
    assert_eq!(run.json()["removed"], json!(["notes/guide.md"]));
    // A flag wins, also over a list.
    folder.asks("search", "zero_grad", "--group hr").expect(3);
    folder
        .asks("search", "zero_grad", "--db other.db")
        .expect(2);
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let folder = Folder::empty();
    folder.write(
        "cornu.toml",
        "route = \"dense\"\nembedder = \"hash\"\n\nthreshold = 0.25\n",
    );
    // Numbers are read as TOML has them.
    folder.write(
        "numbers.toml",
        "chat-timeout = 0x1e\nchat-context = 2_000\n",
    );
    let shown = settings(&folder.run("config --json --config numbers.toml").expect(0));
    assert_eq!(shown["chat-timeout"][0], json!(["30"]));
    assert_eq!(shown["chat-context"][0], json!(["2000"]));
    let config = |name: &str, value: &str| {
        let mut command = folder.command();
        command.args(["config", "--json"]).env(name, value);
        Run::from(command.output().unwrap()).expect(0)
    };
    let shown = settings(&config("CORNU_ROUTE", "sparse"));
    assert_eq!(
        shown["route"],
        json!([["sparse"], "environment CORNU_ROUTE"])
    );
    assert_eq!(shown["threshold"], json!([["0.25"], "cornu.toml:4"]));
    assert_eq!(shown["embedder"], json!([["hash"], "cornu.toml:2"]));
    assert_eq!(
        shown["routes"],
        json!([["dense,sparse,hybrid"], "built in"])
    );
    // Lists are parted by commas, switches are true or false, an empty variable is none.
    let shown = settings(&config("CORNU_GROUP", "hr,public"));
    assert_eq!(shown["group"][0], json!(["hr", "public"]));
    let shown = settings(&config("CORNU_PRUNE", "yes"));
    assert_eq!(shown["prune"][0], json!(["true"]));
    let shown = settings(&config("CORNU_ROUTE", ""));
    assert_eq!(shown["route"][1], "cornu.toml:1");
    let text = folder.run("config").expect(0).out;
    assert!(
        text.contains("route             dense                     cornu.toml:1"),
        "{text}"
    );
    let mut command = folder.command();
    command.arg("config").env("CORNU_PRUNE", "perhaps");
    let run = Run::from(command.output().unwrap()).expect(2);
    assert!(run.err.contains("CORNU_PRUNE"), "{}", run.err);
}

#[test]
fn a_file_that_is_named_counts_from_its_folder() {
    let folder = Folder::with_sources();
    folder.write(
        "etc/ours.toml",
        "db = \"our.db\"\nacl = \"public\"\npublic = true\n",
    );
    folder.write("cornu.toml", "db = \"nobody-reads-this.db\"\n");
    folder.run("index notes --config etc/ours.toml").expect(0);
    assert!(folder.path().join("etc/our.db").is_file());
    folder
        .run("--config=etc/ours.toml search zero_grad")
        .expect(0);
    let mut command = folder.command();
    command
        .args(["search", "zero_grad"])
        .env("CORNU_CONFIG", "etc/ours.toml");
    Run::from(command.output().unwrap()).expect(0);
    let run = folder.run("stats --config absent.toml").expect(2);
    assert!(run.err.contains("absent.toml"), "{}", run.err);
}

#[test]
fn what_is_wrong_is_told_with_file_line_and_key() {
    let folder = Folder::empty();
    for (text, words) in [
        (
            "db = \"a.db\"\nembeder = \"hash\"\n",
            "cornu.toml:2: `embeder` is no key; did you mean `embedder`?",
        ),
        (
            "zzz = 1\n",
            "cornu.toml:1: `zzz` is no key; keys are the long flags",
        ),
        (
            "\nprune = \"yes\"\n",
            "cornu.toml:2: `prune` is \"yes\"; it is a switch: give true or false",
        ),
        ("prune = 1\n", "cornu.toml:1: `prune` is 1; it is a switch"),
        (
            "db = [\"a\", \"b\"]\n",
            "cornu.toml:1: `db` is [\"a\", \"b\"]; give one value, text",
        ),
        (
            "acl = [[\"a\"]]\n",
            "cornu.toml:1: `acl` is [[\"a\"]]; give text, or a list of such",
        ),
        (
            "acl = {a = 1}\n",
            "cornu.toml:1: `acl` is {a = 1}; give text",
        ),
        (
            "db = 1979-05-27\n",
            "cornu.toml:1: `db` is 1979-05-27; give text",
        ),
        // A number is no name.
        ("\ndb = 3\n", "cornu.toml:2: `db` is 3; give text: \"3\""),
        ("acl = [7]\n", "cornu.toml:1: `acl` is [7]; give text"),
        (
            "embedder = 0.5\n",
            "cornu.toml:1: `embedder` is 0.5; give text: \"0.5\"",
        ),
        (
            "threshold = true\n",
            "cornu.toml:1: `threshold` is true; give text or a number",
        ),
        // Checked for all commands at once.
        (
            "top-k = 0\n",
            "cornu.toml:1: `top-k` is 0; give a whole number, at least 1",
        ),
        (
            "recall-at = [1, 2.5]\n",
            "cornu.toml:1: `recall-at` is [1, 2.5]; give a whole number, at least 1",
        ),
        (
            "chat-max-tokens = 99999999999999999999\n",
            "`chat-max-tokens` is 99999999999999999999; give a number of at most 64 bits",
        ),
        (
            "chat-timeout = [\n  1,\n  2,\n]\n",
            "cornu.toml:1: `chat-timeout` is [\\n  1,\\n  2,\\n]; give one value, a number",
        ),
        (
            "false-answers = nan\n",
            "cornu.toml:1: `false-answers` is nan; give a number between 0 and 1",
        ),
        (
            "group = [\"a\", \" b\"]\n",
            "cornu.toml:1: `group` is [\"a\", \" b\"]; the grant \" b\" begins or ends with white",
        ),
        (
            "root = \"\"\n",
            "cornu.toml:1: `root` is \"\"; give a value",
        ),
        (
            "tables = 1\n",
            "cornu.toml:1: `tables` is 1; give one of rows, columns, text",
        ),
        (
            "routes = \"dense,spase\"\n",
            "`routes` is \"dense,spase\"; give one of dense, sparse, hybrid, hop, auto, or a list of such",
        ),
        (
            "route = \"densee\"\n",
            "cornu.toml:1: `route` is \"densee\"; give one of dense, sparse, hybrid, hop, auto",
        ),
        ("config = \"other.toml\"\n", "`config` is no key"),
        ("db = \n", "cornu.toml is not TOML"),
        ("[index]\nacl = []\n", "cornu.toml:1: `index` is no key"),
        // What leaves the machine is not for a file that merely lies there.
        (
            "send = \"everything\"\n",
            "cornu.toml:1: `send` is for a file that is named",
        ),
    ] {
        folder.write("cornu.toml", text);
        let run = folder.run("search zero_grad --db a.db --public").expect(2);
        assert!(run.err.contains(words), "{text:?}: {}", run.err);
    }
    folder.run("config --config cornu.toml --json").expect(0);
    // Help is given whatever the settings are.
    folder.write("cornu.toml", "route = 1\n");
    folder.run("search --help").expect(0);
    folder.run("stats").expect(2);
    // What one command takes and another does not.
    folder.write("cornu.toml", "route = \"sparse\"\n");
    let run = folder.run("ask q --db a.db --public").expect(2);
    assert!(
        run.err.contains("route is set by cornu.toml:1"),
        "{}",
        run.err
    );
}

#[test]
fn what_is_wrong_in_the_environment_is_told_with_its_name() {
    let folder = Folder::empty();
    for (name, value, words) in [
        (
            "CORNU_ROUTE",
            "xx",
            "CORNU_ROUTE is \"xx\"; give one of dense,",
        ),
        (
            "CORNU_PRUNE",
            "perhaps",
            "CORNU_PRUNE is \"perhaps\"; give true or false",
        ),
        (
            "CORNU_TOP_K",
            "0",
            "CORNU_TOP_K is \"0\"; give a whole number, at least 1",
        ),
        (
            "CORNU_GROUP",
            ",a",
            "CORNU_GROUP is \",a\"; a grant is empty",
        ),
        ("CORNU_FALSE_ANSWERS", "x", "give a number between 0 and 1"),
    ] {
        let mut command = folder.command();
        command.arg("config").env(name, value);
        let run = Run::from(command.output().unwrap()).expect(2);
        assert!(run.err.contains(words), "{name}={value}: {}", run.err);
    }
}

/// How many hits is a setting like any other.
#[test]
fn short_flags_have_keys_too() {
    let folder = Folder::indexed();
    folder.write("cornu.toml", "db = \"all.db\"\npublic = true\ntop-k = 1\n");
    let hits = |more: &str| {
        let run = folder
            .run(&format!("search zero_grad --json {more}"))
            .expect(0);
        run.json()["hits"].as_array().unwrap().len()
    };
    assert_eq!(hits(""), 1);
    assert_eq!(hits("-k 2"), 2);
    assert_eq!(hits("--top-k 2"), 2);
    // It gives way to a threshold, with which it makes no sense.
    folder.run("explain zero_grad --threshold 0.1").expect(0);
}

#[test]
fn a_setting_gives_way_to_a_flag_that_conflicts_with_it() {
    let folder = Folder::indexed();
    folder.write(
        "cornu.toml",
        "db = \"all.db\"\npublic = true\nthreshold = 0.3\nfalse-refusals = 0.2\n",
    );
    // -k conflicts with --threshold.
    folder.run("explain zero_grad -k 2").expect(0);
    // Without it the threshold holds, and refuses.
    folder.run("explain zero_grad").expect(3);
    folder.write("q.jsonl", "{}\n");
    let run = folder
        .run("calibrate --questions q.jsonl --false-answers 0.1 -o t.json")
        .expect(2);
    assert!(run.err.contains("q.jsonl"), "{}", run.err);
    folder.write(
        "cornu.toml",
        "db = \"all.db\"\npublic = true\nquestions = \"q.jsonl\"\n",
    );
    let run = folder.run("eval --beir absent").expect(2);
    assert!(run.err.contains("absent"), "{}", run.err);
}
