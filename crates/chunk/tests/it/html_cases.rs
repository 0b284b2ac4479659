//! What a page says, and where.

use cornu_chunk::markdown::{BlockKind, Outline};
use cornu_chunk::{Chunker, html, render};
use cornu_core::{Chunk, ChunkKind};

use crate::counters::chars;
use crate::documents::{family, named, packed};

fn chunks(page: &str, size: i64) -> Vec<Chunk> {
    packed(chars(), size, 0)
        .chunk(&named("a.html", page))
        .unwrap()
}

fn kinds(outline: &Outline) -> Vec<&'static str> {
    let kind = |kind: &BlockKind| match kind {
        BlockKind::Paragraph => "paragraph",
        BlockKind::Heading(_) => "heading",
        BlockKind::Code(_) => "code",
        BlockKind::Table(_) => "table",
        BlockKind::Comment => "hidden",
        _ => "other",
    };
    outline
        .blocks()
        .iter()
        .map(|block| kind(&block.kind))
        .collect()
}

#[test]
fn headings_lists_code_and_tables_are_blocks_with_their_lines() {
    let page = "<!doctype html>\n<html><head><title>Gas &amp; air</title></head>\n<body>\n\
        <h2>Limits</h2>\n<p>Ventilate early.</p>\n<ul>\n<li>One\n<li>Two\n</ul>\n<h3>Code</h3>\n\
        <pre><code class=\"language-rust\">\nfn main() {\n    stop();\n}\n</code></pre>\n<h3>Table</h3>\n\
        <table>\n<tr><th>gas</th><th>ppm</th></tr>\n<tr><td>CO</td><td>30</td></tr>\n</table>\n";
    let found = chunks(page, 200);
    let shown: Vec<(String, &str)> = found
        .iter()
        .map(|chunk| (chunk.citation(), chunk.index_text.as_str()))
        .collect();
    let expected = [
        (
            "a.html § Gas & air › Limits, lines 4-9",
            "Gas & air > Limits\nVentilate early.\nOne\nTwo",
        ),
        (
            "a.html § Gas & air › Limits › Code, lines 10-15",
            "Gas & air > Limits > Code\nfn main() {\n    stop();\n}",
        ),
        (
            "a.html § Gas & air › Limits › Table, lines 16-20",
            "Gas & air > Limits > Table\ngas | ppm\nCO | 30",
        ),
    ];
    for ((citation, words), (place, text)) in shown.iter().zip(expected) {
        assert_eq!((citation.as_str(), words.trim_end()), (place, text));
    }
    assert_eq!(found.len(), 3);
    let outline = html::outline(page);
    assert_eq!(
        kinds(&outline),
        [
            "hidden",
            "heading",
            "paragraph",
            "paragraph",
            "paragraph",
            "heading",
            "code",
            "heading",
            "table"
        ]
    );
    let BlockKind::Table(table) = &outline.blocks()[8].kind else {
        panic!("no table");
    };
    assert_eq!(table.header.texts(), ["gas", "ppm"]);
    assert_eq!(table.rows[0].texts(), ["CO", "30"]);
}

#[test]
fn a_chunk_is_exactly_its_bytes_and_matches_by_its_words() {
    let page = "<p class=\"a b\">Caf&eacute; <b>open</b>s<br/>at\n\t  nine&nbsp;o&#8217;clock&hellip; \
        5 &lt; 6 &amp c &notanentity; &#xD1; soft&shy;ly</p>";
    let found = chunks(page, 200);
    assert_eq!(found[0].text, page);
    assert_eq!(
        found[0].index_text,
        "Café opens at nine o’clock… 5 < 6 & c ¬anentity; Ñ softly"
    );
}

