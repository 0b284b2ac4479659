//! The two measures, by hand.

use cornu_chunk::Chunker;
use cornu_chunk::markdown::{BlockKind, Outline};
use cornu_chunk::metrics::{BoundaryBreaks, boundary_breaks, context_completeness, evidence_unit};
use cornu_core::ByteSpan;
use proptest::prelude::*;

use crate::counters::chars;
use crate::documents::{doc, fixed, packed};
use crate::generated::plain_markdown;

fn breaks(source: &str, size: i64) -> (usize, usize, usize) {
    let found = boundary_breaks(
        source,
        &fixed(chars(), size, 0).chunk(&doc(source)).unwrap(),
    );
    (found.boundaries, found.in_unit, found.in_word)
}

#[test]
fn ends_between_units_are_whole() {
    // Windows of four end after `一二三。`, of five inside sentences.
    assert_eq!(breaks("一二三。四五六。七八九。", 4), (2, 0, 0));
    assert_eq!(breaks("一二三。四五六。七八九。", 5), (2, 2, 0));
    // The end of the document is no boundary, nor is white space before it.
    assert_eq!(breaks("一二三。", 4), (0, 0, 0));
    assert_eq!(breaks("一二三。\n\n", 4), (0, 0, 0));
}

#[test]
fn ends_before_or_after_white_space_count_alike() {
    let source = "One two.\n\nThree.\n";
    assert_eq!(breaks(source, 8), (1, 0, 0), "before the blank line");
    assert_eq!(breaks(source, 9), (1, 0, 0), "in it");
    assert_eq!(breaks(source, 10), (1, 0, 0), "after it");
    assert_eq!(breaks(source, 11), (1, 1, 1), "after `T`");
}

#[test]
fn lines_of_code_and_rows_are_units() {
    let source = "```\nab\ncd\n```\n";
    assert_eq!(breaks(source, 7), (1, 0, 0));
    assert_eq!(breaks(source, 5), (2, 1, 1)); // inside `ab`, after `cd`
    let source = "| a |\n|---|\n| 1 |\n";
    assert_eq!(breaks(source, 6), (2, 0, 0));
    assert_eq!(breaks(source, 9), (1, 1, 0));
}

#[test]
fn rates_are_shares_and_add_up() {
    let a = BoundaryBreaks {
        boundaries: 4,
        in_unit: 2,
        in_word: 1,
    };
    assert_eq!((a.rate(), a.word_rate()), (0.5, 0.25));
    assert_eq!(BoundaryBreaks::default().rate(), 0.0);
    let sum = a.plus(BoundaryBreaks {
        boundaries: 1,
        in_unit: 1,
        in_word: 1,
    });
    assert_eq!((sum.boundaries, sum.in_unit, sum.in_word), (5, 3, 2));
}

#[test]
fn the_unit_of_an_evidence_is_its_innermost_section() {
    let source = "---\na: b\n---\nbefore\n\n# A\n\nown\n\n## B\n\n> # C\n> deep\n\n# D\n";
    let outline = Outline::parse(source);
    let unit = |phrase: &str| {
        let at = source.find(phrase).unwrap();
        evidence_unit(source, &outline, at).and_then(|unit| unit.slice(source))
    };
    assert_eq!(unit("before"), Some("before"));
    assert_eq!(unit("own"), Some("# A\n\nown"));
    assert_eq!(unit("deep"), Some("## B\n\n> # C\n> deep"));
    assert_eq!(unit("a: b"), Some("---\na: b\n---"));
    assert_eq!(evidence_unit(source, &outline, source.len()), None);
}

#[test]
fn completeness_counts_each_visible_byte_once() {
    let source = "一二 三四\n五六";
    let unit = ByteSpan::new(0, source.len()).unwrap();
    let span = |start, end| ByteSpan::new(start, end).unwrap();
    assert_eq!(context_completeness(source, unit, &[]), 0.0);
    assert_eq!(context_completeness(source, unit, &[unit]), 1.0);
    assert_eq!(
        context_completeness(source, unit, &[span(7, 14), span(0, 7)]),
        4.0 / 6.0
    );
    assert_eq!(
        context_completeness(source, unit, &[span(0, 6), span(0, 3), span(0, 6)]),
        2.0 / 6.0
    );
    assert_eq!(
        context_completeness(source, span(6, 7), &[]),
        1.0,
        "nothing to show"
    );
    assert_eq!(context_completeness(source, unit, &[span(0, 9999)]), 1.0);
}

proptest! {
    /// What is packed is broken only where something larger than a chunk had to be cut, and all
    /// chunks of a document together show each section whole.
    #[test]
    fn packed_sentences_are_whole(source in plain_markdown()) {
        let found = packed(chars(), 2000, 300).chunk(&doc(&source)).unwrap();
        prop_assert_eq!(boundary_breaks(&source, &found).in_unit, 0);
        let outline = Outline::parse(&source);
        let spans: Vec<ByteSpan> = found.iter().map(|chunk| chunk.span).collect();
        let all_text = outline.comments().is_empty()
            && outline.blocks().iter().all(|block| block.kind != BlockKind::Rule);
        for chunk in &found {
            let unit = evidence_unit(&source, &outline, chunk.span.start()).unwrap();
            let share = context_completeness(&source, unit, &spans);
            prop_assert!((0.0..=1.0).contains(&share));
            if all_text {
                prop_assert_eq!(share, 1.0);
            }
        }
    }
}
