//! Cases of the kind "markdown", by their ids: input and expected outcome.

use cornu_chunk::markdown::{BlockKind, Outline};
use cornu_chunk::{Chunker, FixedWindow, FixedWindowOptions};
use cornu_core::Chunk;

use crate::counters::chars;
use crate::documents::{chunks, doc, family, headings, named, packed, texts, titles};

fn levels(source: &str) -> Vec<(String, u8)> {
    headings(source)
}

fn owned(pairs: &[(&str, u8)]) -> Vec<(String, u8)> {
    pairs
        .iter()
        .map(|&(title, level)| (title.to_owned(), level))
        .collect()
}

fn path_of<'a>(chunks: &'a [Chunk], text: &str) -> &'a [String] {
    &chunks
        .iter()
        .find(|chunk| chunk.text.contains(text))
        .unwrap()
        .heading_path
}

#[test]
fn md_01_a_comment_in_a_fence_is_no_heading() {
    let source = "# 安装\n```bash\n# 安装依赖\nmake deps\n```\n## 运行\nok\n";
    assert_eq!(levels(source), owned(&[("安装", 1), ("运行", 2)]));
    let chunks = chunks(source, 100);
    let fence = "```bash\n# 安装依赖\nmake deps\n```";
    assert!(chunks[0].text.contains(fence), "{chunks:?}");
    assert_eq!(chunks[0].heading_path, ["安装"]);
    assert_eq!(chunks[1].heading_path, ["安装", "运行"]);
}

#[test]
fn md_02_a_tilde_fence_may_have_tildes_in_its_info() {
    assert_eq!(titles("# A\n~~~ a ~~~\n# in code\n~~~\n## B\n"), ["A", "B"]);
}

#[test]
fn md_04_a_closing_fence_has_no_info_string() {
    assert_eq!(
        titles("```\ncode\n```js\n# still code\n```\n# real\n"),
        ["real"]
    );
}

#[test]
fn md_05_an_unclosed_fence_ends_with_its_document() {
    let (first, second) = (
        named("1.md", "# A\n```\n# x\n## y\n"),
        named("2.md", "# B\ntext\n"),
    );
    assert_eq!(titles(first.source()), ["A"]);
    assert_eq!(titles(second.source()), ["B"]);
    let chunker = packed(chars(), 100, 0);
    let alone = packed(chars(), 100, 0).chunk(&second).unwrap();
    chunker.chunk(&first).unwrap();
    assert_eq!(chunker.chunk(&second).unwrap(), alone);
}

#[test]
fn md_08_setext_headings() {
    let source = "标题\n=\n\n第一行\n第二行\n---\n正文\n";
    assert_eq!(levels(source), owned(&[("标题", 1), ("第一行 第二行", 2)]));
    let outline = Outline::parse(source);
    let second = &outline.headings()[1];
    assert_eq!(second.span.slice(source), Some("第一行\n第二行\n---\n"));
    let last = outline.blocks().last().unwrap();
    assert_eq!(
        (&last.kind, last.span.slice(source)),
        (&BlockKind::Paragraph, Some("正文\n"))
    );
}

#[test]
fn md_09_siblings_have_the_same_level_whatever_was_skipped() {
    let source = "# 目录\n### 甲\naa\n### 乙\nbb\n## 丙\ncc\n";
    let chunks = chunks(source, 100);
    assert_eq!(path_of(&chunks, "aa"), ["目录", "甲"]);
    assert_eq!(path_of(&chunks, "bb"), ["目录", "乙"]);
    assert_eq!(path_of(&chunks, "cc"), ["目录", "丙"]);
}

#[test]
fn md_11_front_matter_is_metadata() {
    let source = "---\ntitle: 手册\nowner: ops\n---\n# 正文\nx\n";
    let outline = Outline::parse(source);
    assert_eq!(titles(source), ["正文"]);
    assert_eq!(outline.headings()[0].span.start(), 33);
    let front = outline.front_matter().unwrap();
    assert_eq!(
        (front.get("title"), front.get("owner")),
        (Some("手册"), Some("ops"))
    );
    let chunks = chunks(source, 100);
    assert_eq!(texts(&chunks), ["# 正文\nx"]);
    assert_eq!((chunks[0].span.start(), chunks[0].core.start()), (33, 0));
}

