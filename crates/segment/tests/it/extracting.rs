//! From results to runs.

use cornu_core::{ByteSpan, Chunk, ChunkRole, LineSpan, Scored};
use cornu_segment::{DocumentChunks, Mode, SegmentError, SegmentOptions, extract};

use crate::{document, results};

#[test]
fn a_run_knows_its_place_and_why() {
    let (doc, chunks) = document(
        "guide.md",
        &[
            (&["Guide", "One"], "# One\nFirst."),
            (&["Guide", "One"], "Second."),
            (&["Guide", "Two"], "Third."),
            (&["Other"], "Fourth."),
        ],
    );
    let list = results(&[(&chunks[2], 0.9), (&chunks[0], 0.8)]);
    let documents = [DocumentChunks {
        doc: &doc,
        chunks: &chunks,
    }];
    let segments = extract(&[&list], &documents, &SegmentOptions::default()).unwrap();
    let [run] = segments.runs.as_slice() else {
        panic!("{segments:?}")
    };
    assert_eq!(run.text, "# One\nFirst.\n\nSecond.\n\nThird.");
    assert_eq!(
        run.heading_path,
        ["Guide"],
        "what all its chunks stand under"
    );
    assert_eq!(run.citation(), "guide.md § Guide, lines 1-6");
    assert_eq!(
        (run.span.start(), run.span.end()),
        (0, chunks[2].span.end())
    );
    let ranks: Vec<_> = run.chunks.iter().map(|chunk| chunk.value.rank).collect();
    assert_eq!(ranks, [Some(2), None, Some(1)]);
    let sum: f64 = run.chunks.iter().map(|chunk| chunk.value.value).sum();
    assert_eq!((run.value, segments.value), (sum, sum));
    assert_eq!(segments.values[0].len(), 4);
}

/// A column of a table shows what its rows own: with it and without it runs are the same.
#[test]
fn a_column_is_no_part_of_a_run() {
    let (doc, rows) = document("a.md", &[(&[], "| 1 | 2 |"), (&[], "| 3 | 4 |")]);
    let mut column = rows[0].clone();
    column.id = document("b.md", &[(&[], "[Column 2 b: 1: 2, 3: 4]")]).1[0].id;
    column.parent = Some(rows[0].id);
    column.core = ByteSpan::from_range(0..0);
    assert!(column.is_column());
    let list = results(&[(&column, 0.9), (&rows[0], 0.8), (&rows[1], 0.7)]);
    let found = |chunks: &[Chunk]| {
        let documents = [DocumentChunks { doc: &doc, chunks }];
        extract(&[&list], &documents, &SegmentOptions::default()).unwrap()
    };
    let with = [vec![column.clone()], rows.clone()].concat();
    assert_eq!(found(&with), found(&rows));
    assert_eq!(found(&with).runs[0].chunks.len(), 2);
}

/// What overlaps is shown once; what lies between is white space by its lines.
#[test]
fn overlap_is_shown_once_and_gaps_are_white_space() {
    let source = "One. Two. Three.\nFour.";
    let (doc, mut chunks) = document("a.md", &[(&[], "One. Two."), (&[], "x"), (&[], "y")]);
    for (chunk, (range, line)) in chunks.iter_mut().zip([(0..9, 1), (5..16, 1), (17..22, 2)]) {
        chunk.span = ByteSpan::from_range(range.clone());
        chunk.text = source[range].to_owned();
        chunk.lines = LineSpan::new(line, line).unwrap();
    }
    let list = results(&[(&chunks[0], 0.9), (&chunks[1], 0.9), (&chunks[2], 0.9)]);
    let documents = [DocumentChunks {
        doc: &doc,
        chunks: &chunks,
    }];
    let segments = extract(&[&list], &documents, &SegmentOptions::default()).unwrap();
    assert_eq!(segments.runs[0].text, source);
    chunks[1].span = ByteSpan::from_range(10..16);
    chunks[1].text = source[10..16].to_owned();
    let documents = [DocumentChunks {
        doc: &doc,
        chunks: &chunks,
    }];
    let segments = extract(&[&list], &documents, &SegmentOptions::default()).unwrap();
    assert_eq!(segments.runs[0].text, source);
}

