//! What holds for any page.

use std::collections::BTreeSet;
use std::sync::Arc;

use cornu_chunk::{
    Chunker, ParentChild, ParentChildOptions, SentencePackedOptions, TableRows, TableRowsOptions,
    TableView, Window, html,
};
use cornu_core::{Chunk, ChunkRole, Document, LineIndex, TokenCounter};
use proptest::prelude::*;

use crate::counters::{chars, jealous, merging, words};
use crate::documents::{named, packed};
use crate::invariants::check_places;

/// A page of random parts, with the words that it shows in their order, and those it hides.
#[derive(Clone, Debug, Default)]
struct Page {
    source: String,
    shown: Vec<String>,
    hidden: Vec<String>,
}

#[derive(Clone, Debug)]
enum Part {
    Text(u8),
    Hidden(u8),
    Inline(u8, Vec<Part>),
    Block(u8, Vec<Part>),
    Table(Vec<Vec<u8>>),
    Pre(u8),
}

fn part() -> impl Strategy<Value = Part> {
    let leaf = prop_oneof![
        6 => any::<u8>().prop_map(Part::Text),
        2 => any::<u8>().prop_map(Part::Hidden),
        1 => any::<u8>().prop_map(Part::Pre),
        1 => prop::collection::vec(prop::collection::vec(0u8..4, 1..4), 1..5).prop_map(Part::Table),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let inside = prop::collection::vec(inner, 0..6);
        prop_oneof![
            (any::<u8>(), inside.clone()).prop_map(|(kind, parts)| Part::Inline(kind, parts)),
            (any::<u8>(), inside).prop_map(|(kind, parts)| Part::Block(kind, parts)),
        ]
    })
}

impl Page {
    fn of(parts: &[Part]) -> Self {
        let mut page = Self::default();
        page.add(parts);
        page
    }

    /// A word that no other is, written with a reference now and then.
    fn word(&mut self, salt: u8) {
        let word = format!("w{}é{}", self.shown.len(), salt % 10);
        let written = match salt % 3 {
            0 => word.replace('é', "&eacute;"),
            1 => word.replace('é', "&#233;"),
            _ => word.clone(),
        };
        self.source.push_str(&written);
        self.shown.push(word);
    }

    fn add(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Text(salt) => {
                    for at in 0..=salt % 5 {
                        self.word(salt.wrapping_add(at));
                        self.source.push_str(
                            [" ", "\n  ", ". ", "<br>", " <!-- x --> "][usize::from(salt % 5)],
                        );
                    }
                }
                Part::Hidden(salt) => {
                    let word = format!("hidden{}x", self.hidden.len());
                    let written = match salt % 5 {
                        0 => format!("<script>'<p>{word}</p>'</script>"),
                        1 => format!("<span hidden>{word} <b>{word}</b></span>"),
                        2 => format!("<nav><ul><li>{word}<li>{word}</ul></nav>"),
                        3 => format!("<!-- {word} -->"),
                        _ => format!("<img alt='{word}' src=\"{word}\">"),
                    };
                    self.source.push_str(&written);
                    self.hidden.push(word);
                }
                Part::Inline(kind, parts) => {
                    let name = ["b", "i", "a", "span", "code"][usize::from(kind % 5)];
                    self.source.push_str(&format!("<{name} class='c'>"));
                    self.add(parts);
                    self.source.push_str(&format!("</{name}>"));
                    self.source.push(' ');
                }
                Part::Block(kind, parts) => {
                    let at = usize::from(kind % 9);
                    let name = [
                        "p",
                        "div",
                        "h1",
                        "h2",
                        "h3",
                        "li",
                        "blockquote",
                        "section",
                        "dd",
                    ][at];
                    self.source.push_str(&format!("\n<{name}>"));
                    self.add(parts);
                    if kind % 4 != 0 {
                        self.source.push_str(&format!("</{name}>\n"));
                    }
                }
                Part::Table(rows) => {
                    self.source.push_str("<table>");
                    for row in rows {
                        self.source.push_str("<tr>");
                        for &cell in row {
                            self.source.push_str("<td>");
                            (0..cell).for_each(|at| {
                                self.word(at);
                                self.source.push(' ');
                            });
                        }
                    }
                    self.source.push_str("</table>");
                }
                Part::Pre(salt) => {
                    self.source.push_str("<pre>");
                    for at in 0..=salt % 3 {
                        self.source.push_str("\n  ");
                        self.word(at);
                    }
                    self.source.push_str("</pre>");
                }
            }
        }
    }
}

