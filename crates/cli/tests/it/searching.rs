//! `cornu index --scan` and `--approximate`, and what other commands then say and do.

use crate::program::Folder;

const QUESTION: &str = "How many days of leave are there?";

/// The chunks that were found, their scores with every bit, and the trace.
fn found(folder: &Folder, command: &str) -> (Vec<(String, f64)>, String) {
    let run = folder.asks(command, QUESTION, "--db a.db --public --route dense --json");
    let json = run.expect(0).json();
    let hits = json["hits"].as_array().unwrap().iter();
    let hits = hits.map(|hit| {
        let id = hit["chunk"]["id"].as_str().unwrap().to_owned();
        (id, hit["score"].as_f64().unwrap())
    });
    (hits.collect(), json["trace"].to_string())
}

fn stats(folder: &Folder) -> (String, String, u64) {
    let stats = folder.run("stats --db a.db --json").expect(0).json();
    let text = |key: &str| stats[key].as_str().unwrap().to_owned();
    let bytes = stats["graph_bytes"].as_u64().unwrap();
    (text("scan"), text("approximate"), bytes)
}

#[test]
fn an_index_keeps_what_its_vectors_are_compared_in() {
    let folder = Folder::with_sources();
    folder.run("index notes --db a.db --acl public").expect(0);
    assert_eq!(stats(&folder), ("f32".to_owned(), "off".to_owned(), 0));
    let (plain, trace) = found(&folder, "search");
    assert!(plain.len() > 1 && !trace.contains("vectors"), "{trace}");

    for (scan, said) in [("int8", "int8, exact"), ("bits", "bits, approximate")] {
        let index = format!("index notes --db a.db --acl public --scan {scan}");
        folder.run(&index).expect(0);
        // As before, without the flag.
        folder.run("index notes --db a.db --acl public").expect(0);
        assert_eq!(stats(&folder), (scan.to_owned(), "off".to_owned(), 0));
        let (coded, trace) = found(&folder, "search");
        assert_eq!(
            coded, plain,
            "so few are scanned in full, and scores are exact"
        );
        assert!(trace.contains(said), "{trace}");
        let explained = folder.asks("explain", QUESTION, "--db a.db --public");
        let explained = explained.expect(0).out;
        assert!(
            explained.contains(&format!("vectors: scan = \"{said}\"")),
            "{explained}"
        );
        for command in ["doctor", "rebuild-index", "doctor"] {
            folder.run(&format!("{command} --db a.db")).expect(0);
        }
    }
    folder
        .run("index notes --db a.db --acl public --scan f32")
        .expect(0);
    assert_eq!(found(&folder, "search"), (plain, trace_of_f32(&folder)));
}

fn trace_of_f32(folder: &Folder) -> String {
    let (_, trace) = found(folder, "search");
    assert!(!trace.contains("vectors"), "{trace}");
    trace
}

#[test]
fn a_graph_is_built_while_it_is_asked_for() {
    let folder = Folder::with_sources();
    folder.run("index notes --db a.db --acl public").expect(0);
    let (plain, _) = found(&folder, "search");
    folder
        .run("index notes --db a.db --acl public --approximate hnsw")
        .expect(0);
    let graph = folder.path().join("a.db.hnsw");
    let (scan, approximate, bytes) = stats(&folder);
    assert_eq!((scan.as_str(), approximate.as_str()), ("f32", "hnsw"));
    assert_eq!(bytes, graph.metadata().unwrap().len());
    let text = folder.run("stats --db a.db").expect(0).out;
    assert!(
        text.contains(&format!("graph           {bytes} bytes")),
        "{text}"
    );
    let (hits, trace) = found(&folder, "search");
    assert_eq!(hits, plain, "too few for a walk");
    assert!(trace.contains("none: a narrow view"), "{trace}");

    // Other commands see to it as well, and the doctor looks at it.
    std::fs::remove_file(&graph).unwrap();
    folder.run("rebuild-index --db a.db").expect(0);
    let whole = std::fs::read(&graph).unwrap();
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    std::fs::write(&graph, &changed).unwrap();
    let told = folder.run("doctor --db a.db").expect(1).out;
    assert!(told.contains("a.db.hnsw: it is damaged"), "{told}");
    folder.run("rebuild-index --db a.db").expect(0);
    assert!(std::fs::read(&graph).unwrap() == whole);
    folder.run("doctor --db a.db").expect(0);

    folder
        .run("index notes --db a.db --acl public --approximate off")
        .expect(0);
    assert!(!graph.exists());
    assert_eq!(stats(&folder).1, "off");
}

#[test]
fn the_file_of_values_names_them_too_and_help_tells_what_is_given_up() {
    let folder = Folder::with_sources();
    folder.write(
        "cornu.toml",
        "db = \"a.db\"\nscan = \"int8\"\napproximate = \"hnsw\"\n",
    );
    folder.run("index notes --acl public").expect(0);
    let (scan, approximate, _) = stats(&folder);
    assert_eq!((scan.as_str(), approximate.as_str()), ("int8", "hnsw"));
    folder.write("cornu.toml", "scan = \"int4\"\n");
    let wrong = folder.run("index notes --db a.db --acl public").expect(2);
    assert!(wrong.err.contains("f32, int8, bits"), "{}", wrong.err);
    let help = folder.run("index --help").expect(0).out;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        help.contains("hidden chunks have a part in which visible ones are found"),
        "{help}"
    );
}

#[test]
fn what_is_kept_and_not_known_is_found_and_can_be_written_over() {
    let folder = Folder::with_sources();
    folder
        .run("index notes --db a.db --acl public --scan int8")
        .expect(0);
    // As a newer version may have kept it.
    let path = folder.path().join("a.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let kept = b"int8never";
    let at = bytes.windows(kept.len()).position(|window| window == kept);
    let at = at.unwrap();
    bytes[at..at + 4].copy_from_slice(b"int2");
    std::fs::write(&path, bytes).unwrap();

    let error = folder.asks("search", QUESTION, "--db a.db --public");
    assert!(error.expect(2).err.contains("int2"));
    let found = folder.run("doctor --db a.db").expect(1).out;
    assert!(
        found.contains("int2") && found.contains("--scan"),
        "{found}"
    );
    let json = folder.run("doctor --db a.db --json").expect(1).json();
    assert_eq!(json["findings"][0]["check"], "Searching");
    folder
        .run("index notes --db a.db --acl public --scan f32 --approximate off")
        .expect(0);
    folder.run("doctor --db a.db").expect(0);
    assert_eq!(stats(&folder).0, "f32");
}

#[test]
fn what_is_hidden_or_removed_since_has_no_part_in_the_centre() {
    let folder = Folder::empty();
    folder.write("notes/a.md", "Apples and pears are fruit.");
    folder.write("notes/b.md", "Bolts and nuts are of steel.");
    folder.write(
        "map.toml",
        "\"notes\" = [\"public\"]\n\"notes/b.md\" = [\"hr\"]\n",
    );
    let centre = |database: &str| folder.centre(database);
    let index = |rest: &str| folder.run(&format!("index {rest}")).expect(0);
    index("notes/a.md --db one.db --acl public --scan bits");
    index("notes --db a.db --acl public --scan bits");
    assert_ne!(centre("a.db"), centre("one.db"));
    index("notes --db a.db --acl-map map.toml");
    assert_eq!(centre("a.db"), centre("one.db"), "hidden");
    index("notes --db a.db --acl public");
    assert_ne!(centre("a.db"), centre("one.db"));
    folder.run("remove notes/b.md --db a.db").expect(0);
    assert_eq!(centre("a.db"), centre("one.db"), "removed");
}