/// Rows of two tables, the second under a heading that is in no chunk: the run reads as the source.
#[test]
fn a_heading_between_tables_and_the_line_ends_stay() {
    let tables = "| a |\n|---|\n| 1 |\n| 2 |\n\n## Two\n\n| b |\n|---|\n| 3 |\n| 4 |\n";
    for ends in ["\n", "\r\n"] {
        let source = tables.replace('\n', ends);
        let place = |text: &str| {
            let start = source.find(text).unwrap();
            start..start + text.len()
        };
        let first = |name: &str, row: u8| {
            let lines = [format!("| {name} |"), "|---|".into(), format!("| {row} |")];
            lines.join(ends)
        };
        let texts = [first("a", 1), "| 2 |".into(), first("b", 3), "| 4 |".into()];
        let paths: [&[&str]; 4] = [&["One"], &["One"], &["One", "Two"], &["One", "Two"]];
        let given: Vec<(&[&str], &str)> = paths
            .into_iter()
            .zip(texts.iter().map(String::as_str))
            .collect();
        for name in ["a.md", "a.html"] {
            let (doc, mut chunks) = document(name, &given);
            for (chunk, lines) in chunks.iter_mut().zip([(1, 3), (4, 4), (8, 10), (11, 11)]) {
                chunk.span = ByteSpan::from_range(place(&chunk.text));
                chunk.lines = LineSpan::new(lines.0, lines.1).unwrap();
            }
            let all: Vec<_> = chunks.iter().map(|chunk| (chunk, 0.9)).collect();
            let documents = [DocumentChunks {
                doc: &doc,
                chunks: &chunks,
            }];
            let options = SegmentOptions::default();
            let segments = extract(&[&results(&all)], &documents, &options).unwrap();
            // The title stands without its mark; in a page it would be no words of its own.
            let heading = if name == "a.md" { "Two" } else { "" };
            let read = source.replace("## Two", heading);
            let read = match name {
                "a.md" => read,
                _ => read.replace(&ends.repeat(4), &ends.repeat(2)),
            };
            assert_eq!(segments.runs[0].text, read.trim_end(), "{name}");
            // A chunk that begins with its heading has it once.
            let (doc, chunks) = document(name, &[(&["A"], "a"), (&["A", "B"], "# B\n\nb")]);
            let list = results(&[(&chunks[0], 0.9), (&chunks[1], 0.9)]);
            let documents = [DocumentChunks {
                doc: &doc,
                chunks: &chunks,
            }];
            let segments = extract(&[&list], &documents, &options).unwrap();
            assert_eq!(segments.runs[0].text, "a\n\n# B\n\nb");
        }
    }
}

/// The end of one document and the beginning of the next are no neighbours.
#[test]
fn no_run_reaches_across_documents() {
    let (a, of_a) = document("a.md", &[(&[], "a1"), (&[], "a2")]);
    let (b, of_b) = document("b.md", &[(&[], "b1"), (&[], "b2")]);
    let list = results(&[(&of_a[1], 0.9), (&of_b[0], 0.9)]);
    let documents = [
        DocumentChunks {
            doc: &a,
            chunks: &of_a,
        },
        DocumentChunks {
            doc: &b,
            chunks: &of_b,
        },
    ];
    for mode in [Mode::Paper, Mode::Clean] {
        let options = SegmentOptions {
            mode,
            ..SegmentOptions::default()
        };
        let segments = extract(&[&list], &documents, &options).unwrap();
        let docs: Vec<_> = segments.runs.iter().map(|run| run.doc.as_str()).collect();
        assert_eq!(docs, ["a.md", "b.md"]);
        assert!(segments.runs.iter().all(|run| run.chunks.len() == 1));
    }
}

