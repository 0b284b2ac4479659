//! Tables with two payloads: the chapter's test, and the cases of the kind "tables" by their ids.

use std::sync::Arc;

use cornu_chunk::{Chunker, TableRows, TableRowsOptions, TableView, expand, render};
use cornu_core::{Chunk, ChunkKind, ChunkRole, Ranking};
use cornu_text::Tokenizer;

use crate::counters::chars;
use crate::documents::{by_rows, named};

fn rows(source: &str) -> Vec<Chunk> {
    by_rows(source, 200, TableRowsOptions::default())
}

fn children(chunks: &[Chunk]) -> Vec<&Chunk> {
    let of_table = |chunk: &&Chunk| chunk.role.is_indexed() && chunk.kind == ChunkKind::Table;
    chunks.iter().filter(of_table).collect()
}

fn sentences(chunks: &[Chunk]) -> Vec<&str> {
    let texts = children(chunks).into_iter();
    texts.map(|chunk| chunk.index_text.as_str()).collect()
}

fn parents(chunks: &[Chunk]) -> Vec<&Chunk> {
    let parent = |chunk: &&Chunk| chunk.role == ChunkRole::Parent;
    chunks.iter().filter(parent).collect()
}

/// The chapter's test: a flat summary of each row to match, the whole Markdown with coordinates to
/// show.
#[test]
fn table_rag_dual_representation() {
    let table = "| 模型代号 | 参数量 | 上下文窗口 |\n|---|---|---|\n| BGE-small | 24M | 512 |\n\
        | Qwen-2.5-7B | 7B | 128k |\n| Llama-3-8B | 8B | 8k |";
    let source = format!("# 选型\n\n先看规格。\n\n{table}\n\n后文。\n");
    let document = named("models.md", &source);
    let chunks = TableRows::new(chars(), TableRowsOptions::default())
        .chunk(&document)
        .unwrap();

    // What is matched: one flat sentence a row, with its heading path.
    assert_eq!(
        sentences(&chunks),
        [
            "选型\n[Row 1: 模型代号: BGE-small, 参数量: 24M, 上下文窗口: 512]",
            "选型\n[Row 2: 模型代号: Qwen-2.5-7B, 参数量: 7B, 上下文窗口: 128k]",
            "选型\n[Row 3: 模型代号: Llama-3-8B, 参数量: 8B, 上下文窗口: 8k]",
        ]
    );
    // What is shown: the table as it stands in the source, from any of its rows.
    let [parent] = parents(&chunks)[..] else {
        panic!("{chunks:?}")
    };
    assert_eq!(parent.text, table);
    let hit = children(&chunks)[1];
    let hits = Ranking::new([(hit.id, 0.9)]).unwrap();
    let shown = expand(&hits, |id| chunks.iter().find(|chunk| chunk.id == *id));
    assert_eq!(shown[0].id, parent.id);
    // Where: row, column, header, line and bytes of each cell.
    let view = &TableView::all(&chunks)[0];
    let place = view.row_of(hit).unwrap();
    assert_eq!((place.row, place.line), (2, 8));
    let cells: Vec<_> = place
        .cells
        .iter()
        .map(|cell| {
            (
                cell.column,
                cell.header.as_str(),
                source[cell.span.range()].trim(),
            )
        })
        .collect();
    assert_eq!(
        cells,
        [
            (1, "模型代号", "Qwen-2.5-7B"),
            (2, "参数量", "7B"),
            (3, "上下文窗口", "128k")
        ]
    );
    assert_eq!(hit.citation(), "models.md § 选型, line 8");
    assert_eq!(
        render(hit, &source),
        "| 模型代号 | 参数量 | 上下文窗口 |\n|---|---|---|\n| Qwen-2.5-7B | 7B | 128k |"
    );
    // The text around it is chunked as ever.
    let prose: Vec<_> = chunks
        .iter()
        .filter(|c| c.kind == ChunkKind::Prose)
        .collect();
    assert_eq!(prose[0].text, "# 选型\n\n先看规格。");
    assert_eq!(prose[1].text, "后文。");
}

#[test]
fn tb_03_a_caption_is_owned_once_and_indexed_with_each_row() {
    let chunks = rows("表 1：性能\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n");
    let owners = chunks
        .iter()
        .filter(|chunk| chunk.text.contains("表 1：性能"));
    assert_eq!(owners.count(), 1);
    assert_eq!(
        sentences(&chunks),
        [
            "表 1：性能\n[Row 1: a: 1, b: 2]",
            "表 1：性能\n[Row 2: a: 3, b: 4]"
        ]
    );
}