#[test]
fn md_13_a_comment_is_neither_a_section_nor_indexed_nor_shown() {
    let source = "<!--\n## 草稿：裁员名单\nsecret\n-->\n\n## 公开\nok\n";
    assert_eq!(titles(source), ["公开"]);
    let structured: [&dyn Chunker; 2] = [&packed(chars(), 100, 0), &family(chars(), 400, 100)];
    for chunker in structured {
        for chunk in chunker.chunk(&doc(source)).unwrap() {
            assert!(!chunk.text.contains("secret") && !chunk.index_text.contains("secret"));
            assert_eq!(chunk.heading_path, ["公开"]);
        }
    }
}

#[test]
fn md_13_a_comment_ends_the_chunk_before_it() {
    let source = "One.\n\n<!-- secret -->\n\nTwo.\n\n- a\n\n  <!-- secret -->\n\n  b\n";
    let found = chunks(source, 1000);
    assert_eq!(texts(&found), ["One.", "Two.\n\n- a", "  b"]);
    // Comments beside text on the same lines stay in the exact slice, and out of the index.
    let source = "Seen <!-- secret. More. --> too.\n\n<div>\n<!-- secret -->\nshown\n</div>\n";
    for chunk in chunks(source, 1000) {
        assert!(!chunk.index_text.contains("secret"), "{}", chunk.index_text);
    }
    // An unclosed comment hides the rest.
    assert_eq!(texts(&chunks("a\n\n<!-- secret\n\nsecret\n", 100)), ["a"]);
}

#[test]
fn md_15_pre_and_script_end_at_their_closing_tag() {
    let source = "<pre>\n# a\n\n# b\n</pre>\n# c\n<script>\n# d\n\n# e\n</script>\n# f\n";
    assert_eq!(titles(source), ["c", "f"]);
}

#[test]
fn md_16_a_blank_line_ends_other_html() {
    let source =
        "<div>\n## 块内\n</div>\n\n<details>\n<summary>x</summary>\n\n## 折叠内\n\n</details>\n";
    assert_eq!(titles(source), ["折叠内"]);
    assert!(chunks(source, 100)[0].text.contains("## 块内"));
}

#[test]
fn md_20_offsets_count_both_bytes_of_crlf() {
    let source = "# A\r\nx\r\n\r\n## B\r\ny\r\n";
    let chunks = chunks(source, 100);
    assert_eq!(texts(&chunks), ["# A\r\nx", "## B\r\ny"]);
    assert_eq!(chunks[1].span.start(), 10);
    assert_eq!(chunks[1].lines.to_string(), "4-5");
}

#[test]
fn md_21_a_lone_cr_ends_a_line() {
    let source = "# A\rx\r## B\ry\r";
    assert_eq!(levels(source), owned(&[("A", 1), ("B", 2)]));
    let chunks = chunks(source, 100);
    assert_eq!(texts(&chunks), ["# A\rx", "## B\ry"]);
    assert_eq!(chunks[1].lines.to_string(), "3-4");
}

#[test]
fn md_22_what_is_a_heading() {
    let source = "#标题\n\n# 标题\n\n#　全角空格\n\n#\tTab\n\n####### 七个\n\n\\# 转义\n";
    assert_eq!(titles(source), ["标题", "Tab"]);
    assert_eq!(titles("#\u{a0}no\n"), Vec::<String>::new());
}

#[test]
fn md_23_closing_hashes_need_a_space() {
    assert_eq!(titles("## 概述 ##\n## C#\n"), ["概述", "C#"]);
}

#[test]
fn md_24_no_chunk_without_a_body() {
    let source = "# 我的笔记\n## 小节\n内容\n\n\n\n\n\n\n";
    for size in [20, 100] {
        let found = chunks(source, size);
        let last = found.last().unwrap();
        assert!(found.iter().all(|chunk| chunk.text.contains("内容")));
        assert_eq!(last.heading_path, ["我的笔记", "小节"]);
    }
    let only = &chunks(source, 100)[0];
    assert_eq!(only.text, "## 小节\n内容");
    assert_eq!(only.index_text, "我的笔记 > 小节\n内容");
    assert_eq!(only.core.range(), 0..source.len());
    // Nothing but headings is nothing to retrieve; a rule or an empty list item is no body.
    assert!(chunks("# A\n## B\n", 100).is_empty());
    assert!(chunks("# A\n\n---\n\n-\n", 100).is_empty());
    let found = chunks("# A\n\none\n\n# B\n\n---\n", 100);
    assert_eq!(texts(&found), ["# A\n\none"]);
    assert_eq!(found[0].core.end(), "# A\n\none\n\n# B\n\n---\n".len());
}

