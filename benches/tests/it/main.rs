//! Rendering and the tree hash, on small made-up checkouts.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::process::Command as Program;

use cornu_benches::corpus::BenchData;
use cornu_benches::run::{self, Command};
use cornu_benches::table::render_sections;
use cornu_benches::tables::TABLES;
use cornu_benches::tree;
use cornu_eval::evidence::{Environment, Measure, Record, Row, Versions};

const README: &str = "before\n<!-- table:chunking -->\n<!-- /table:chunking -->\nafter\n";

fn record(name: &str, value: f64) -> Record {
    let mut record = Record::measured(name, Environment::detect(&Versions::default()));
    record.measured_tree = "0".repeat(64);
    let dataset = match name {
        "chunking" => "autograd",
        "embedding" => "synonyms-zh",
        "fusion" => "ext-all",
        "hoprag" => "audit-hash",
        "multihop" => "audit",
        "pool" => "narrow-read-1",
        "hnsw" | "store" => "clustered-1000",
        "segments" => "segments",
        "tables" => "answer-all",
        _ => "questions-20",
    };
    let mut row = Row::measured(dataset, "fixed");
    row.metrics
        .insert("recall@5".to_owned(), Measure::exact(value, "fraction", 17));
    record.rows.push(row);
    record
}

fn checkout(value: f64) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for name in ["README.md", "README.zh-CN.md"] {
        fs::write(root.path().join(name), README).unwrap();
    }
    fs::create_dir_all(root.path().join("docs/evidence")).unwrap();
    for table in TABLES {
        let path = root
            .path()
            .join(format!("docs/evidence/{}.json", table.name()));
        record(table.name(), value).write(&path).unwrap();
    }
    root
}

#[test]
fn pages_are_what_the_records_render_to_and_nothing_else() {
    let root = checkout(0.25);
    let root = root.path();
    assert!(
        !run::rendering_differences(root, &TABLES)
            .unwrap()
            .is_empty()
    );
    assert!(run::run(root, &[], Command::Render).unwrap());
    assert_eq!(
        run::rendering_differences(root, &TABLES).unwrap(),
        Vec::<String>::new()
    );
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    assert!(readme.starts_with("before\n") && readme.ends_with("after\n"));
    assert!(readme.contains("| 0.25 |"));

    // A figure typed by hand, in a page or in a README, is a difference.
    for page in ["docs/tables/chunking.md", "README.md", "README.zh-CN.md"] {
        let path = root.join(page);
        let rendered = fs::read_to_string(&path).unwrap();
        fs::write(&path, rendered.replace("| 0.25", "| 0.95")).unwrap();
        let differences = run::rendering_differences(root, &TABLES).unwrap();
        assert!(
            matches!(differences.as_slice(), [one] if one.contains(page)),
            "{differences:?}"
        );
        fs::write(&path, rendered).unwrap();
    }

    // So is a record that was changed without rendering.
    record("chunking", 0.75)
        .write(&root.join("docs/evidence/chunking.json"))
        .unwrap();
    assert_eq!(run::rendering_differences(root, &TABLES).unwrap().len(), 3);
}

