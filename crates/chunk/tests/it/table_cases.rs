//! Cases of the kind "tables" that concern recognition, splitting and chunking, by their ids.

use cornu_chunk::markdown::{BlockKind, Outline, Table};
use cornu_chunk::{Chunker, render};
use cornu_core::ChunkKind;

use crate::counters::chars;
use crate::documents::{chunks, doc, family, packed, texts};

fn table(source: &str) -> Table {
    find(source).unwrap_or_else(|| panic!("no table in {source:?}"))
}

fn find(source: &str) -> Option<Table> {
    Outline::parse(source)
        .blocks()
        .iter()
        .find_map(|block| match &block.kind {
            BlockKind::Table(table) => Some(table.clone()),
            _ => None,
        })
}

fn rows(table: &Table) -> Vec<Vec<&str>> {
    table.rows.iter().map(|row| row.texts()).collect()
}

#[test]
fn tb_03_a_caption_stands_in_one_piece() {
    let source = "表 1：性能\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n";
    let found = chunks(source, 24);
    assert_eq!(
        found
            .iter()
            .filter(|chunk| chunk.text.contains("表 1：性能"))
            .count(),
        1
    );
    assert_eq!(
        found
            .iter()
            .filter(|chunk| chunk.index_text.contains("性能"))
            .count(),
        1
    );
    for pair in found.windows(2) {
        assert!(!pair[0].span.overlaps(pair[1].span));
    }
    let last = found.last().unwrap();
    assert_eq!(
        (last.text.as_str(), last.kind),
        ("| 3 | 4 |", ChunkKind::Table)
    );
    assert_eq!(last.index_text, "| a | b |\n| 3 | 4 |");
    assert_eq!(render(last, source), "| a | b |\n|---|---|\n| 3 | 4 |");
}

#[test]
fn tb_04_one_header_row_only() {
    let source = "| 类别 | Q1 |\n| | 1-3月 |\n|---|---|\n| 收入 | 12 |\n";
    let table = table(source);
    assert_eq!(table.header.texts(), ["", "1-3月"]);
    assert_eq!(
        Outline::parse(source).blocks()[0].kind,
        BlockKind::Paragraph
    );
    assert_eq!(
        texts(&chunks(source, 100)),
        [source.trim_end()],
        "the first line stays beside it"
    );
    // Also where the table has to be cut, the short text that leads to it stays with its header.
    let source = format!("{source}{}", "| 成本 | 10000 |\n".repeat(10));
    assert!(
        chunks(&source, 60)[0]
            .text
            .starts_with("| 类别 | Q1 |\n| | 1-3月 |\n|---|---|\n")
    );
}

#[test]
fn tb_06_a_bare_pipe_ends_a_cell_even_in_code() {
    let source = "| 写法 | 含义 |\n|---|---|\n| `a | b` | 或 |\n| `a \\| b` | 或 |\n";
    let table = table(source);
    assert_eq!(rows(&table), [["`a", "b`"], ["a | b", "或"]]);
    assert!(table.rows[0].span.slice(source).unwrap().contains('或'));
    assert!(
        chunks(source, 200)[0]
            .index_text
            .contains("| `a | b` | 或 |")
    );
}

#[test]
fn tb_07_short_rows_are_padded_and_long_ones_keep_their_bytes() {
    let source = "| a | b | c |\n|---|---|---|\n| 1 |\n| 1 | 2 | 3 | 4 |\n";
    assert_eq!(rows(&table(source)), [["1", "", ""], ["1", "2", "3"]]);
    assert!(chunks(source, 200)[0].index_text.contains("| 4 |"));
}

#[test]
fn tb_08_a_delimiter_row_of_another_width_makes_no_table() {
    let source = "| 名 | 值 | 注 |\n| --- | --- |\n| k | 10 |\n";
    assert_eq!(find(source), None);
    let found = chunks(source, 200);
    assert_eq!(texts(&found), [source.trim_end()]);
    assert_eq!(found[0].kind, ChunkKind::Prose);
}

#[test]
fn tb_09_a_line_of_one_space_is_blank() {
    let source = "a | b\n--- | ---\n1 | 2\n \n结论文本\n";
    assert_eq!(rows(&table(source)), [["1", "2"]]);
    let outline = Outline::parse(source);
    let last = outline.blocks().last().unwrap();
    assert_eq!(
        (&last.kind, last.span.slice(source)),
        (&BlockKind::Paragraph, Some("结论文本\n"))
    );
}

