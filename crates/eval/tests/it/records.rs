//! Evidence records: form, checks, files and comparison.

use std::fs;

use cornu_eval::evidence::{
    Artifact, Difference, Environment, Invalid, License, Measure, Model, Printed, Quantity, Record,
    RecordError, Row, Status, Tolerance, Versions, compare,
};
use proptest::prelude::*;

/// A record with every field in use and nothing of this machine.
pub(crate) fn record() -> Record {
    let environment = Environment {
        cpu: "Example CPU @ 2.50GHz".into(),
        arch: "x86_64".into(),
        cores: 2,
        memory_bytes: Some(8_192_000_000),
        os: "Linux, Debian GNU/Linux 12".into(),
        rustc: Some("rustc 1.95.0".into()),
        libtorch: Some("2.13.0".into()),
        sqlite: None,
        threads: 2,
        load: Some(0.25),
    };
    let mut record = Record::measured("chunking", environment);
    record.measured_tree = "0123456789abcdef0123456789abcdef01234567".into();
    record.verified_at = "2026-01-31T23:59:59Z".into();
    record.seed = 20;
    record.commands = vec!["cargo xtask bench-tables --table chunking".into()];
    record.artifacts = vec![Artifact {
        path: "bench-data/questions-20.jsonl".into(),
        sha256: Some("cd".repeat(32)),
    }];
    record.models = vec![Model {
        id: "all-MiniLM-L6-v2".into(),
        source: "a package".into(),
        sha256: "ab".repeat(32),
    }];
    let row = |system: &str, recall: (f64, f64, f64), chunks: f64, p95: f64| {
        let mut row = Row::measured("bench-data", system);
        let (value, lo, hi) = recall;
        let measure = Measure {
            value,
            lo: Some(lo),
            hi: Some(hi),
            unit: "fraction".into(),
            n: 17,
        };
        row.metrics.insert("recall@5".into(), measure);
        row.metrics
            .insert("chunks".into(), Measure::exact(chunks, "count", 1));
        row.metrics
            .insert("p95_ms".into(), Measure::exact(p95, "ms", 100));
        row
    };
    record.rows = vec![
        row("fixed", (12.0 / 17.0, 0.47, 0.88), 41.0, 12.46),
        row("sentence", (15.0 / 17.0, 0.65, 0.97), 38.0, 13.0),
        Row::gated("bench-data", "gemini", "GEMINI_API_KEY is not set"),
    ];
    record.printed = vec![Printed {
        system: "sentence".into(),
        dataset: None,
        metrics: [("recall@5".to_owned(), 1.0)].into(),
        source: "chapter 14".into(),
    }];
    record.quick = vec![row("sentence", (0.85, 0.6, 0.95), 8.0, 1.5)];
    record.cost = [(
        "wall".to_owned(),
        Quantity {
            value: 81.5,
            unit: "s".into(),
        },
    )]
    .into();
    record.licenses = vec![License {
        of: "bench-data".into(),
        license: "MIT OR Apache-2.0".into(),
    }];
    record.known_failures = vec!["Formulas are counted as words.".into()];
    record
}

#[test]
fn the_file_form_stays() {
    insta::assert_snapshot!(record().to_json().unwrap());
}

#[test]
fn a_record_survives_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chunking.json");
    let mut record = record();
    record.write(&path).unwrap();
    assert_eq!(Record::read(&path).unwrap(), record);
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        record.to_json().unwrap()
    );

    // A new one takes its place, and nothing is left beside it.
    record.seed = 21;
    record.write(&path).unwrap();
    assert_eq!(Record::read(&path).unwrap().seed, 21);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    // An invalid one does not.
    let mut invalid = record.clone();
    invalid.rows.clear();
    let error = invalid.write(&path).unwrap_err();
    assert!(matches!(error, RecordError::Invalid { .. }));
    assert!(error.to_string().contains("chunking.json"), "{error}");
    assert_eq!(Record::read(&path).unwrap(), record);

    // A rename that fails leaves nothing beside it either.
    let occupied = folder.path().join("occupied");
    fs::create_dir_all(occupied.join("inside")).unwrap();
    assert!(matches!(
        record.write(&occupied),
        Err(RecordError::Io { .. })
    ));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);

    let nowhere = folder.path().join("absent").join("chunking.json");
    assert!(matches!(
        record.write(&nowhere),
        Err(RecordError::Io { .. })
    ));
    assert!(matches!(
        Record::read(&nowhere),
        Err(RecordError::Io { .. })
    ));
    fs::write(&path, "{\"schema\": ").unwrap();
    assert!(matches!(Record::read(&path), Err(RecordError::Json { .. })));
}

#[test]
fn an_unknown_field_is_refused() {
    let text = record()
        .to_json()
        .unwrap()
        .replacen("\"seed\"", "\"sead\": 1,\n  \"seed\"", 1);
    assert!(matches!(
        Record::from_json(&text),
        Err(RecordError::Json { .. })
    ));
}