fn letters(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect()
}

/// What is promised of the chunks of any page, by each strategy and counter.
fn check(document: &Document, size: i64, overlap: i64) -> Vec<Chunk> {
    let mut out = Vec::new();
    for counter in [chars(), words(), merging(), jealous()] {
        let counter = counter as Arc<dyn TokenCounter>;
        let strategy = packed(counter.clone(), size, overlap.min(size - 1));
        out = check_with(document, &strategy, &*counter, size as usize, size as usize);
        let options = ParentChildOptions {
            parent: Window::new(size * 5, 0).unwrap(),
            child: Window::new(size, 0).unwrap(),
            ..Default::default()
        };
        let family = ParentChild::new(counter.clone(), options).unwrap();
        check_with(
            document,
            &family,
            &*counter,
            size as usize,
            size as usize * 5,
        );
        let text = SentencePackedOptions {
            window: Window::new(size, overlap.min(size - 1)).unwrap(),
            ..Default::default()
        };
        for wide in [None, Some(2)] {
            let options = TableRowsOptions {
                text,
                parent: size as usize * 3,
                wide,
                ..Default::default()
            };
            let rows = TableRows::new(counter.clone(), options);
            let limits = (size as usize, size as usize * 3);
            let chunks = check_with(document, &rows, &*counter, limits.0, limits.1);
            check_places(&chunks, &TableView::all(&chunks));
        }
    }
    out
}

fn check_with(
    document: &Document,
    strategy: &dyn Chunker,
    counter: &dyn TokenCounter,
    limit: usize,
    parent_limit: usize,
) -> Vec<Chunk> {
    let source = document.source();
    let chunks = strategy.chunk(document).unwrap();
    assert_eq!(chunks, strategy.chunk(document).unwrap());
    let ids: BTreeSet<_> = chunks.iter().map(|chunk| chunk.id).collect();
    assert_eq!(ids.len(), chunks.len());
    for role in [ChunkRole::Indexed, ChunkRole::Parent] {
        let of_role: Vec<&Chunk> = chunks.iter().filter(|chunk| chunk.role == role).collect();
        let mut end = 0;
        for chunk in &of_role {
            // Where only tables have parents, these own their tables.
            let gaps = role == ChunkRole::Parent && strategy.fingerprint().starts_with("table");
            assert!(chunk.core.start() == end || gaps && chunk.core.start() > end);
            end = chunk.core.end();
            assert!(chunk.core.slice(source).is_some());
            assert_eq!(chunk.span.slice(source), Some(chunk.text.as_str()));
            assert_eq!(chunk.lines, LineIndex::new(source).lines_of(chunk.span));
            assert_eq!(chunk.tokens, counter.count(&chunk.index_text));
            assert!(!chunk.index_text.trim().is_empty(), "{source:?}");
            let one = letters(&chunk.index_text).concat().chars().count() <= 1;
            let limit = if role == ChunkRole::Parent {
                parent_limit
            } else {
                limit
            };
            assert!(
                chunk.tokens <= limit || one,
                "{} of {limit}: {chunk:?}",
                chunk.tokens
            );
            assert!(chunk.prefix.iter().all(|span| span.slice(source).is_some()));
            html::statements(&chunk.text, chunk.kind)
                .into_iter()
                .for_each(|part| assert!(chunk.text.get(part).is_some()));
        }
        let partition = role == ChunkRole::Indexed || !strategy.fingerprint().starts_with("table");
        assert!(of_role.is_empty() || end == source.len() || !partition);
        let owners: Vec<&&Chunk> = of_role.iter().filter(|chunk| !chunk.is_column()).collect();
        for pair in owners.windows(2) {
            assert!(pair[0].span.start() < pair[1].span.start());
            assert!(pair[0].span.end() < pair[1].span.end());
        }
    }
    chunks
}

