//! Bytes and lines, against the slowest way to count them.

use cornu_core::{ByteSpan, LineIndex, LineSpan, SpanError};
use proptest::prelude::*;

fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "\n", "\r", "\r\n", "a", "中", "\u{85}", "\u{2028}", " ",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// The line of a byte: one more than the number of line ends that lie wholly before it.
fn naive_line(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let at = at.min(bytes.len().saturating_sub(1));
    let mut line = 1;
    let mut place = 0;
    while place < at {
        let end = match bytes[place] {
            b'\r' if bytes.get(place + 1) == Some(&b'\n') => place + 2,
            b'\r' | b'\n' => place + 1,
            _ => {
                place += 1;
                continue;
            }
        };
        line += usize::from(end <= at);
        place = end;
    }
    line
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn lines_agree_with_a_naive_count(text in text(), beyond in 0_usize..5) {
        let index = LineIndex::new(&text);
        for at in 0..=text.len() + beyond {
            prop_assert_eq!(index.line_of(at), naive_line(&text, at), "byte {} of {:?}", at, text);
        }
        prop_assert_eq!(index.count(), naive_line(&text, text.len()));
    }

    #[test]
    fn the_lines_of_a_span_are_those_of_its_bytes(text in text(), a in 0_usize..40, b in 0_usize..40) {
        let index = LineIndex::new(&text);
        let span = ByteSpan::from_range(a.min(b)..a.max(b));
        let lines = index.lines_of(span);
        let last = if span.is_empty() { span.start() } else { span.end() - 1 };
        prop_assert_eq!(lines.first(), naive_line(&text, span.start()));
        prop_assert_eq!(lines.last(), naive_line(&text, last));
    }

    #[test]
    fn spans_are_sets_of_bytes(a in 0_usize..12, b in 0_usize..12, c in 0_usize..12, d in 0_usize..12) {
        let (left, right) = (ByteSpan::new(a, b), ByteSpan::new(c, d));
        prop_assert_eq!(left.is_err(), a > b);
        if let (Ok(left), Ok(right)) = (left, right) {
            let shared = (a..b).any(|byte| (c..d).contains(&byte));
            prop_assert_eq!(left.len(), (a..b).count());
            prop_assert_eq!(left.is_empty(), a == b);
            // An empty span shares no byte with anything.
            prop_assert_eq!(left.overlaps(right), shared);
            prop_assert_eq!(right.overlaps(left), shared);
            if !right.is_empty() {
                prop_assert_eq!(left.contains(right), (c..d).all(|byte| (a..b).contains(&byte)));
            }
        }
    }

    #[test]
    fn a_slice_is_exact_or_none(text in text(), a in 0_usize..40, b in 0_usize..40) {
        let span = ByteSpan::from_range(a..b);
        let whole = a <= text.len() && span.end() <= text.len()
            && text.is_char_boundary(a) && text.is_char_boundary(span.end());
        prop_assert_eq!(span.slice(&text).is_some(), whole);
    }

    #[test]
    fn line_spans_count_from_one(first in 0_usize..5, last in 0_usize..5) {
        match LineSpan::new(first, last) {
            Ok(span) => {
                prop_assert!(1 <= first && first <= last);
                prop_assert_eq!((span.first(), span.last()), (first, last));
            }
            Err(SpanError::LineZero) => prop_assert_eq!(first, 0),
            Err(_) => prop_assert!(first > last),
        }
    }
}

#[test]
fn only_lf_crlf_and_cr_end_a_line() {
    for (text, lines) in [
        ("", 1),
        ("a", 1),
        ("a\n", 1),
        ("a\nb", 2),
        ("a\r\nb\rc\n\n", 4),
        ("\u{2028}", 1),
    ] {
        assert_eq!(LineIndex::new(text).count(), lines, "{text:?}");
    }
}