#[test]
fn captions_are_told_from_other_paragraphs() {
    let table = "| a |\n|---|\n| 1 |\n";
    for (above, caption) in [
        ("Table 3. Pumps\n\n", true),
        ("**表二** 水泵\n\n", true),
        ("The pumps are:\n\n", true),
        ("规格如下：\n\n", true),
        ("Nothing to do with it.\n\n", false),
        ("表面处理很重要。\n\n", false),
        ("> Table 3. Quoted\n\n", false),
    ] {
        let chunks = rows(&format!("{above}{table}"));
        let indexed = sentences(&chunks)[0].lines().count() == 2;
        assert_eq!(indexed, caption, "{above:?}");
    }
}

#[test]
fn tb_04_the_line_above_the_header_is_context() {
    let chunks = rows("| 类别 | Q1 |\n| | 1-3月 |\n|---|---|\n| 收入 | 12 |\n");
    assert_eq!(
        sentences(&chunks),
        ["| 类别 | Q1 |\n[Row 1: 收入, 1-3月: 12]"]
    );
    assert_eq!(chunks[0].text, "| 类别 | Q1 |");
}

#[test]
fn tb_06_tb_07_surplus_cells_stay_findable() {
    let chunks = rows("| 写法 | 含义 |\n|---|---|\n| `a | b` | 或 |\n| `a \\| b` | 或 |\n");
    assert_eq!(
        sentences(&chunks),
        [
            "[Row 1: 写法: `a, 含义: b`, 或]",
            "[Row 2: 写法: a | b, 含义: 或]"
        ]
    );
    let chunks = rows("| a | b | c |\n|---|---|---|\n| 1 |\n| 1 | 2 | 3 | 4 |\n");
    assert_eq!(
        sentences(&chunks),
        ["[Row 1: a: 1, b:, c:]", "[Row 2: a: 1, b: 2, c: 3, 4]"]
    );
    assert_eq!(children(&chunks)[1].text, "| 1 | 2 | 3 | 4 |");
}

#[test]
fn tb_08_tb_14_what_is_no_table_is_text() {
    for source in [
        "| 名 | 值 | 注 |\n| --- | --- |\n| k | 10 |\n",
        "｜ 名 ｜ 值 ｜\n｜---｜---｜\n｜ k ｜ 10 ｜\n",
    ] {
        let chunks = rows(source);
        assert_eq!(chunks.len(), 1);
        assert_eq!(
            (chunks[0].kind, chunks[0].text.as_str()),
            (ChunkKind::Prose, source.trim_end())
        );
    }
}

#[test]
fn tb_09_a_blank_line_ends_the_table() {
    let chunks = rows("a | b\n--- | ---\n1 | 2\n \n结论文本\n");
    assert_eq!(sentences(&chunks), ["[Row 1: a: 1, b: 2]"]);
    assert_eq!(chunks.last().unwrap().text, "结论文本");
}

#[test]
fn tb_11_a_table_in_a_quote() {
    let source = "> | 名 | 值 |\n> |---|---|\n> | k | 10 |\n> | m | 20 |\n";
    let chunks = rows(source);
    assert_eq!(
        sentences(&chunks),
        ["[Row 1: 名: k, 值: 10]", "[Row 2: 名: m, 值: 20]"]
    );
    let view = &TableView::all(&chunks)[0];
    let cell = view.cell(2, 2).unwrap();
    assert_eq!((&source[cell.span.range()], cell.line), (" 20 ", 4));
    assert_eq!(view.row_of(children(&chunks)[1]).unwrap().row, 2);
}

#[test]
fn tb_12_a_file_of_one_table() {
    let chunks = rows("| 键 | 值 |\n|---|---|\n| k | 1 |");
    let [parent, child] = chunks.as_slice() else {
        panic!("{chunks:?}")
    };
    assert_ne!(parent.id, child.id, "the same bytes, two roles");
    assert_eq!(parent.text, child.text);
    assert_eq!((parent.parent, child.parent), (None, Some(parent.id)));
}

#[test]
fn tb_15_full_width_is_kept_and_found() {
    let chunks = rows("| 名称　| 数量 |\n| :-- | --: |\n| 甲　| １２ |\n");
    let child = children(&chunks)[0];
    assert!(child.text.contains("甲　| １２"), "the source is unchanged");
    let tokens = Tokenizer::new().tokens(&child.index_text);
    for wanted in ["名称", "甲", "12"] {
        assert!(
            tokens.iter().any(|token| token.text == wanted),
            "{wanted}: {tokens:?}"
        );
    }
}

