//! Wide tables by columns, too: what a column says, shows and owns.

use std::collections::BTreeMap;

use cornu_chunk::{Chunker, TableRows, TableRowsOptions, TableView, expand, render};
use cornu_core::{Chunk, ChunkRole, Ranking};
use proptest::prelude::*;

use crate::counters::chars;
use crate::documents::{by_rows, named};
use crate::properties::config;

fn wide() -> TableRowsOptions {
    TableRowsOptions {
        wide: Some(3),
        ..Default::default()
    }
}

fn columns(chunks: &[Chunk]) -> Vec<&Chunk> {
    chunks.iter().filter(|chunk| chunk.is_column()).collect()
}

fn sentences(chunks: &[Chunk]) -> Vec<&str> {
    let texts = columns(chunks).into_iter();
    texts.map(|chunk| chunk.index_text.as_str()).collect()
}

const MODELS: &str = "# 选型\n\n| 模型代号 | 参数量 | 上下文 |\n|---|---|---|\n| BGE | 24M | 512 |\n\
    | Qwen-2.5-7B | 7B | 128k |\n\n后文。\n";

#[test]
fn a_column_is_matched_in_words_and_shows_its_rows() {
    let chunks = by_rows(MODELS, 200, wide());
    assert_eq!(
        sentences(&chunks),
        [
            "选型\n[Column 1 模型代号: BGE, Qwen-2.5-7B]",
            "选型\n[Column 2 参数量: BGE: 24M, Qwen-2.5-7B: 7B]",
            "选型\n[Column 3 上下文: BGE: 512, Qwen-2.5-7B: 128k]",
        ]
    );
    let parent = chunks.iter().find(|c| c.role == ChunkRole::Parent).unwrap();
    let second = columns(&chunks)[1];
    assert_eq!(second.text, parent.text, "evidence is bytes of the source");
    assert!(second.core.is_empty() && parent.core.contains(second.core));
    assert_eq!(second.lines, parent.lines);
    // The coordinates travel with it.
    let view = &TableView::all(&chunks)[0];
    let place = view.column_of(second).unwrap();
    assert_eq!(place.to_string(), "column 2 (参数量), lines 5-6");
    let cells: Vec<_> = place
        .cells
        .iter()
        .map(|cell| (cell.row, cell.line, MODELS[cell.span.range()].trim()))
        .collect();
    assert_eq!(cells, [(1, 5, "24M"), (2, 6, "7B")]);
    assert!(view.row_of(second).is_none());
    // The rows are as without columns, and so is what the table is called.
    let rows: Vec<&Chunk> = chunks.iter().filter(|chunk| !chunk.is_column()).collect();
    let plain = by_rows(MODELS, 200, TableRowsOptions::default());
    assert_eq!(rows.len(), plain.len());
    assert!(rows.iter().zip(&plain).all(|(a, b)| {
        (&a.text, &a.index_text, a.core, a.span) == (&b.text, &b.index_text, b.core, b.span)
    }));
    assert!(rows.iter().all(|chunk| view.column_of(chunk).is_none()));
    assert_eq!(view.caption, TableView::all(&plain)[0].caption);
}

#[test]
fn rows_and_columns_lead_to_one_table() {
    let chunks = by_rows(MODELS, 200, wide());
    let of_table = chunks.iter().filter(|c| c.parent.is_some());
    let hits = Ranking::new(
        of_table
            .enumerate()
            .map(|(at, c)| (c.id, 1.0 / (at + 1) as f64)),
    );
    let shown = expand(&hits.unwrap(), |id| chunks.iter().find(|c| c.id == *id));
    assert_eq!(shown.len(), 1);
    assert_eq!(shown[0].matched.len(), 5);
}

#[test]
fn narrow_tables_have_none_and_off_is_the_default() {
    let two = "| a | b |\n|---|---|\n| 1 | 2 |\n";
    assert!(columns(&by_rows(two, 200, wide())).is_empty());
    assert!(columns(&by_rows(MODELS, 200, TableRowsOptions::default())).is_empty());
    // One column beside no other says nothing that its rows do not.
    let least = TableRowsOptions {
        wide: Some(0),
        ..Default::default()
    };
    assert!(columns(&by_rows("| a |\n|---|\n| 1 |\n", 200, least)).is_empty());
    assert_eq!(columns(&by_rows(two, 200, least)).len(), 2);
}

