//! Blocks, front matter and titles beyond the numbered cases.

use cornu_chunk::markdown::{BlockKind, ContainerKind, FrontMatterFormat, Outline};

use crate::documents::{chunks, headings, texts, titles};

fn kinds(source: &str) -> Vec<(&'static str, &str)> {
    let name = |kind: &BlockKind| match kind {
        BlockKind::Paragraph => "paragraph",
        BlockKind::Heading(_) => "heading",
        BlockKind::Code(_) => "code",
        BlockKind::Table(_) => "table",
        BlockKind::Html => "html",
        BlockKind::Comment => "comment",
        BlockKind::LinkDefinitions => "definitions",
        BlockKind::Rule => "rule",
        BlockKind::Markers => "markers",
        _ => "other",
    };
    let outline = Outline::parse(source);
    let blocks = outline.blocks().to_vec();
    blocks
        .into_iter()
        .map(|block| (name(&block.kind), block.span.slice(source).unwrap()))
        .collect()
}

#[test]
fn blocks_are_whole_lines_in_order() {
    let source =
        "p\nq\n\n***\n\n- a\n  - b\n-\n\n> x\n>\n> y\n\n    code\n\n<div>\nh\n</div>\n\n[l]: u\n";
    assert_eq!(
        kinds(source),
        [
            ("paragraph", "p\nq\n"),
            ("rule", "***\n"),
            ("paragraph", "- a\n"),
            ("paragraph", "  - b\n"),
            ("markers", "-\n"),
            ("paragraph", "> x\n"),
            ("markers", ">\n"),
            ("paragraph", "> y\n"),
            ("code", "    code\n"),
            ("html", "<div>\nh\n</div>\n"),
            ("definitions", "[l]: u\n"),
        ]
    );
}

#[test]
fn containers_nest() {
    let outline = Outline::parse("> 1. a\n>\n>    ```\n>    x\n>    ```\n\n[^1]: note\n");
    let kinds: Vec<_> = outline
        .containers()
        .iter()
        .map(|container| container.kind)
        .collect();
    use ContainerKind::{Footnote, Item, List, Quote};
    assert_eq!(kinds, [Quote, List, Item, Footnote]);
    let BlockKind::Code(code) = &outline.blocks()[2].kind else {
        panic!("{outline:?}")
    };
    assert!(code.fence.as_ref().unwrap().closed);
}

#[test]
fn nested_fences_and_info_strings() {
    let source = "````md title=\"a\"\n```rust\n# no\n```\n````\n\n``` \n# no\n````\n# yes\n";
    assert_eq!(titles(source), ["yes"]);
    let outline = Outline::parse(source);
    let languages: Vec<_> = outline
        .blocks()
        .iter()
        .filter_map(|block| match &block.kind {
            BlockKind::Code(code) => Some(code.language.as_deref()),
            _ => None,
        })
        .collect();
    assert_eq!(languages, [Some("md"), None]);
    // An indented line of three backticks inside a list closes its fence, not that of the document.
    assert_eq!(titles("- ```\n  # no\n  ```\n# yes\n"), ["yes"]);
    assert_eq!(
        titles("\t# code by a tab\n\n   # three spaces\n\n    # four\n"),
        ["three spaces"]
    );
}

#[test]
fn an_unclosed_fence_in_a_container_ends_with_it() {
    assert_eq!(titles("> ```\n> # no\n\n# yes\n"), ["yes"]);
    assert_eq!(titles("- ```\n  # no\n\n# yes\n"), ["yes"]);
}

#[test]
fn titles_are_plain_text() {
    let source = "# 用 `zero_grad()` *清零* **梯度** [见](u \"t\") ![图](i.png) <b>x</b> &amp; \\# $a_i$ <https://e.org>\n";
    assert_eq!(
        titles(source),
        ["用 zero_grad() 清零 梯度 见 图 x & # $a_i$ https://e.org"]
    );
    assert_eq!(titles("#\n\n## \n\n# a\\\nb\n===\n"), ["", "", "a\\", "b"]);
    assert_eq!(titles("two  \nlines\n---\n"), ["two lines"]);
}

#[test]
fn an_empty_heading_opens_a_section_without_a_name() {
    let source = "# A\n\n## \n\ntext\n";
    assert_eq!(headings(source).len(), 2);
    assert_eq!(chunks(source, 100)[0].heading_path, ["A"]);
}

#[test]
fn equal_headings_are_two_sections() {
    let found = chunks("# A\n\n## Same\n\none\n\n## Same\n\none\n", 100);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].heading_path, found[1].heading_path);
    assert_ne!(found[0].id, found[1].id);
}

