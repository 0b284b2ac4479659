//! dsRAG's numbers: value function, presets, meta-document, order of ties.

use cornu_core::{DocId, Scored};
use cornu_segment::select::{Limits, Values, greedy};
use cornu_segment::{
    ChunkValue, DocumentChunks, Mode, Preset, SegmentError, SegmentOptions, documents_of, extract,
};

use crate::{document, results};

fn paper(preset: Preset) -> SegmentOptions {
    SegmentOptions {
        mode: Mode::Paper,
        ..SegmentOptions::preset(preset)
    }
}

#[test]
fn presets_are_those_of_the_paper() {
    let row = |preset| {
        let o = SegmentOptions::preset(preset);
        assert!(o.adjust_for_length && o.check().is_ok());
        (
            (
                o.max_length,
                o.overall_max_length,
                o.overall_max_length_extension,
            ),
            (o.minimum_value, o.irrelevant_chunk_penalty),
            (o.decay_rate, o.documents),
        )
    };
    assert_eq!(
        row(Preset::Balanced),
        ((15, 30, 5), (0.5, 0.18), (30.0, 10))
    );
    assert_eq!(
        row(Preset::Precision),
        ((15, 30, 5), (0.7, 0.2), (30.0, 10))
    );
    assert_eq!(
        row(Preset::FindAll),
        ((40, 200, 0), (0.4, 0.18), (200.0, 200))
    );
    assert_eq!(
        SegmentOptions::default(),
        SegmentOptions::preset(Preset::Balanced)
    );
    assert_eq!(paper(Preset::Balanced).limits(1).total, 30);
    assert_eq!(paper(Preset::Balanced).limits(4).total, 45);
    assert_eq!(paper(Preset::FindAll).limits(4).total, 200);
    for name in ["precise", "comprehensive", ""] {
        assert!(name.parse::<Preset>().is_err(), "{name:?} does not exist");
    }
}

/// v = exp(−rank / decay) · similarity − penalty, times max(length, 700) / 700; rank from 0.
#[test]
fn the_value_of_a_chunk() {
    let options = paper(Preset::Balanced);
    for (rank, similarity, length, expected) in [
        (1, 0.9, 100, 0.9 - 0.18),
        (1, 0.9, 700, 0.9 - 0.18),
        (1, 0.9, 1400, 2.0 * (0.9 - 0.18)),
        (2, 0.8, 100, (-1.0_f64 / 30.0).exp() * 0.8 - 0.18),
        (31, 0.8, 100, (-1.0_f64).exp() * 0.8 - 0.18),
        // Far down the list the value is negative, and length makes it more so.
        (91, 0.8, 2100, 3.0 * ((-3.0_f64).exp() * 0.8 - 0.18)),
    ] {
        let value = ChunkValue::found(rank, similarity, similarity, length, &options).value;
        assert!(
            (value - expected).abs() < 1e-9,
            "{rank} {length}: {value} {expected}"
        );
    }
    let plain = SegmentOptions {
        adjust_for_length: false,
        ..options.clone()
    };
    let value = ChunkValue::found(1, 0.9, 0.9, 1400, &plain);
    assert_eq!(value.length_factor, 1.0);
    let unseen = ChunkValue::not_found(&options);
    assert_eq!((unseen.rank, unseen.length_factor), (None, 1.0));
    assert!((unseen.value + 0.18).abs() < 1e-9);
}

/// What the published procedure gives for these values, in eighths (computed with an independent
/// implementation of its description).
#[test]
fn the_published_procedure_takes_these_segments() {
    type Case<'a> = (
        &'a [usize],
        &'a [&'a [i8]],
        (usize, usize, f64),
        &'a [(usize, usize)],
    );
    let cases: [Case<'_>; 4] = [
        (
            &[3, 2, 4],
            &[&[-2, 6, -2, -2, -1, -1, 6, -1, -2]],
            (15, 30, 0.5),
            &[(1, 2), (6, 7)],
        ),
        (
            &[6, 6, 5, 1],
            &[&[
                -2, 1, 0, 0, -2, -2, -2, -2, 1, 6, -2, -2, -2, 6, 3, 5, 1, -2,
            ]],
            (4, 6, 0.5),
            &[(13, 17), (8, 10)],
        ),
        (
            &[6, 7, 2],
            &[
                &[2, -2, -2, -2, -1, 4, 3, 5, -1, -2, -2, -2, 3, -2, -2],
                &[-1, -2, -1, 2, -2, -2, -2, 4, -2, 5, -1, 1, -2, 1, 5],
            ],
            (15, 12, 0.375),
            &[(6, 8), (13, 15), (5, 6), (9, 10), (12, 13)],
        ),
        (
            &[1, 2, 4, 4],
            &[
                &[-1, -1, -1, -1, 5, -1, -1, 2, 1, 2, 1],
                &[-1, 7, 4, -1, -1, -1, -1, -1, 7, 5, 6],
                &[-1, 0, -1, 0, -1, 1, -1, -1, -1, 2, -1],
            ],
            (3, 9, 0.25),
            &[(4, 5), (8, 11), (7, 8), (1, 3)],
        ),
    ];
    for (lengths, rows, (segment, total, minimum), expected) in cases {
        let eighths = |row: &&[i8]| row.iter().map(|e| f64::from(*e) / 8.0).collect();
        let values = Values::new(rows.iter().map(eighths).collect(), lengths).unwrap();
        let limits = Limits {
            segment,
            total,
            minimum,
            price: 0.0,
        };
        let picks = greedy(&values, &limits).unwrap().picks;
        let found: Vec<_> = picks.iter().map(|pick| (pick.start, pick.end)).collect();
        assert_eq!(found, expected);
    }
}