/// A figure in a sentence is the record's: what was typed by hand is a difference, and is mended.
#[test]
fn figures_in_sentences_come_from_the_records() {
    let root = checkout(0.25);
    let root = root.path();
    let path = root.join("docs/LIMITS.md");
    let page = |figure: [&str; 5]| {
        let [plain, percent, ratio, count, n] = figure;
        format!(
            "It finds <!--fig chunking autograd fixed recall@5-->{plain}<!--/fig-->, or \
             <!--fig chunking autograd fixed recall@5:percent 1-->{percent}<!--/fig-->,\n\
             <!--fig chunking autograd fixed recall@5 / fusion ext-all fixed recall@5:fixed 1-->\
             {ratio}<!--/fig--> times, \
             <!--fig chunking autograd fixed recall@5:count-->{count}<!--/fig--> of \
             <!--fig chunking autograd fixed recall@5:n-->{n}<!--/fig-->.\n"
        )
    };
    fs::write(&path, page(["0.95", "", "2.0", "16", "17"])).unwrap();
    let _ = run::run(root, &[], Command::Render).unwrap();
    let rendered = page(["0.250", "25.0 %", "1.0", "4", "17"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), rendered);
    // Rendering one table keeps the figures of all.
    record("fusion", 0.5)
        .write(&root.join("docs/evidence/fusion.json"))
        .unwrap();
    let differences = run::rendering_differences(root, &TABLES[..1]).unwrap();
    assert!(
        matches!(differences.as_slice(), [one] if one.contains("LIMITS.md")),
        "{differences:?}"
    );

    // Of several rows the least or the most.
    let mut several = record("pool", 0.3);
    for (dataset, value) in [
        ("bm25-read-1", 0.2),
        ("bm25-write-1", 0.5),
        ("machine", 0.9),
    ] {
        let mut row = Row::measured(dataset, "fixed");
        let measure = Measure::exact(value, "fraction", 1);
        row.metrics.insert("recall@5".to_owned(), measure);
        several.rows.push(row);
    }
    several
        .write(&root.join("docs/evidence/pool.json"))
        .unwrap();
    let range = |least: &str, most: &str| {
        let names = "pool bm25-*|narrow-*-1 fixed recall@5";
        format!(
            "<!--fig {names}:least fixed 1-->{least}<!--/fig--> to \
             <!--fig {names}:most fixed 1-->{most}<!--/fig-->\n"
        )
    };
    fs::write(&path, range("", "")).unwrap();
    let _ = run::run(root, &[], Command::Render).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), range("0.2", "0.5"));

    for (wrong, because) in [
        (
            "<!--fig pool bm25-* fixed recall@5:fixed 1-->1<!--/fig-->",
            "names 2 rows",
        ),
        (
            "<!--fig chunking autograd fixed recall@5-->0.25",
            "no `<!--/fig-->`",
        ),
        (
            "<!--fig chunking autograd fixed-->1<!--/fig-->",
            "four names",
        ),
        (
            "<!--fig chunked a b c-->1<!--/fig-->",
            "no table \"chunked\"",
        ),
        ("<!--fig chunking a b c-->1<!--/fig-->", "no row a / b"),
        (
            "<!--fig chunking autograd fixed mrr-->1<!--/fig-->",
            "there are recall@5",
        ),
        (
            "<!--fig chunking autograd fixed recall@5:interval-->1<!--/fig-->",
            "no interval",
        ),
        (
            "<!--fig chunking autograd fixed recall@5:fixed x-->1<!--/fig-->",
            "number of digits",
        ),
        (
            "<!--fig chunking autograd fixed recall@5:red-->1<!--/fig-->",
            "no way to write",
        ),
    ] {
        fs::write(&path, format!("One.\n{wrong}\n")).unwrap();
        let error = run::rendering_differences(root, &TABLES).unwrap_err();
        let said = format!("{error:#}");
        assert!(said.contains("LIMITS.md: line 2"), "{said}");
        assert!(said.contains(because), "{said}");
    }
}

/// A page of several sections holds each row once, under the heading of its data set.
#[test]
fn a_row_stands_in_one_section() {
    for table in TABLES {
        let sections = table.sections();
        for printed in table.printed() {
            let places = printed.dataset.as_deref().map(|dataset| {
                let holding = sections.iter().filter(|section| section.holds(dataset));
                holding.count()
            });
            assert_eq!(places.unwrap_or(1), 1, "{}: {printed:?}", table.name());
        }
        if sections.len() == 1 {
            continue;
        }
        let mut record = record(table.name(), 0.5);
        record.rows = vec![Row::gated("nowhere", "fixed", "a reason")];
        let error = render_sections(table, &record).unwrap_err();
        assert!(error.to_string().contains("nowhere"), "{error}");
    }
}

/// The rows of made-up records, one for each data set of each section.
#[test]
fn pages_of_sections_stay() {
    for table in TABLES
        .into_iter()
        .filter(|table| table.sections().len() > 1)
    {
        let mut record = record(table.name(), 0.5);
        record.rows.clear();
        for (at, dataset) in table
            .sections()
            .iter()
            .flat_map(|section| section.datasets)
            .enumerate()
        {
            let sections = table.sections();
            let section = sections.iter().find(|section| section.holds(dataset));
            let mut row = Row::measured(*dataset, "rrf");
            for (place, column) in section.unwrap().spec.columns.iter().enumerate() {
                let value = (at + 1) as f64 / 32.0 + place as f64 / 64.0;
                let measure = Measure {
                    lo: Some(value - 0.03),
                    hi: Some(value + 0.03),
                    ..Measure::exact(value, "score", 9)
                };
                row.metrics.insert(column.metric.clone(), measure);
            }
            record.rows.push(row);
            record
                .rows
                .push(Row::gated(*dataset, "dense", "no weights"));
        }
        record.printed = table.printed();
        let page = render_sections(table, &record).unwrap();
        let brief = table.brief().render(&record).unwrap();
        insta::assert_snapshot!(table.name(), format!("{page}\n---- brief ----\n{brief}"));
    }
}