#[test]
fn what_a_record_may_not_say() {
    type Change = fn(&mut Record);
    type Expected = fn(&Invalid) -> bool;
    let cases: &[(Change, Expected)] = &[
        (
            |r| r.schema = "cornu.evidence.v2".into(),
            |e| matches!(e, Invalid::Schema { .. }),
        ),
        (
            |r| r.table = "Chunking Table".into(),
            |e| matches!(e, Invalid::Name { field: "table", .. }),
        ),
        (
            |r| r.gate_reason = Some("why".into()),
            |e| matches!(e, Invalid::GateReason { .. }),
        ),
        (
            |r| r.status = Status::Gated,
            |e| matches!(e, Invalid::GateReason { .. }),
        ),
        (
            |r| {
                r.status = Status::Gated;
                r.gate_reason = Some("no weights".into());
            },
            |e| matches!(e, Invalid::GatedWithResults { .. }),
        ),
        (
            |r| r.measured_tree = "main".into(),
            |e| {
                matches!(
                    e,
                    Invalid::Form {
                        field: "measured_tree",
                        ..
                    }
                )
            },
        ),
        (
            |r| r.verified_at = "yesterday".into(),
            |e| {
                matches!(
                    e,
                    Invalid::Form {
                        field: "verified_at",
                        ..
                    }
                )
            },
        ),
        (|r| r.rows.clear(), |e| matches!(e, Invalid::NoRows { .. })),
        (
            |r| r.rows[0].metrics.clear(),
            |e| matches!(e, Invalid::NoRows { .. }),
        ),
        (
            |r| r.rows[0].system = "fixed window".into(),
            |e| {
                matches!(
                    e,
                    Invalid::Name {
                        field: "system",
                        ..
                    }
                )
            },
        ),
        (
            |r| r.rows[0].dataset = String::new(),
            |e| {
                matches!(
                    e,
                    Invalid::Name {
                        field: "dataset",
                        ..
                    }
                )
            },
        ),
        (
            |r| r.rows[1].system = "fixed".into(),
            |e| matches!(e, Invalid::DuplicateRow { .. }),
        ),
        (
            |r| {
                let metrics = r.rows[0].metrics.clone();
                r.rows[2].metrics = metrics;
            },
            |e| matches!(e, Invalid::GatedWithResults { .. }),
        ),
        (
            |r| r.rows[2].gate_reason = Some(" ".into()),
            |e| matches!(e, Invalid::GateReason { .. }),
        ),
        (
            |r| change(r, |m| m.value = f64::NAN),
            |e| matches!(e, Invalid::NotFinite { .. }),
        ),
        (
            |r| change(r, |m| m.hi = Some(f64::INFINITY)),
            |e| matches!(e, Invalid::NotFinite { .. }),
        ),
        (
            |r| change(r, |m| m.lo = Some(0.8)),
            |e| matches!(e, Invalid::Bounds { .. }),
        ),
        (
            |r| change(r, |m| m.hi = Some(0.5)),
            |e| matches!(e, Invalid::Bounds { .. }),
        ),
        (
            |r| change(r, |m| m.hi = None),
            |e| matches!(e, Invalid::Bounds { .. }),
        ),
        (
            |r| change(r, |m| *m = Measure::exact(70.6, "fraction", 17)),
            |e| matches!(e, Invalid::NotAFraction { .. }),
        ),
        (
            |r| change(r, |m| m.unit = String::new()),
            |e| matches!(e, Invalid::Name { field: "unit", .. }),
        ),
        (
            |r| {
                let measure = Measure::exact(1.0, "count", 1);
                r.rows[0].metrics.insert("Recall at 5".into(), measure);
            },
            |e| {
                matches!(
                    e,
                    Invalid::Name {
                        field: "metric",
                        ..
                    }
                )
            },
        ),
        (
            |r| r.quick[0].metrics.clear(),
            |e| matches!(e, Invalid::NoRows { .. }),
        ),
        (
            |r| r.models[0].sha256 = "AB".repeat(32),
            |e| {
                matches!(
                    e,
                    Invalid::Form {
                        field: "sha256",
                        ..
                    }
                )
            },
        ),
        (
            |r| r.artifacts[0].path = "/data/x".into(),
            |e| {
                matches!(
                    e,
                    Invalid::Form {
                        field: "artifact",
                        ..
                    }
                )
            },
        ),
        (
            |r| r.artifacts[0].path = "a/../../x".into(),
            |e| {
                matches!(
                    e,
                    Invalid::Form {
                        field: "artifact",
                        ..
                    }
                )
            },
        ),
        (
            |r| r.printed[0].source.clear(),
            |e| {
                matches!(
                    e,
                    Invalid::Form {
                        field: "source",
                        ..
                    }
                )
            },
        ),
        (
            |r| r.known_failures.push(r"see C:\Users\someone".into()),
            |e| matches!(e, Invalid::PersonalPath { .. }),
        ),
        (
            |r| r.commands.push(format!("python /{}/someone/x.py", "home")),
            |e| matches!(e, Invalid::PersonalPath { .. }),
        ),
        (
            |r| r.environment.load = Some(f64::NAN),
            |e| matches!(e, Invalid::NotFinite { .. }),
        ),
        (
            |r| {
                r.cost.insert(
                    "wall".into(),
                    Quantity {
                        value: f64::NAN,
                        unit: "s".into(),
                    },
                );
            },
            |e| matches!(e, Invalid::NotFinite { .. }),
        ),
    ];
    record().validate().unwrap();
    for (index, (change, expected)) in cases.iter().enumerate() {
        let mut record = record();
        change(&mut record);
        let error = record.validate().expect_err("refused");
        assert!(expected(&error), "case {index}: {error:?}");
        assert!(record.to_json().is_err());
    }
}