#[test]
fn tb_16_a_blank_cell_stays_blank_unless_filling_is_asked_for() {
    let source =
        "| 班组 | 设备 | 负责人 |\n|---|---|---|\n| 一班 | 铣床 | 甲 |\n| 二班 | 车床 |  |\n";
    let second = "[Row 2: 班组: 二班, 设备: 车床, 负责人:]";
    assert_eq!(sentences(&rows(source))[1], second);
    let options = TableRowsOptions {
        fill_down: true,
        ..Default::default()
    };
    let filled = by_rows(source, 200, options);
    assert_eq!(
        sentences(&filled)[1],
        "[Row 2: 班组: 二班, 设备: 车床, 负责人: 甲]"
    );
    assert_eq!(
        children(&filled)[1].text,
        "| 二班 | 车床 |  |",
        "what is shown stays"
    );
    assert_eq!(TableView::all(&filled)[0].cell(2, 3).unwrap().text, "");
}

#[test]
fn tb_17_an_empty_corner_is_a_column() {
    let chunks = rows("|  | 2023 | 2024 |\n|---|---|---|\n| 收入 | 10 | 12 |\n");
    assert_eq!(sentences(&chunks), ["[Row 1: 收入, 2023: 10, 2024: 12]"]);
    let view = &TableView::all(&chunks)[0];
    let cells = view.row_of(children(&chunks)[0]).unwrap().cells;
    let pairs: Vec<_> = cells
        .iter()
        .map(|cell| (cell.header.as_str(), cell.text.as_str()))
        .collect();
    assert_eq!(pairs, [("", "收入"), ("2023", "10"), ("2024", "12")]);
}

#[test]
fn tb_19_a_header_larger_than_the_limit_stops_nothing() {
    let source = format!(
        "| {} | v |\n|---|---|\n| a | 1 |\n| b | 2 |\n",
        "很长的列名".repeat(60)
    );
    let chunks = by_rows(&source, 200, TableRowsOptions::default());
    for row in ["| a | 1 |", "| b | 2 |"] {
        assert!(
            children(&chunks)
                .iter()
                .any(|chunk| chunk.text.contains(row)),
            "{row}"
        );
    }
    assert!(
        chunks
            .iter()
            .filter(|c| c.role.is_indexed())
            .all(|chunk| chunk.tokens <= 200)
    );
}

#[test]
fn tb_21_the_header_is_indexed() {
    let chunks = rows("| 组件上限 | 数值 |\n|---|---|\n| 传感器 | 20 |\n");
    assert!(sentences(&chunks)[0].contains("组件上限: 传感器"));
    // Also that of a table without a row.
    let chunks = rows("| 组件上限 | 数值 |\n|---|---|\n");
    assert_eq!(chunks.len(), 1);
    assert!(chunks[0].index_text.contains("组件上限") && chunks[0].parent.is_none());
}

#[test]
fn tb_22_a_line_break_in_a_cell_is_a_space() {
    let chunks = rows("| 步骤 | 说明 |\n|---|---|\n| 1 | 先停机<br>再断电 |\n");
    assert_eq!(
        sentences(&chunks),
        ["[Row 1: 步骤: 1, 说明: 先停机 再断电]"]
    );
}

/// A table larger than a parent has several, each with whole rows, header repeated; coordinates
/// count through.
#[test]
fn a_large_table_has_several_parents() {
    let mut source = String::from("| 编号 | 值 |\n|---|---|\n");
    for row in 1..=30 {
        source.push_str(&format!("| n{row} | {} |\n", row * 10));
    }
    let options = TableRowsOptions {
        parent: 100,
        ..Default::default()
    };
    let chunks = by_rows(&source, 60, options);
    let parents = parents(&chunks);
    assert!(parents.len() > 2 && parents.iter().all(|parent| parent.tokens <= 100));
    let joined: Vec<&str> = parents.iter().map(|parent| parent.text.as_str()).collect();
    assert_eq!(joined.join("\n"), source.trim_end());
    assert!(render(parents[1], &source).starts_with("| 编号 | 值 |\n|---|---|\n| n"));
    let [view] = TableView::all(&chunks).try_into().unwrap();
    assert_eq!(
        (view.parents.len(), view.table.rows.len()),
        (parents.len(), 30)
    );
    for (at, child) in children(&chunks).into_iter().enumerate() {
        let place = view.row_of(child).unwrap();
        assert_eq!((place.row, place.line), (at + 1, at + 3));
        assert_eq!(place.cells[1].text, ((at + 1) * 10).to_string());
        assert_eq!(
            source[place.cells[0].span.range()].trim(),
            format!("n{}", at + 1)
        );
        assert!(child.index_text.starts_with(&format!("[Row {}: ", at + 1)));
    }
}

