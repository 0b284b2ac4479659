//! What [`render()`] gives, within quotes, lists and footnotes (siblings of CK-16 and TB-11).

use std::sync::Arc;

use cornu_chunk::markdown::{BlockKind, Outline, Table};
use cornu_chunk::{Chunker, render};
use cornu_core::{ByteSpan, Chunk, ChunkKind, TokenCounter};
use cornu_text::WordCounter;
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::counters::chars;
use crate::documents::{chunks, doc, family, fixed, packed};
use crate::generated::{markdown, nested, noise};

fn rendered(chunks: &[Chunk], source: &str) -> Vec<String> {
    chunks.iter().map(|chunk| render(chunk, source)).collect()
}

fn words(source: &str, size: i64) -> Vec<Chunk> {
    let counter: Arc<dyn TokenCounter> = Arc::new(WordCounter::new());
    packed(counter, size, 0).chunk(&doc(source)).unwrap()
}

#[test]
fn ck_16_pieces_of_a_quoted_fence_render_as_code_without_the_quote() {
    let lines: String = (0..40)
        .map(|n| format!("> let value_{n} = compute(first_{n}, second_{n});\n"))
        .collect();
    let source = format!("> ```rust\n{lines}> ```\n");
    let found = words(&source, 200);
    assert!(found.len() > 2);
    for shown in &rendered(&found, &source)[1..] {
        assert!(shown.starts_with("```rust\nlet value_"), "{shown}");
        assert!(shown.ends_with(";\n```"), "{shown}");
        assert!(!shown.contains('>'), "{shown}");
    }
    found.iter().for_each(|chunk| check(chunk, &source));
}

#[test]
fn ck_16_pieces_of_a_nested_fence_lose_what_belongs_to_the_containers_only() {
    for (first, next) in [
        ("- ", "  "),
        ("> 1. ", ">    "),
        ("- > - ", "  >   "),
        ("[^n]: ", "    "),
        (">", "> "),
        ("-\t", "\t"),
    ] {
        let body: String = (0..12).map(|n| format!("{next}  > deep_{n}\n")).collect();
        let source = format!("x[^n]\n\n{first}```py\n{body}{next}```\n");
        let found = chunks(&source, 60);
        assert!(found.len() > 3, "{first:?}");
        for (chunk, shown) in found.iter().zip(rendered(&found, &source)).skip(2) {
            let inside = shown
                .strip_prefix("```py\n")
                .and_then(|rest| rest.strip_suffix("\n```"));
            let inside = inside.unwrap_or_else(|| panic!("{shown:?}"));
            assert!(
                inside.lines().all(|line| line.starts_with("  > deep_")),
                "{shown:?}"
            );
            check(chunk, &source);
        }
    }
}

#[test]
fn ck_16_a_fence_cut_at_every_line_is_balanced() {
    let source = "> ~~~\n> # c\n> ~~~\n";
    for size in 1..20 {
        chunks(source, size)
            .iter()
            .for_each(|chunk| check(chunk, source));
    }
}

#[test]
fn ck_16_the_fence_of_a_footnote_is_closed_within_it() {
    let source = "a[^a-long-label]\n\n[^a-long-label]: ```\n    # x\n";
    let shown = render(&chunks(source, 200)[0], source);
    assert!(shown.ends_with("    # x\n    ```"), "{shown}");
}

#[test]
fn tb_11_pieces_of_a_quoted_table_render_as_tables() {
    let rows: String = (0..60).map(|n| format!("> | 键{n} | {n} |\n")).collect();
    let source = format!("> | 名 | 值 |\n> |---|---|\n{rows}");
    let found = chunks(&source, 200);
    assert!(found.len() > 3);
    for shown in &rendered(&found, &source)[1..] {
        assert!(shown.starts_with("| 名 | 值 |\n|---|---|\n| 键"), "{shown}");
    }
    found.iter().for_each(|chunk| check(chunk, &source));
}

#[test]
fn a_definition_that_looks_like_a_delimiter_row_is_no_header() {
    let source = "| a[^1] | b |\n|---|---|\n\n# B\n\n[^1]: x\n    ---\n";
    let found = chunks(source, 200);
    assert_eq!(
        render(&found[0], source),
        "[^1]: x\n    ---\n\n| a[^1] | b |\n|---|---|"
    );
}

const AFTER: &str = "Afterwards.";

/// The output swallows no paragraph after it, and a piece of a table is a table with its header.
fn check(chunk: &Chunk, source: &str) {
    let shown = render(chunk, source);
    let text = format!("{shown}\n\n{AFTER}\n");
    let at = text.len() - AFTER.len() - 1;
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
    let swallowed = Parser::new_ext(&text, options)
        .into_offset_iter()
        .any(|(event, range)| {
            matches!(event, Event::Start(Tag::CodeBlock(_))) && range.contains(&at)
        });
    assert!(!swallowed, "{shown:?} of {source:?}");
    if let Some(table) = header_of(chunk, source) {
        let first = tables(&shown).into_iter().next();
        let texts = first.as_ref().map(|first| first.header.texts());
        assert_eq!(texts, Some(table.header.texts()), "{shown:?} of {source:?}");
    }
}

/// The table that the chunk is a later piece of.
fn header_of(chunk: &Chunk, source: &str) -> Option<Table> {
    let repeated = *chunk
        .prefix
        .last()
        .filter(|_| chunk.kind == ChunkKind::Table)?;
    tables(source).into_iter().find(|table| {
        ByteSpan::from_range(table.header.span.start()..table.delimiter.end()) == repeated
    })
}

fn tables(source: &str) -> Vec<Table> {
    let blocks = Outline::parse(source).blocks().to_vec();
    blocks
        .into_iter()
        .filter_map(|block| match block.kind {
            BlockKind::Table(table) => Some(table),
            _ => None,
        })
        .collect()
}

proptest! {
    #[test]
    fn no_chunk_swallows_what_stands_after_it(
        source in prop_oneof![3 => nested(), 1 => markdown(), 1 => noise()], size in 6i64..120,
    ) {
        let document = doc(&source);
        let strategies: [&dyn Chunker; 3] = [
            &packed(chars(), size, size / 7),
            &family(chars(), size * 4, size),
            &fixed(chars(), size, 0),
        ];
        for chunker in strategies {
            for chunk in chunker.chunk(&document).unwrap() {
                check(&chunk, &source);
            }
        }
    }
}