/// Similarities of unit vectors, worked out by hand: the query (1, 0), chunks at known angles.
#[test]
fn unit_vectors_to_a_segment() {
    let angles = [90.0_f64, 10.0, 80.0, 20.0, 90.0];
    let query = [1.0, 0.0];
    let (doc, chunks) = document(
        "a.md",
        &[(&[], "a"), (&[], "b"), (&[], "c"), (&[], "d"), (&[], "e")],
    );
    let mut cosines: Vec<(usize, f64)> = angles
        .iter()
        .map(|angle| {
            let vector = [angle.to_radians().cos(), angle.to_radians().sin()];
            assert!((vector[0] * vector[0] + vector[1] * vector[1] - 1.0_f64).abs() < 1e-12);
            vector[0] * query[0] + vector[1] * query[1]
        })
        .enumerate()
        .collect();
    cosines.sort_by(|a, b| b.1.total_cmp(&a.1));
    let list: Vec<Scored<_>> = cosines
        .iter()
        .map(|&(at, score)| Scored {
            id: chunks[at].id,
            score,
        })
        .collect();
    let documents = [DocumentChunks {
        doc: &doc,
        chunks: &chunks,
    }];
    let segments = extract(&[&list], &documents, &paper(Preset::Balanced)).unwrap();
    // 0.985 − 0.18; e^(−1/30) · 0.940 − 0.18; e^(−2/30) · 0.174 − 0.18 costs 0.0176.
    let [run] = segments.runs.as_slice() else {
        panic!("{:?}", segments.runs)
    };
    assert_eq!((run.lines.first(), run.lines.last()), (3, 7));
    let by_hand = (10.0_f64.to_radians().cos() - 0.18)
        + ((-1.0_f64 / 30.0).exp() * 20.0_f64.to_radians().cos() - 0.18)
        + ((-2.0_f64 / 30.0).exp() * 80.0_f64.to_radians().cos() - 0.18);
    assert!(
        (run.value - by_hand).abs() < 1e-8,
        "{} {by_hand}",
        run.value
    );

    // A product of vectors that are none of length 1 is found out.
    let long = results(&[(&chunks[0], 1.7)]);
    assert!(matches!(
        extract(&[&long], &documents, &paper(Preset::Balanced)),
        Err(SegmentError::NotACosine {
            query: 0,
            rank: 1,
            ..
        })
    ));
}

/// The meta-document: documents of the first results, in the order in which they come.
#[test]
fn documents_in_the_order_of_the_results() {
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| DocId::new(name).unwrap());
    let first = [&c, &a, &c, &b];
    let second = [&d, &a];
    assert_eq!(documents_of(&[&first, &second], 10), [&c, &a, &b, &d]);
    assert_eq!(documents_of(&[&first, &second], 2), [&c, &a, &d]);
    assert_eq!(documents_of(&[&first, &second], 1), [&c, &d]);
    assert!(documents_of(&[], 3).is_empty());
}

/// Two documents that are worth the same: the first as given.
#[test]
fn ties_go_to_the_document_that_stands_first() {
    let (one, of_one) = document("one.md", &[(&[], "same")]);
    let (two, of_two) = document("two.md", &[(&[], "same")]);
    let options = SegmentOptions {
        overall_max_length: 1,
        decay_rate: 1e300,
        ..paper(Preset::Balanced)
    };
    let list = results(&[(&of_one[0], 0.9), (&of_two[0], 0.9)]);
    let (first, second) = (
        DocumentChunks {
            doc: &one,
            chunks: &of_one,
        },
        DocumentChunks {
            doc: &two,
            chunks: &of_two,
        },
    );
    for mode in [Mode::Paper, Mode::Clean] {
        let options = SegmentOptions {
            mode,
            ..options.clone()
        };
        let best = |documents: &[DocumentChunks<'_>]| {
            let segments = extract(&[&list], documents, &options).unwrap();
            segments.runs[0].doc.clone()
        };
        assert_eq!(best(&[first, second]), one);
        assert_eq!(best(&[second, first]), two);
    }
}