/// Text of characters that mean something to HTML.
fn soup() -> impl Strategy<Value = String> {
    let marks = [
        "<p>",
        "</p>",
        "<div>",
        "</div>",
        "<li>",
        "<ul>",
        "</ul>",
        "<table>",
        "<tr>",
        "<td>",
        "<th>",
        "</table>",
        "<pre>",
        "</pre>",
        "<h1>",
        "</h1>",
        "<h2 hidden>",
        "<nav>",
        "</nav>",
        "<script>",
        "</script>",
        "<!--",
        "-->",
        "<",
        ">",
        "</",
        "/>",
        "&",
        "&amp;",
        "&#x",
        "&nbsp;",
        ";",
        "\"",
        "'",
        "=",
        "<br>",
        "<b>",
        "</b>",
        "<title>",
        "</title>",
        "<svg/>",
        "<template>",
        "</>",
        "<![CDATA[",
        "\n",
        "\r\n",
        "\r",
        " ",
        "\u{feff}",
        "\0",
        "\u{ad}",
        "。",
        "字",
        "word",
        "One. ",
        "<textarea>",
        "<plaintext>",
        "<caption>",
        "<thead>",
        "</tr>",
        "<span hidden>",
        "</span>",
    ];
    let token = prop_oneof![
        8 => prop::sample::select(marks.to_vec()).prop_map(str::to_owned),
        2 => "[a-z]{1,6} ",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(128),
    })]

    #[test]
    fn every_word_that_is_seen_is_indexed_in_its_order_and_none_that_is_hidden(
        parts in prop::collection::vec(part(), 0..10), size in 30i64..200,
    ) {
        let page = Page::of(&parts);
        let document = named("a.html", &page.source);
        let seen = html::words(&page.source);
        prop_assert_eq!(letters(&seen), page.shown.iter().map(String::as_str).collect::<Vec<_>>());
        let chunks = check(&document, size, 0);
        let mut indexed: BTreeSet<&str> = BTreeSet::new();
        for chunk in &chunks {
            indexed.extend(letters(&chunk.index_text));
            indexed.extend(chunk.heading_path.iter().flat_map(|title| letters(title)));
        }
        for hidden in &page.hidden {
            prop_assert!(!indexed.contains(hidden.as_str()), "{} of {}", hidden, page.source);
        }
        // A heading without a text below it is in no chunk, as in Markdown.
        let outline = html::outline(&page.source);
        let headings: Vec<&str> = outline.headings().iter().map(|it| it.title.as_str()).collect();
        let titles: BTreeSet<&str> = headings.iter().flat_map(|title| letters(title)).collect();
        for word in &page.shown {
            let long = word.len() > 29;
            let found = indexed.contains(word.as_str()) || titles.contains(word.as_str()) || long;
            prop_assert!(found, "{} of {}", word, page.source);
        }
    }

    #[test]
    fn invariants_hold_for_soup(source in soup(), size in 1i64..60, overlap in 0i64..20) {
        check(&named("a.html", &source), size, overlap);
    }

    #[test]
    fn invariants_hold_for_any_string_as_a_page(source in any::<String>(), size in 1i64..40) {
        check(&named("a.html", &source), size, size / 3);
    }

    /// Words come from the source: without its tags and references decoded, nothing but white space
    /// and borders of cells is added.
    #[test]
    fn words_add_nothing(source in soup()) {
        // References stand for letters that are not written.
        let source = source.replace('&', "+");
        let seen = html::words(&source);
        let again = seen.replace('&', "&amp;").replace('<', "&lt;");
        let mut from = source.chars().filter(|c| c.is_alphanumeric());
        for c in seen.chars().filter(|c| c.is_alphanumeric()) {
            prop_assert!(from.any(|other| other == c), "{c:?} of {source:?} in {seen:?}");
        }
        let again = html::words(&again);
        prop_assert_eq!(letters(&again), letters(&seen));
    }
}