#[test]
fn a_table_that_does_not_exist_is_named_with_those_that_do() {
    let error = run::run(Path::new("."), &["chunkin".to_owned()], Command::List).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("chunkin") && message.contains("embedding"),
        "{message}"
    );
}

#[test]
fn the_tree_hash_follows_sources_and_not_what_is_rendered() {
    let root = checkout(0.5);
    let root = root.path();
    fs::write(root.join("a.rs"), "fn a() {}").unwrap();
    assert!(
        Program::new("git")
            .args(["init", "-q"])
            .current_dir(root)
            .status()
            .unwrap()
            .success()
    );
    let before = tree::hash(root).unwrap();
    fs::write(root.join("README.md"), "other").unwrap();
    fs::write(root.join("docs/evidence/chunking.json"), "other").unwrap();
    assert_eq!(tree::hash(root).unwrap(), before);
    fs::write(root.join("a.rs"), "fn b() {}").unwrap();
    assert_ne!(tree::hash(root).unwrap(), before);
}

#[test]
fn the_projects_own_data_loads_whole() {
    let data =
        BenchData::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench-data")).unwrap();
    assert_eq!(data.documents().len(), 12);
    assert!(
        data.documents()
            .any(|document| !document.acl().admits(&cornu_core::Principal::public()))
    );
    let twenty = data.questions("questions-20.jsonl").unwrap();
    assert_eq!(
        twenty
            .iter()
            .filter(|question| question.is_answerable())
            .count(),
        17
    );
    assert!(data.questions("questions-ext.jsonl").unwrap().len() >= 300);
    let long = data.folder("long").unwrap();
    let segments = data.questions_over("questions-segments.jsonl", &long);
    assert!(segments.unwrap().len() >= 60);
    assert!(
        data.questions("questions-segments.jsonl").is_err(),
        "some stand in the long documents alone"
    );
    assert_eq!(data.folder("tables").unwrap().len(), 12);
    assert!(data.folder("nowhere").is_err());
    assert!(
        data.synonyms()
            .unwrap()
            .iter()
            .all(|group| group.queries.len() >= 2)
    );
}

/// The chapter's lock errors: each habit meets errors, and mixes halves of transactions or loses
/// them; eight threads that write through the store meet none.
#[test]
fn naive_habits_meet_locks_and_the_store_does_not() {
    use cornu_core::{Acl, ContentHash, DocId, DocumentFacts, FactStore, Fingerprint};
    use cornu_store::naive::{Habit, hammer};

    let folder = tempfile::tempdir().unwrap();
    for (at, habit) in Habit::ALL.into_iter().enumerate() {
        let outcome = hammer(&folder.path().join(format!("{at}.db")), habit, 8, 60).unwrap();
        assert!(outcome.error_rate() > 0.0, "{habit:?}: {outcome:?}");
        assert_eq!(
            outcome.committed + outcome.locked + outcome.confused,
            480,
            "{habit:?}"
        );
        let expected = match habit {
            Habit::OneConnection => outcome.confused,
            Habit::NoBusyTimeout | Habit::LateWrite => outcome.locked,
        };
        assert!(expected > 0, "{habit:?}: {outcome:?}");
    }
    let path = folder.path().join("index.db");
    let model = Fingerprint::new("none");
    let store = cornu_store::SqliteVecStore::open(&path, &model, 2, &Default::default()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let store = &store;
            scope.spawn(move || {
                for at in 0..20 {
                    let facts = DocumentFacts {
                        doc: DocId::new(&format!("{thread}-{at}.md")).unwrap(),
                        content: ContentHash::of(b""),
                        acl: Acl::public(),
                        chunks: vec![],
                        vectors: ndarray::Array2::zeros((0, 2)),
                    };
                    store.upsert(&facts).unwrap();
                }
            });
        }
    });
    assert_eq!(store.stats().unwrap().documents, 160);
}