#[test]
fn tb_11_a_table_in_a_quote() {
    let source = "> | 名 | 值 |\n> |---|---|\n> | k | 10 |\n";
    assert_eq!(table(source).header.texts()[0], "名");
    assert_eq!(chunks(source, 100)[0].kind, ChunkKind::Table);
}

#[test]
fn tb_12_a_file_of_one_table_gives_distinct_ids() {
    let source = "| 键 | 值 |\n|---|---|\n| k | 1 |";
    let found = family(chars(), 400, 100).chunk(&doc(source)).unwrap();
    let [parent, child] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(
        (parent.kind, child.kind),
        (ChunkKind::Table, ChunkKind::Table)
    );
    assert_eq!(parent.span, child.span);
    assert_ne!(parent.id, child.id);
    assert_eq!((parent.parent, child.parent), (None, Some(parent.id)));
}

#[test]
fn tb_14_full_width_bars_are_text() {
    let source = "｜ 名 ｜ 值 ｜\n｜---｜---｜\n｜ k ｜ 10 ｜\n";
    assert_eq!(find(source), None);
    let found = chunks(source, 100);
    assert!(
        ["名", "值", "k", "10"]
            .iter()
            .all(|word| found[0].index_text.contains(word))
    );
}

#[test]
fn tb_17_an_empty_corner_is_a_column() {
    let source = "|  | 2023 | 2024 |\n|---|---|---|\n| 收入 | 10 | 12 |\n";
    let table = table(source);
    let pairs: Vec<_> = table
        .header
        .texts()
        .into_iter()
        .zip(table.rows[0].texts())
        .collect();
    assert_eq!(pairs, [("", "收入"), ("2023", "10"), ("2024", "12")]);
}

#[test]
fn tb_19_a_header_larger_than_the_limit() {
    let wide = "很长的列名".repeat(100);
    let source = format!("| {wide} | v |\n|---|---|\n| a | 1 |\n| b | 2 |\n");
    let found = chunks(&source, 200);
    assert!(
        found
            .iter()
            .all(|chunk| chunk.tokens <= 200 && chunk.kind == ChunkKind::Table)
    );
    for row in ["| a | 1 |", "| b | 2 |"] {
        assert_eq!(
            found
                .iter()
                .filter(|chunk| chunk.text.contains(row))
                .count(),
            1
        );
    }
    let indexed: Vec<&str> = found
        .iter()
        .map(|chunk| chunk.index_text.as_str())
        .collect();
    assert_eq!(
        indexed.concat().matches("列名").count(),
        100,
        "the header is not repeated"
    );
    assert_eq!(found.last().unwrap().prefix.len(), 1, "but named");
    assert_eq!(texts(&found).concat().matches("列名").count(), 100);
}

#[test]
fn tb_19_a_row_larger_than_the_limit() {
    let source = format!(
        "| a | b |\n|---|---|\n| x | {} |\n| y | 2 |\n",
        "长".repeat(300)
    );
    let found = chunks(&source, 100);
    assert!(found.iter().all(|chunk| chunk.tokens <= 100));
    assert_eq!(texts(&found).concat().matches('长').count(), 300);
    let pieces = found.iter().filter(|chunk| !chunk.prefix.is_empty());
    assert!(
        pieces
            .clone()
            .all(|chunk| chunk.index_text.starts_with("| a | b |\n"))
    );
    assert!(pieces.count() >= 3);
}

#[test]
fn tb_21_the_header_is_indexed() {
    let source = "| 组件上限 | 数值 |\n|---|---|\n| 传感器 | 20 |\n";
    let found = chunks(source, 100);
    assert!(found[0].index_text.contains("组件上限") && found[0].index_text.contains("数值"));
    // And with every piece of a larger table.
    let long = format!("{source}{}", "| 传感器 | 20 |\n".repeat(20));
    let found = packed(chars(), 60, 0).chunk(&doc(&long)).unwrap();
    assert!(
        found.len() > 3
            && found
                .iter()
                .all(|chunk| chunk.index_text.contains("组件上限"))
    );
}

#[test]
fn cells_are_plain_text() {
    let source = "| *a* [b](u) | `c` |\n|:-:|---|\n| 先停机<br>再断电 | ~~x~~ ![alt](i.png) |\n";
    let table = table(source);
    assert_eq!(table.header.texts(), ["a b", "c"]);
    assert_eq!(rows(&table), [["先停机 再断电", "x alt"]]);
    assert_eq!(table.delimiter.slice(source), Some("|:-:|---|\n"));
    assert_eq!(
        table.header.cells[0].span.slice(source),
        Some(" *a* [b](u) ")
    );
}