#[test]
fn the_fingerprint_of_rows_alone_is_that_of_before() {
    let of = |options| TableRows::new(chars(), options).fingerprint().to_owned();
    let rows = of(TableRowsOptions::default());
    assert_eq!(
        rows,
        "table-rows/v1 size=256 overlap=38 context=path comments=hide parent=2048 columns=16 \
         fill=false counter=chars#e449f9722c2dea8b"
    );
    assert_ne!(of(wide()), rows);
    let other = TableRowsOptions {
        wide: Some(4),
        ..wide()
    };
    assert_ne!(of(other), of(wide()));
}

/// A long column has several children, each with the column's name; together they have each row once.
#[test]
fn a_long_column_is_cut_between_rows() {
    let mut source = String::from("| 编号 | 值 | 注 |\n|---|---|---|\n");
    for row in 1..=30 {
        source.push_str(&format!("| n{row} | {} | x |\n", row * 10));
    }
    let options = TableRowsOptions {
        parent: 150,
        ..wide()
    };
    let chunks = by_rows(&source, 60, options);
    let [view] = TableView::all(&chunks).try_into().unwrap();
    let second: Vec<&Chunk> = columns(&chunks)
        .into_iter()
        .filter(|chunk| view.column_of(chunk).unwrap().column == 2)
        .collect();
    assert!(second.len() > 4);
    let mut rows = Vec::new();
    for chunk in &second {
        assert!(chunk.tokens <= 60);
        assert!(chunk.index_text.starts_with("[Column 2 值: n"), "{chunk:?}");
        let place = view.column_of(chunk).unwrap();
        for cell in &place.cells {
            let said = format!("n{}: {}", cell.row, cell.text);
            assert!(chunk.index_text.contains(&said), "{said} in {chunk:?}");
        }
        rows.extend(place.cells.iter().map(|cell| cell.row));
        assert!(render(chunk, &source).starts_with("| 编号 | 值 | 注 |\n|---|---|---|\n| n"));
    }
    assert_eq!(rows, (1..=30).collect::<Vec<_>>());
}

#[test]
fn blanks_are_blank_unless_filling_is_asked_for() {
    let source = "| 班组 | 设备 | 人 |\n|---|---|---|\n| 一班 | 铣床 | 甲 |\n|  | 车床 |  |\n";
    assert_eq!(
        sentences(&by_rows(source, 200, wide())),
        [
            "[Column 1 班组: 一班]",
            "[Column 2 设备: 一班: 铣床, 车床]",
            "[Column 3 人: 一班: 甲]",
        ]
    );
    let filled = TableRowsOptions {
        fill_down: true,
        ..wide()
    };
    assert_eq!(
        sentences(&by_rows(source, 200, filled)),
        [
            "[Column 1 班组: 一班, 一班]",
            "[Column 2 设备: 一班: 铣床, 一班: 车床]",
            "[Column 3 人: 一班: 甲, 一班: 甲]",
        ]
    );
}

#[test]
fn a_cell_too_large_for_a_chunk_stands_in_no_column() {
    let large = "长".repeat(90);
    let source = format!(
        "| k | a | b |\n|---|---|---|\n| 1 | x | y |\n| 2 | {large} | z |\n| 3 | u | v |\n"
    );
    let chunks = by_rows(&source, 60, wide());
    assert_eq!(
        sentences(&chunks),
        [
            "[Column 1 k: 1, 2, 3]",
            "[Column 2 a: 1: x]",
            "[Column 2 a: 3: u]",
            "[Column 3 b: 1: y, 2: z, 3: v]",
        ]
    );
    let chunks: Vec<&Chunk> = columns(&chunks);
    assert!(!chunks[1].text.contains(&large) && !chunks[2].text.contains(&large));
}