#[test]
fn md_25_headings_in_containers_open_no_section() {
    let source = "# 文档\n> # 引用标题\n> 文本\n\n- # 列表标题\n  正文\n\n结尾\n";
    let outline = Outline::parse(source);
    let recorded: Vec<_> = outline
        .headings()
        .iter()
        .map(|h| (h.title.as_str(), h.in_container))
        .collect();
    assert_eq!(
        recorded,
        [("文档", false), ("引用标题", true), ("列表标题", true)]
    );
    let found = chunks(source, 12);
    assert_eq!(path_of(&found, "结尾"), ["文档"]);
    assert!(found.iter().all(|chunk| chunk.heading_path == ["文档"]));
    // Setext headings in lists and quotes likewise.
    let source = "# D\n\n- item\n  ===\n\n> quote\n> ---\n\nend\n";
    assert_eq!(titles(source), ["D"]);
    assert_eq!(Outline::parse(source).headings().len(), 3);
}

#[test]
fn md_26_nothing_to_retrieve() {
    let windows = FixedWindow::new(chars(), FixedWindowOptions::default());
    let strategies: [&dyn Chunker; 3] = [
        &packed(chars(), 100, 0),
        &family(chars(), 100, 50),
        &windows,
    ];
    for chunker in strategies {
        for source in ["", " \n\t\n　\n", "\n\r\n\r", "\u{feff}"] {
            let found = chunker.chunk(&doc(source)).unwrap();
            assert!(
                found.iter().all(|chunk| chunk.text == "\u{feff}"),
                "{source:?}: {found:?}"
            );
        }
        let found = chunker.chunk(&doc("没有标题的一段话。")).unwrap();
        let indexed: Vec<_> = found
            .iter()
            .filter(|chunk| chunk.role.is_indexed())
            .collect();
        assert_eq!(indexed.len(), 1);
        assert!(indexed[0].heading_path.is_empty());
        assert_eq!(indexed[0].span.range(), 0..27);
    }
}

#[test]
fn md_29_a_chunk_can_resolve_its_references() {
    let source =
        "# A\n见 [规范][s]。\n\n# B\n别的\n\n[s]: https://example.org/spec \"# 不是标题\"\n";
    assert_eq!(titles(source), ["A", "B"]);
    let found = chunks(source, 100);
    assert_eq!(found[0].heading_path, ["A"]);
    let resolved: Vec<_> = found[0]
        .prefix
        .iter()
        .map(|span| span.slice(source).unwrap())
        .collect();
    assert_eq!(resolved, ["[s]: https://example.org/spec \"# 不是标题\""]);
    assert!(found[1].prefix.is_empty(), "B shows the definition itself");
    assert!(found[1].text.contains("https://example.org/spec"));
}

#[test]
fn md_29_footnotes_are_definitions_too() {
    let source =
        "# A\n\nSo it is.[^Why] Again.[^why]\n\n# B\n\nx\n\n[^why]: Because.\n\n    Really.\n";
    let found = chunks(source, 200);
    let resolved: Vec<_> = found[0]
        .prefix
        .iter()
        .map(|span| span.slice(source).unwrap())
        .collect();
    assert_eq!(resolved, ["[^why]: Because.\n\n    Really."]);
    // Unused and undefined labels name nothing.
    assert!(
        chunks("[^x] and [y] and [z][]\n\n# B\n\n[q]: u\n", 200)[0]
            .prefix
            .is_empty()
    );
}

#[test]
fn md_30_text_before_a_hash_line_is_kept() {
    let source = "前言很重要。\n\n```py\n# 注释\nx=1\n```\n尾部\n";
    let all: String = texts(&chunks(source, 100)).concat();
    assert!(all.contains("前言很重要。") && all.contains("尾部"));
}