#[test]
fn front_matter_in_its_forms() {
    let read = |source: &str| {
        let front = Outline::parse(source).front_matter().cloned();
        front.map(|front| (front.format, front.span.end(), front.entries.len()))
    };
    use FrontMatterFormat::{Toml, Yaml};
    assert_eq!(read("---\r\na: 1\r\n---\r\nx"), Some((Yaml, 16, 1)));
    assert_eq!(read("---\na: 1\n...\nx"), Some((Yaml, 13, 1)));
    assert_eq!(read("---\ra: 1\r---\rx"), Some((Yaml, 13, 1)));
    assert_eq!(read("\u{feff}---\na: 1\n---"), Some((Yaml, 15, 1)));
    assert_eq!(
        read("--- \n# note\na:\n  - b\n  c: d\ne: f\n---\n"),
        Some((Yaml, 37, 2))
    );
    assert_eq!(read("+++\na = 1\n[t]\nb = 2\n+++\n"), Some((Toml, 24, 1)));
    assert_eq!(read("---\n---\n"), Some((Yaml, 8, 0)));
}

#[test]
fn what_only_looks_like_front_matter() {
    for source in [
        "---\na: 1\nno end\n",     // never closed
        "---\n\na: 1\n---\n",      // a rule, then a Setext heading
        "---\nplain text\n---\n",  // likewise
        "\n---\na: 1\n---\n",      // not at the head
        " ---\na: 1\n---\n",       // indented
        "----\na: 1\n----\n",      // four dashes
        "+++\na = 1\n---\n",       // mixed
        "---\nhttps://a.b\n---\n", // a colon without a space
    ] {
        assert_eq!(Outline::parse(source).front_matter(), None, "{source:?}");
        let all: String = texts(&chunks(source, 100)).concat();
        let body = source.chars().any(char::is_alphanumeric);
        let outline = Outline::parse(source);
        assert!(
            !body || !all.is_empty() || !outline.headings().is_empty(),
            "{source:?}"
        );
    }
}

#[test]
fn a_document_of_front_matter_alone_has_no_chunk() {
    assert!(chunks("---\na: 1\n---\n", 100).is_empty());
    assert!(chunks("\u{feff}---\na: 1\n---\n\n<!-- x -->\n", 100).is_empty());
}

#[test]
fn a_byte_order_mark_hides_no_heading() {
    let source = "\u{feff}# A\n\nx\n";
    assert_eq!(titles(source), ["A"]);
    assert_eq!(chunks(source, 100)[0].span.start(), 3);
}

#[test]
fn definitions_that_come_twice_keep_their_bytes() {
    let source = "[a]: one\n[a]: two\n\nuse [a]\n";
    let found = chunks(source, 12);
    let all: String = texts(&found).concat();
    assert!(all.contains("[a]: one") && all.contains("[a]: two"));
    let used = found.iter().find(|chunk| chunk.text == "use [a]").unwrap();
    assert_eq!(used.prefix[0].slice(source), Some("[a]: one"));
}

#[test]
fn sections_partition_what_follows_the_front_matter() {
    let source = "---\na: 1\n---\n\nintro\n# A\n\n### B\n## C\nx\n\n\n";
    let outline = Outline::parse(source);
    let spans: Vec<_> = outline
        .sections()
        .iter()
        .map(|section| section.span.range())
        .collect();
    assert_eq!(
        spans.first().unwrap().start,
        outline.front_matter().unwrap().span.end()
    );
    assert_eq!(spans.last().unwrap().end, source.len());
    assert!(spans.windows(2).all(|pair| pair[0].end == pair[1].start));
    let parents: Vec<_> = outline
        .sections()
        .iter()
        .map(|section| section.parent)
        .collect();
    assert_eq!(parents, [None, None, Some(1), Some(1)]);
    for (at, _) in source.char_indices() {
        let found = outline.section_at(at).map(|section| section.span);
        let held = outline
            .sections()
            .iter()
            .find(|s| s.span.range().contains(&at));
        assert_eq!(found, held.map(|section| section.span));
    }
}

#[test]
fn front_matter_is_yaml_in_every_line() {
    for source in [
        "---\nNote: important text here.\n\n# Title\n\nbody body\n\n---\n\n# After\nx\n",
        "---\nNote: text\n\n- an item\n\n---\n\n# After\nx\n", // no key waits for it
        "---\nkey:\n```\ncode\n```\n---\n\n# After\nx\n",
        "+++\na = 1\n\nbody body\n\n+++\n\n# After\nx\n",
    ] {
        let outline = Outline::parse(source);
        assert_eq!(outline.front_matter(), None, "{source:?}");
        assert_eq!(titles(source).last().unwrap(), "After", "{source:?}");
    }
    let shown = texts(&chunks(
        "---\nNote: important text here.\n\n# Title\n\nbody body\n\n---\n",
        100,
    ))
    .concat();
    assert!(shown.contains("important") && shown.contains("body body"));
    for source in [
        "---\na: 1\n\n# comment\nb:\n- x\n-\n  y: 2\nc: # none\n- z\nd: >-\n  folded\n\n  text\n---\n",
        "---\n\"quoted key\": [a,\n  b\n]\ne: &anchor\n- x\n---\n",
        "---\na:\n  b: |\n    ```\n    # code\n    ```\n---\n",
        "+++\na = [\n\"x\",\n]\nb = \"\"\"\nany text\n# at all\n\"\"\"\n[t]\nc.d = {}\n+++\n",
    ] {
        let front = Outline::parse(source).front_matter().cloned();
        assert_eq!(
            front.map(|front| front.span.end()),
            Some(source.len()),
            "{source:?}"
        );
    }
}