#[test]
fn what_a_reader_does_not_see_is_not_there() {
    let page = "<script>var secret = '<p>one</p>';</script><style>p { color: two }</style>\
        <nav><ul><li>three</ul></nav><!-- four --><template>five</template>\
        <p>Seen <span hidden>six</span><i style='display: none'>seven</i> here.</p>\
        <div role=navigation>eight</div><div aria-hidden=true><p>nine</div>\
        <svg><title>ten</title><text>eleven</text></svg><noscript>twelve</noscript>\
        <select><option>thirteen</select><textarea>fourteen</textarea><img alt=fifteen>\
        <p>Also seen.<p hidden>sixteen<p>And this.";
    let found = chunks(page, 1000);
    let words: Vec<&str> = found
        .iter()
        .map(|chunk| chunk.index_text.as_str())
        .collect();
    assert_eq!(words, ["Seen here.", "Also seen.", "And this."]);
    // Between blocks it is not even shown.
    for chunk in &found {
        for hidden in [
            "var secret",
            "color",
            "three",
            "four",
            "eight",
            "nine",
            "sixteen",
        ] {
            assert!(!chunk.text.contains(hidden), "{hidden}: {}", chunk.text);
        }
    }
}

#[test]
fn broken_pages_are_read_as_browsers_read_them() {
    for (page, words) in [
        ("<p>one<p>two<div>three", "one\ntwo\nthree"),
        ("<ul><li>a<li>b</ul>c", "a\nb\nc"),
        ("</div></p>x</table></span>y", "x\ny"),
        ("<b>bold<p>still</b> here", "bold\nstill here"),
        ("a < b and c > d", "a < b and c > d"),
        ("a</>b", "ab"),
        ("tail <a href=\"x", "tail"),
        ("x<script>var a = 1", "x"),
        ("<nav>menu<p>all of it is menu", ""),
        ("<div><nav>menu</div>text", "text"),
        ("<table><tr><td>1<td>2<tr><td>3</table>4", "1 | 2\n3\n4"),
        ("<table><td>a<td><td>c</table>", "a | | c"),
        ("<table><tr><td><td>b</table>", "| b"),
        ("<table><caption>T</caption><tr><th>h</table>", "T\nh"),
        ("<h2>One<h3>Two<p>text", "One\nTwo\ntext"),
        ("<h2><div>In</div><div>a box</div></h2>x", "In a box\nx"),
        ("<pre>\n a\n\n  b\r\nc</pre>d", " a\n\n  b\r\nc\nd"),
        ("<pre>a<br>b</pre>", "a\nb"),
        ("<?php echo 1 ?>x", "x"),
        ("<![CDATA[y]]>x", "x"),
        ("\u{feff}<p>x", "x"),
        ("&nbsp; <p>&#160;</p>\n", ""),
        ("<title>only a title</title>", ""),
        ("a<br>b<wbr>c", "a bc"),
    ] {
        let read = html::words(page);
        assert_eq!(read.trim_matches('\n'), words, "{page:?}");
    }
}

#[test]
fn a_table_that_lays_out_a_page_is_no_data() {
    let page = "<table><tr><td><h2>News</h2><p>One thing.</p></td><td>\
        <table><tr><td>a<td>1</table></td></tr></table>";
    let outline = html::outline(page);
    assert_eq!(kinds(&outline), ["heading", "paragraph", "table"]);
    assert_eq!(html::words(page), "News\nOne thing.\na | 1");
}

#[test]
fn headings_in_items_and_cells_open_no_section() {
    let page = "<h1>Top</h1><ul><li><h2>Card</h2>text</ul><blockquote><h2>Quoted</h2></blockquote>";
    let outline = html::outline(page);
    assert_eq!(outline.sections().len(), 1);
    assert_eq!(chunks(page, 200)[0].index_text, "Top\nCard\ntext\nQuoted");
}