fn change(record: &mut Record, change: impl Fn(&mut Measure)) {
    change(record.rows[0].metrics.get_mut("recall@5").unwrap());
}

#[test]
fn a_detected_environment_names_no_one() {
    let environment = Environment::detect(&Versions::default());
    let text = serde_json::to_string(&environment).unwrap();
    let mut names: Vec<String> = ["USER", "LOGNAME", "HOSTNAME", "HOME"]
        .iter()
        .filter_map(|variable| std::env::var(variable).ok())
        .collect();
    names.extend(fs::read_to_string("/proc/sys/kernel/hostname").ok());
    for name in names
        .iter()
        .map(|name| name.trim())
        .filter(|name| name.len() > 3)
    {
        assert!(!text.contains(name), "{name} in {text}");
    }
    if cfg!(target_os = "linux") {
        assert!(environment.memory_bytes.unwrap() > 1 << 20);
        assert!(environment.load.unwrap() >= 0.0);
    }
    assert!(
        environment
            .rustc
            .is_none_or(|rustc| rustc.starts_with("rustc "))
    );
}

#[test]
fn a_comparison_names_every_difference() {
    let recorded = record().rows;
    assert_eq!(compare(&recorded, &recorded, &Tolerance::EXACT), []);

    let mut measured = recorded.clone();
    measured.reverse();
    assert_eq!(
        compare(&recorded, &measured, &Tolerance::EXACT),
        [],
        "order says nothing"
    );

    let fixed = &mut measured[2];
    fixed.metrics.get_mut("p95_ms").unwrap().value = 900.0; // another machine's speed
    fixed.metrics.get_mut("chunks").unwrap().value = 42.0;
    let recall = fixed.metrics.get_mut("recall@5").unwrap();
    (recall.lo, recall.n) = (Some(0.46), 16);
    measured[1].metrics.remove("p95_ms");
    measured[1]
        .metrics
        .insert("mrr".into(), Measure::exact(0.5, "fraction", 17));
    measured[1].metrics.get_mut("chunks").unwrap().unit = "tokens".into();
    measured[0] = Row::measured("bench-data", "gemini");
    measured.push(Row::gated("other", "fixed", "none"));
    let differences = compare(&recorded, &measured, &Tolerance::EXACT);
    let lines: Vec<String> = differences.iter().map(Difference::to_string).collect();
    assert_eq!(
        lines,
        [
            "bench-data / fixed, chunks: value recorded 41, measured 42",
            "bench-data / fixed, recall@5: lo recorded 0.47, measured 0.46",
            "bench-data / fixed, recall@5: n recorded 17, measured 16",
            "bench-data / gemini: recorded gated (GEMINI_API_KEY is not set), measured a result",
            "bench-data / sentence, chunks: recorded count, measured tokens",
            "bench-data / sentence, mrr: measured, not recorded",
            "bench-data / sentence, p95_ms: recorded, not measured",
            "other / fixed: measured, not recorded",
        ]
    );
    let missing = compare(&recorded, &[], &Tolerance::EXACT);
    assert_eq!(missing.len(), 3);
    // Within the tolerance the figures agree; the count of observations must be the same.
    let near = Tolerance {
        absolute: 0.02,
        relative: 0.03,
    };
    let left: Vec<String> = compare(&recorded[..1], &measured[2..3], &near)
        .iter()
        .map(Difference::to_string)
        .collect();
    assert_eq!(
        left,
        ["bench-data / fixed, recall@5: n recorded 17, measured 16"]
    );
}

proptest! {
    #[test]
    fn figures_survive_bit_for_bit(value in any::<f64>().prop_filter("finite", |v| v.is_finite())) {
        let mut record = record();
        record.rows[0].metrics.insert("x".into(), Measure::exact(value, "count", 1));
        let read = Record::from_json(&record.to_json().unwrap()).unwrap();
        prop_assert_eq!(read.rows[0].metrics["x"].value.to_bits(), value.to_bits());
        prop_assert_eq!(read.to_json().unwrap(), record.to_json().unwrap());
    }
}