#[test]
fn several_questions_share_one_budget() {
    let (doc, chunks) = document(
        "a.md",
        &[(&[], "1"), (&[], "2"), (&[], "3"), (&[], "4"), (&[], "5")],
    );
    let documents = [DocumentChunks {
        doc: &doc,
        chunks: &chunks,
    }];
    let (one, two) = (results(&[(&chunks[0], 0.9)]), results(&[(&chunks[4], 0.8)]));
    for mode in [Mode::Paper, Mode::Clean] {
        let options = SegmentOptions {
            mode,
            overall_max_length: 1,
            ..SegmentOptions::default()
        };
        let segments = extract(&[&one, &two], &documents, &options).unwrap();
        let queries: Vec<_> = segments.runs.iter().map(|run| run.query).collect();
        assert_eq!(queries, [0, 1]);
        assert_eq!(
            segments.limits.total, 6,
            "five more for the second question"
        );
    }
}

#[test]
fn parents_are_passed_over_and_results_elsewhere_ignored() {
    let (doc, mut chunks) = document(
        "a.md",
        &[(&[], "parent"), (&[], "child"), (&[], "child too")],
    );
    let (_, elsewhere) = document("b.md", &[(&[], "hidden")]);
    chunks[0].role = ChunkRole::Parent;
    let list = results(&[(&elsewhere[0], 0.9), (&chunks[1], 0.9)]);
    let documents = [DocumentChunks {
        doc: &doc,
        chunks: &chunks,
    }];
    let segments = extract(&[&list], &documents, &SegmentOptions::default()).unwrap();
    assert_eq!(segments.values[0].len(), 2);
    assert_eq!(segments.runs[0].text, "child");
    assert_eq!(
        segments.runs[0].chunks[0].value.rank,
        Some(2),
        "the rank of the search stays"
    );
}

#[test]
fn input_that_makes_no_sense_is_refused() {
    let (doc, chunks) = document("a.md", &[(&[], "1"), (&[], "2")]);
    let (other, _) = document("b.md", &[]);
    let options = SegmentOptions::default();
    let whole = DocumentChunks {
        doc: &doc,
        chunks: &chunks,
    };
    let twice = [Scored {
        id: chunks[0].id,
        score: 0.5,
    }; 2];
    assert!(matches!(
        extract(&[&twice], &[whole], &options),
        Err(SegmentError::DuplicateResult { query: 0, rank: 2 })
    ));
    assert!(matches!(
        extract(&[], &[whole, whole], &options),
        Err(SegmentError::DuplicateDocument { .. })
    ));
    let foreign = DocumentChunks {
        doc: &other,
        chunks: &chunks,
    };
    assert!(matches!(
        extract(&[], &[foreign], &options),
        Err(SegmentError::Order { at: 0, .. })
    ));
    let mut reversed = chunks.clone();
    reversed.reverse();
    let backwards = DocumentChunks {
        doc: &doc,
        chunks: &reversed,
    };
    assert!(matches!(
        extract(&[], &[backwards], &options),
        Err(SegmentError::Order { at: 1, .. })
    ));
    for bad in [
        SegmentOptions {
            max_length: 0,
            ..options.clone()
        },
        SegmentOptions {
            overall_max_length: 0,
            ..options.clone()
        },
        SegmentOptions {
            documents: 0,
            ..options.clone()
        },
        SegmentOptions {
            decay_rate: 0.0,
            ..options.clone()
        },
        SegmentOptions {
            irrelevant_chunk_penalty: f64::NAN,
            ..options.clone()
        },
        SegmentOptions {
            minimum_value: f64::INFINITY,
            ..options.clone()
        },
    ] {
        assert!(matches!(
            extract(&[], &[whole], &bad),
            Err(SegmentError::Option { .. })
        ));
    }
}

#[cfg(feature = "serde")]
#[test]
fn segments_are_written_as_json() {
    let (doc, chunks) = document("a.md", &[(&["A"], "text")]);
    let list = results(&[(&chunks[0], 0.9)]);
    let documents = [DocumentChunks {
        doc: &doc,
        chunks: &chunks,
    }];
    let segments = extract(&[&list], &documents, &SegmentOptions::default()).unwrap();
    let json = serde_json::to_value(&segments).unwrap();
    assert_eq!(json["runs"][0]["doc"], "a.md");
    assert_eq!(json["runs"][0]["chunks"][0]["value"]["rank"], 1);
    let options = SegmentOptions::default();
    let back: SegmentOptions =
        serde_json::from_str(&serde_json::to_string(&options).unwrap()).unwrap();
    assert_eq!(back, options);
}