/// What stands before a column is said again in each of its parts, so it has to be short; a cell that
/// leaves no room for it stands without it.
#[test]
fn a_caption_stands_before_columns_where_it_leaves_room() {
    let table = |caption: &str, cell: &str| {
        format!("{caption}\n\n| k | a | b |\n|---|---|---|\n| 1 | {cell} | y |\n")
    };
    let chunks = by_rows(&table("Table 1: sizes", "x"), 60, wide());
    assert_eq!(sentences(&chunks)[1], "Table 1: sizes\n[Column 2 a: 1: x]");
    assert_eq!(TableView::all(&chunks)[0].caption, "Table 1: sizes");

    let large = "w".repeat(42);
    assert_eq!(
        sentences(&by_rows(&table("Table 1: sizes", &large), 60, wide())),
        [
            "Table 1: sizes\n[Column 1 k: 1]",
            &format!("[Column 2 a: 1: {large}]"),
            "Table 1: sizes\n[Column 3 b: 1: y]",
        ]
    );
    let long = table("Table 1: sizes of each of them, in m", "x");
    assert_eq!(
        sentences(&by_rows(&long, 60, wide()))[1],
        "[Column 2 a: 1: x]"
    );
}

#[test]
fn html_has_columns_where_no_cell_can_be_shifted() {
    let page = |cell: &str| {
        format!(
            "<table><tr><th>k</th><th>a</th><th>b</th></tr>\
             <tr><td>1</td>{cell}<td>y</td></tr></table>\n"
        )
    };
    let of = |source: &str| {
        let chunks = TableRows::new(chars(), wide()).chunk(&named("a.html", source));
        let chunks = chunks.unwrap();
        sentences(&chunks)
            .iter()
            .map(|s| (*s).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of(&page("<td>x</td>")),
        [
            "[Column 1 k: 1]",
            "[Column 2 a: 1: x]",
            "[Column 3 b: 1: y]"
        ]
    );
    assert!(of(&page("")).is_empty());
    assert!(of(&page("<td colspan=1>x</td>")).is_empty());
}

proptest! {
    #![proptest_config(config())]

    /// Each cell of a wide table stands in one row child and in one column child, each within the
    /// table, whatever the sizes.
    #[test]
    fn each_cell_is_in_one_row_and_in_one_column(
        cells in (3usize..9, 1usize..20).prop_flat_map(|(width, rows)| {
            prop::collection::vec(prop::collection::vec("[a-z0-9]{0,6}", width), rows)
        }),
        size in 60i64..200,
        parent in 1usize..8,
    ) {
        let width = cells[0].len();
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let names: Vec<String> = (0..width).map(|at| format!("h{at}")).collect();
        let mut source = format!("# T\n\n{}{}\n", line(&names), "|---".repeat(width) + "|");
        cells.iter().for_each(|row| source.push_str(&line(row)));
        // A line that fits no parent has none, and its cells are those of no table.
        let longest = source.lines().map(str::len).max().unwrap();
        let options = TableRowsOptions { parent: longest.max(parent * size as usize), ..wide() };
        let chunks = by_rows(&source, size, options);
        let views = TableView::all(&chunks);
        let [view] = views.as_slice() else { return Err(TestCaseError::fail("one table")) };
        let mut counts: BTreeMap<(usize, usize), [usize; 2]> = BTreeMap::new();
        for chunk in &chunks {
            let row = view.row_of(chunk).map(|place| place.cells);
            let column = view.column_of(chunk).map(|place| place.cells);
            prop_assert!(row.is_none() || column.is_none());
            for (way, cells) in [row, column].into_iter().enumerate() {
                for cell in cells.into_iter().flatten() {
                    counts.entry((cell.row, cell.column)).or_default()[way] += 1;
                }
            }
            if chunk.is_column() {
                let parent = chunks.iter().find(|other| Some(other.id) == chunk.parent);
                prop_assert!(parent.is_some_and(|parent| parent.span.contains(chunk.span)));
            }
        }
        for row in 1..=cells.len() {
            for column in 1..=width {
                let [in_rows, in_columns] = counts.get(&(row, column)).copied().unwrap_or_default();
                prop_assert_eq!(in_columns, 1, "{} {}", row, column);
                // Blanks between the pieces of a cut row are in none of them.
                let blank = cells[row - 1][column - 1].is_empty();
                prop_assert!(in_rows == 1 || blank && in_rows == 0, "{} {}", row, column);
            }
        }
    }
}