/// A wide row has several children; each names the first column, and shows its own cells.
#[test]
fn a_wide_row_is_cut_between_cells() {
    let years: Vec<String> = (2001..=2012).map(|year| year.to_string()).collect();
    let values: Vec<String> = (1..=12).map(|month| format!("{month}0")).collect();
    let source = format!(
        "| 指标 | {} |\n|{}\n| 收入 | {} |\n",
        years.join(" | "),
        "---|".repeat(13),
        values.join(" | ")
    );
    let options = TableRowsOptions {
        columns: 5,
        ..Default::default()
    };
    let chunks = by_rows(&source, 400, options);
    assert_eq!(
        sentences(&chunks),
        [
            "[Row 1: 指标: 收入, 2001: 10, 2002: 20, 2003: 30, 2004: 40]",
            "[Row 1: 指标: 收入, 2005: 50, 2006: 60, 2007: 70, 2008: 80, 2009: 90]",
            "[Row 1: 指标: 收入, 2010: 100, 2011: 110, 2012: 120]",
        ]
    );
    let view = &TableView::all(&chunks)[0];
    let columns: Vec<Vec<usize>> = children(&chunks)
        .into_iter()
        .map(|child| {
            view.row_of(child)
                .unwrap()
                .cells
                .iter()
                .map(|cell| cell.column)
                .collect()
        })
        .collect();
    assert_eq!(columns[1], [6, 7, 8, 9, 10]);
    assert_eq!(columns[2], [11, 12, 13]);
    assert_eq!(children(&chunks)[1].text, "50 | 60 | 70 | 80 | 90 |");
    // The same where the size cuts, not the number of columns.
    let small = by_rows(&source, 60, TableRowsOptions::default());
    assert!(children(&small).len() > 2);
    assert!(
        small
            .iter()
            .filter(|c| c.role.is_indexed())
            .all(|chunk| chunk.tokens <= 60)
    );
}

#[test]
fn settings_are_in_the_fingerprint() {
    let of = |options| TableRows::new(chars(), options).fingerprint().to_owned();
    let base = TableRowsOptions::default();
    for other in [
        TableRowsOptions {
            parent: 5000,
            ..base
        },
        TableRowsOptions { columns: 3, ..base },
        TableRowsOptions {
            fill_down: true,
            ..base
        },
    ] {
        assert_ne!(of(other), of(base));
    }
    let words = TableRows::new(Arc::new(cornu_text::WordCounter::new()), base);
    assert_ne!(words.fingerprint(), of(base));
}

const PAGE: &str = "<h1>Pumps</h1>\n<p>Table 1. Limits</p>\n<table>\n<tr><th>Model</th><th>Pressure (MPa)</th></tr>\n\
    <tr><td><b>P-1</b></td><td>3.5</td></tr>\n<tr><td>P&#45;2</td><td>12</td></tr>\n</table>\n<p>After.</p>\n";

/// A table of HTML: the same two payloads, its cells with their places in the page.
#[test]
fn html_tables_have_rows_in_words_too() {
    let document = named("pumps.html", PAGE);
    let chunks = TableRows::new(chars(), TableRowsOptions::default())
        .chunk(&document)
        .unwrap();
    assert_eq!(
        sentences(&chunks),
        [
            "Pumps\nTable 1. Limits\n[Row 1: Model: P-1, Pressure (MPa): 3.5]",
            "Pumps\nTable 1. Limits\n[Row 2: Model: P-2, Pressure (MPa): 12]",
        ]
    );
    let view = &TableView::all(&chunks)[0];
    let place = view.row_of(children(&chunks)[1]).unwrap();
    assert_eq!((place.row, place.line), (2, 6));
    assert_eq!(&PAGE[place.cells[1].span.range()], "12");
    assert_eq!(&PAGE[view.cell(1, 1).unwrap().span.range()], "P-1");
    let answer = view.ask("Which model has the highest pressure?", &Tokenizer::new());
    assert_eq!(answer.unwrap().to_string(), "P-2: 12 MPa");
}