#[test]
fn a_large_table_repeats_its_header_and_a_large_block_of_code_its_language() {
    let rows: String = (0..40)
        .map(|at| format!("<tr><td>part {at}</td><td>{}</td></tr>\n", at * 7))
        .collect();
    let page = format!("<h1>Parts</h1><table><thead><tr><td>name<td>limit</thead>\n{rows}</table>");
    let found = chunks(&page, 120);
    assert!(found.len() > 3);
    for chunk in &found[1..] {
        assert_eq!(chunk.kind, ChunkKind::Table);
        assert!(
            chunk.index_text.starts_with("Parts\nname | limit\npart "),
            "{:?}",
            chunk.index_text
        );
        assert!(
            chunk.text.starts_with("<tr>") && chunk.text.ends_with("</tr>")
                || chunk.text.ends_with("</table>")
        );
        assert_eq!(chunk.prefix.len(), 1);
        let rows = html::statements(&chunk.text, chunk.kind);
        assert!(
            rows.iter()
                .all(|row| chunk.text[row.clone()].starts_with("<tr>"))
        );
        assert!(render(chunk, &page).starts_with("name | limit\npart "));
    }
    let lines: String = (0..40).map(|at| format!("let x{at} = {at};\n")).collect();
    let page = format!("<pre class=lang-rust>{lines}</pre>");
    let found = chunks(&page, 120);
    assert!(found.len() > 3);
    for chunk in &found {
        assert_eq!(
            (chunk.kind, chunk.language.as_deref()),
            (ChunkKind::Code, Some("rust"))
        );
        let shown = render(chunk, &page);
        assert!(
            shown.starts_with("```rust\nlet x") && shown.ends_with(";\n```"),
            "{shown}"
        );
    }
}

#[test]
fn sizes_are_those_of_the_words() {
    let image = "x".repeat(50_000);
    let page = format!("<p>Before <img src=\"data:{image}\"> after. Next.</p><p>More.</p>");
    let found = chunks(&page, 40);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].index_text, "Before after. Next.\nMore.");
    assert_eq!(found[0].text, page);
}

#[test]
fn a_sentence_too_large_is_cut_between_words_and_never_in_a_tag() {
    let word = "<b title=\"no cut in here\">w&ouml;rd</b> ";
    let page = format!("<p>{}</p>", word.repeat(200));
    let found = chunks(&page, 50);
    assert!(found.len() >= 20);
    for chunk in &found {
        assert!(
            chunk.index_text.split(' ').all(|word| word == "wörd"),
            "{:?}",
            chunk.index_text
        );
        assert!(chunk.tokens <= 50);
    }
    let total: usize = found
        .iter()
        .map(|chunk| chunk.index_text.split(' ').count())
        .sum();
    assert_eq!(total, 200);
}

#[test]
fn parents_hold_their_children_in_html_too() {
    let page = "<h1>A</h1><p>One two. Three four.</p><h2>B</h2><p>Five six. Seven.</p>";
    let found = family(chars(), 200, 20)
        .chunk(&named("a.htm", page))
        .unwrap();
    let (parent, children) = found.split_first().unwrap();
    assert_eq!(parent.text, page);
    assert_eq!(
        parent.index_text,
        "A\nOne two. Three four.\nB\nFive six. Seven."
    );
    assert!(children.len() >= 3);
    assert!(children.iter().all(|child| child.parent == Some(parent.id)));
}

/// With work that is quadratic this would take hours.
#[test]
fn pages_made_to_hurt_are_read_all_the_same() {
    let deep = 15_000;
    for page in [
        "<div>".repeat(deep),
        "<a>".repeat(deep) + &"</b>".repeat(deep),
        format!("<section><table><td>{}", "<div></section>".repeat(deep)),
        format!("<section><table><td>{}", "<nav></section>".repeat(deep)),
        "<p hidden>".repeat(deep),
        "<table><tr><td>".repeat(deep),
        "<li>x".repeat(deep),
        "&".repeat(deep) + &"&amp".repeat(deep),
        "<h1>x<p hidden>".repeat(deep / 4),
        format!("<p>{}</p>", "word ".repeat(deep)),
        format!("<p>{}</p>", "<b>字</b>".repeat(deep)),
    ] {
        for chunk in chunks(&page, 100) {
            assert!(!chunk.index_text.contains('<'), "{}…", &page[..20]);
        }
    }
}
