//! What of a Markdown chunk can stand alone.

use cornu_chunk::markdown::statements;
use cornu_chunk::{Chunker, Comments, SentencePackedOptions, TableRowsOptions};
use cornu_core::Chunk;
use proptest::prelude::*;

use crate::counters::chars;
use crate::documents::{by_rows, chunks, doc, fixed, packed};
use crate::generated::{markdown, noise};

fn said(chunk: &Chunk) -> Vec<&str> {
    let parts = statements(chunk).into_iter();
    parts.map(|part| &chunk.text[part]).collect()
}

/// The statements of a document that is one chunk.
#[track_caller]
fn check(source: &str, expected: &[&str]) {
    let found = chunks(source, 1000);
    let all: Vec<&str> = found.iter().flat_map(said).collect();
    assert_eq!(all, expected, "{source:?}");
}

/// What stands at the end of one row or item says nothing of the next.
#[test]
fn no_sentence_reaches_into_the_next_row_or_item() {
    for end in ["\n", "\r\n", "\r"] {
        let lines = |source: &str| source.replace('\n', end);
        check(
            &lines("# P\n\nSo.\n\n| P | S |\n|---|---|\n| A | Stop. Wait. |\n| B | Go. Run. |\n"),
            &["So.", "| A | Stop. Wait. |", "| B | Go. Run. |"],
        );
        check(
            &lines("- Oslo: fast. Costs 1800\n- Lima: slow. Costs 300\n\nEnd.\n"),
            &[
                "Oslo: fast.",
                "Costs 1800",
                "Lima: slow.",
                "Costs 300",
                "End.",
            ],
        );
        check(
            &lines("# 泵\n红色。\n## 阀门\n\n蓝色。第二句\n\n1. 甲。\n2. 乙\n"),
            &["红色。", "蓝色。", "第二句", "甲。", "乙"],
        );
    }
    check(
        "a | b\n---|---\n甲。 | 2\n乙。 | 4\n\nx\n",
        &["甲。 | 2", "乙。 | 4", "x"],
    );
    check(
        "> | a | b |\n> |---|---|\n> | 1. | 2 |\n> | - | - |\n> | 3. | 4 |\n\nx\n",
        &["| 1. | 2 |", "| 3. | 4 |", "x"],
    );
}

/// A table in HTML has rows, too, on lines of their own or not.
#[test]
fn no_sentence_reaches_into_the_next_row_of_html() {
    let rows = [
        "<tr><td>Oslo. Fast</td><td>1800</td></tr>",
        "<tr><td>Lima. Slow</td><td>300</td></tr>",
    ];
    let [first, second] = rows.map(|row| row.trim_start_matches("<tr>"));
    for lead in ["", "So.\n\n"] {
        let found = chunks(
            &format!("{lead}<table>\n{}\n</table>\n", rows.join("\n")),
            1000,
        );
        let all: Vec<&str> = found.iter().flat_map(said).collect();
        let told = |row: &str| all.iter().filter(|part| part.contains(row)).count();
        assert_eq!((told(first), told(second)), (1, 1), "{all:?}");
        let both = |part: &&str| part.contains("Fast") && part.contains("Slow");
        assert!(!all.iter().any(both), "{all:?}");
    }
    check(
        "<ul>\n<li>甲。一</li>\n<li>乙。二</li>\n</ul>\n",
        &["<li>甲。", "一</li>", "<li>乙。", "二</li>"],
    );
}

/// Items without a full stop are one enumeration, and belong to the line that leads to it.
#[test]
fn an_enumeration_stands_together() {
    check(
        "包括：\n- 甲\n- 乙\n- 丙。\n\n完\n",
        &["包括：\n- 甲\n- 乙\n- 丙。", "完"],
    );
    check(
        "甲。包括：\n- 乙\n  - 丙\n",
        &["甲。", "包括：\n- 乙\n  - 丙"],
    );
    check("- 甲\n\n- 乙\n", &["甲", "乙"]);
    check("- [ ] 甲\n- [x] 乙。\n", &["甲\n- [x] 乙。"]);
}

#[test]
fn code_is_whole_and_headings_are_none() {
    let code = "```sh\nmake\n\n# a. B\nmake b\n```";
    check(&format!("Run. Then:\n\n{code}\n"), &["Run.", "Then:", code]);
    check(&format!("# A\n\n{code}\n"), &[code]);
    check(
        "A\n===\n甲。乙\n\n***\n\n> ## B\n> 丙。\n>> 丁。\n>> 戊。\n",
        &["甲。", "乙", "丙。", "丁。", "戊。"],
    );
    check(
        "- 5 is more. - 3 is less.\n",
        &["5 is more.", "- 3 is less."],
    );
    check(
        "<div class=\"a\">\n<b>甲。乙</b>\n</div>\n",
        &["<b>甲。", "乙</b>"],
    );
    check(
        "See\n<https://example.org>\n",
        &["See\n<https://example.org>"],
    );
}

/// No sentence of a comment is one of the text, whichever part of it the chunk holds.
#[test]
fn what_a_comment_says_is_not_said() {
    check(
        "见下。<!-- 底价。五十。 -->标价八十。\n",
        &["见下。", "标价八十。"],
    );
    check(
        "标价 <!-- 底价。五十。 -->\n是八十。\n\n<!-- no -->\n",
        &["标价", "是八十。"],
    );
    check("a\n\n<div>\n<!-- b -->\nc\n</div>\n", &["a", "c"]);
    let source = "a. <!-- B. --> C.\n";
    let options = SentencePackedOptions {
        comments: Comments::Keep,
        ..Default::default()
    };
    let kept = cornu_chunk::SentencePacked::new(chars(), options);
    let kept = kept.chunk(&doc(source)).unwrap();
    assert!(said(&kept[0]).concat().contains("B."));
}

#[test]
fn a_piece_of_a_table_or_of_code_says_all_its_rows() {
    let rows: String = (0..40).map(|n| format!("| r{n} | x. {n} |\n")).collect();
    let source = format!("| a | b |\n|---|---|\n{rows}");
    for found in [
        chunks(&source, 100),
        by_rows(&source, 100, TableRowsOptions::default()),
    ] {
        let indexed = found.iter().filter(|chunk| chunk.role.is_indexed());
        let all: Vec<&str> = indexed.flat_map(said).collect();
        let expected: Vec<&str> = rows.lines().collect();
        assert_eq!(all, expected);
    }
    let code = format!("```\n{}```\n", "# a. B\n".repeat(40));
    let found = chunks(&code, 100);
    assert!(found.len() > 2 && said(&found[1]).is_empty());
}

proptest! {
    /// In order, disjoint, never blank, and each within one line's block of the text.
    #[test]
    fn statements_are_parts_in_order(source in prop_oneof![noise(), markdown()], size in 8_i64..200) {
        let source = doc(&source);
        let all: [&dyn Chunker; 2] = [&packed(chars(), size, 0), &fixed(chars(), size, 0)];
        for chunk in all.iter().flat_map(|chunker| chunker.chunk(&source).unwrap()) {
            let mut end = 0;
            for part in statements(&chunk) {
                prop_assert!(part.start >= end && part.start < part.end, "{:?}", chunk.text);
                end = part.end;
                let text = chunk.text.get(part);
                prop_assert!(text.is_some_and(|text| !text.trim().is_empty()));
            }
        }
    }
}