fn fences(source: &str) -> Vec<bool> {
    Outline::parse(source)
        .blocks()
        .iter()
        .filter_map(|block| match &block.kind {
            BlockKind::Code(code) => Some(code.fence.as_ref().unwrap().closed),
            _ => None,
        })
        .collect()
}

#[test]
fn a_fence_is_closed_by_a_line_of_its_own_container_only() {
    for open in [
        "```\ncode\n> ```\n",
        "```\ncode\n    ```\n",
        "```\ncode\n- ```\n",
        "```\ncode\n\t```\n",
        "```\n> ```",
        "```",
        "```\n",
        "> ```\n> x\n",
        "> ```\n>",
        "> ```\n> x\n> > ```\n",
        "- ```\n  x\n      ```\n",
        "````\n```\n",
    ] {
        assert_eq!(fences(open), [false], "{open:?}");
    }
    for closed in [
        "```\n```",
        "```\n\n```\n",
        "```\ncode\n   ``` \t\n",
        "> ```\n> x\n> ```\n> para\n",
        ">```\n>x\n>   ```\n",
        "- ```\n  x\n     ```\n",
        "> - ```\r\n>   x\r\n>   `````\r\n",
        "[^1]: ~~~\n    x\n    ~~~\n",
        "```\r# x\r```\r",
    ] {
        assert_eq!(fences(closed), [true], "{closed:?}");
    }
}

#[test]
fn md_04_a_tab_may_follow_a_closing_fence() {
    assert_eq!(titles("```\n# no\n```\t\n# H\n"), ["H"]);
    assert_eq!(titles("~~~\r\n# no\r\n~~~~ \t\r\n# H\r\n"), ["H"]);
}

#[test]
fn md_23_closing_hashes_after_a_tab() {
    assert_eq!(titles("## a\t#\n"), ["a"]);
    assert_eq!(titles("## a \t### \t\n"), ["a"]);
    assert_eq!(titles("> ## a\t#\n## C\t\\#\n## C\tF#\n"), ["C #", "C F#"]);
    assert_eq!(titles("#\t#\n"), [""]);
    assert_eq!(titles("a\t#\n===\n"), ["a #"]);
    // Indentation is none of that.
    for code in ["\t#\n", "> \t\t#\n", "-\t\t##\t\n"] {
        assert!(Outline::parse(code).headings().is_empty(), "{code:?}");
    }
}

#[test]
fn a_title_is_one_line() {
    assert_eq!(titles("# A&#10;B\nx y\n"), ["A B"]);
    assert_eq!(
        titles("# A&#13;&#10;&#9; B&#1;C&#x2028;D `x  y`\n"),
        ["A B C D x y"]
    );
    let found = chunks("# A&#10;B\nx y\n", 100);
    assert_eq!(found[0].heading_path, ["A B"]);
    assert_eq!(found[0].index_text, "A B\nx y");
}

#[test]
fn only_br_is_a_line_break() {
    let source = "# a<br>b<br/>c<BR />d<br\tx>e<broken>f<brk/>g\n";
    assert_eq!(titles(source), ["a b c d efg"]);
}

#[test]
fn nesting_has_a_bound() {
    use cornu_chunk::markdown::MAX_MARKER_COLUMN;
    let depth = |source: &str| {
        let outline = Outline::parse(source);
        outline
            .blocks()
            .iter()
            .map(|block| block.depth)
            .max()
            .unwrap()
    };
    for marker in [">", "> ", "- ", "-\t", "1. ", "[^a]: ", "> - "] {
        let few = marker.repeat(8) + "x\n";
        assert!(depth(&few) >= 1, "{marker:?}");
        let source = format!("{}x\n{}# H\n", marker.repeat(4_000), "y\n".repeat(100));
        assert!(
            depth(&source) <= 2 * MAX_MARKER_COLUMN,
            "{marker:?}: {}",
            depth(&source)
        );
        assert_eq!(titles(&source), ["H"], "{marker:?}");
    }
    // By indentation, line by line.
    let stairs: String = (0..200)
        .map(|n| format!("{}- x\n", "  ".repeat(n)))
        .collect();
    assert!(depth(&stairs) <= 2 * MAX_MARKER_COLUMN);
    let quoted = ">".repeat(50) + " # deep\n";
    assert_eq!(depth(&quoted), 50);
    assert_eq!(Outline::parse(&quoted).headings()[0].title, "deep");
}
