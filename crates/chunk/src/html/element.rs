//! The elements that are open.

use std::collections::BTreeMap;

/// The deepest nesting of elements that is followed; what is opened below it is not tracked. It
/// bounds the work that one end tag can make.
pub const MAX_DEPTH: usize = 512;

const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];

/// What begins and ends a block.
const BLOCKS: [&str; 52] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "html",
    "head",
    "legend",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "pre",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "ul",
    "xmp",
];

/// Elements whose content is no text of the page.
const HIDDEN: [&str; 20] = [
    "script", "style", "template", "noscript", "iframe", "object", "canvas", "audio", "video",
    "svg", "nav", "select", "textarea", "button", "datalist", "noembed", "noframes", "title",
    "applet", "map",
];

/// Headings within these open no section.
const CONTAINERS: [&str; 5] = ["li", "blockquote", "td", "th", "dd"];

/// End tags and implied ends do not reach out of these, but for those of a table's own parts.
const SCOPES: [&str; 5] = ["td", "th", "caption", "table", "template"];

const TABLE_PARTS: [&str; 8] = [
    "table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption",
];

pub(super) fn is_void(name: &str) -> bool {
    VOID.contains(&name)
}

pub(super) fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name)
}

pub(super) fn is_hidden(name: &str) -> bool {
    HIDDEN.contains(&name)
}

/// The level of a heading.
pub(super) fn level(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', digit @ b'1'..=b'6'] => Some(digit - b'0'),
        _ => None,
    }
}

/// Blocks that end an open paragraph or heading whose end tag is missing.
fn ends_heading(name: &str) -> bool {
    let parts = [
        "p",
        "ul",
        "ol",
        "dl",
        "table",
        "pre",
        "section",
        "article",
        "main",
        "blockquote",
        "hr",
        "form",
    ];
    parts.contains(&name) || level(name).is_some()
}

#[derive(Debug)]
struct Element {
    name: String,
    hidden: bool,
}

/// The open elements that matter: blocks, those that are hidden, and those of a hidden one's name.
#[derive(Debug, Default)]
pub(super) struct Open {
    stack: Vec<Element>,
    counts: BTreeMap<String, usize>,
    hidden: usize,
    containers: usize,
}

impl Open {
    /// Whether text is hidden here.
    pub(super) fn is_hidden(&self) -> bool {
        self.hidden > 0
    }

    pub(super) fn containers(&self) -> usize {
        self.containers
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.counts.get(name).is_some_and(|&count| count > 0)
    }

    /// The level of the innermost open heading.
    pub(super) fn heading(&self) -> Option<u8> {
        let open = ["h1", "h2", "h3", "h4", "h5", "h6"];
        if !open.iter().any(|name| self.has(name)) {
            return None;
        }
        self.stack.iter().rev().find_map(|it| level(&it.name))
    }

    /// Opens an element. Whether it begins a hidden part is seen by asking before and after.
    pub(super) fn start(&mut self, name: &str, hidden: bool) {
        self.imply(name);
        let balances = self.hidden > 0 && self.has(name);
        let wanted = is_block(name) || hidden || balances;
        let room = self.stack.len() < MAX_DEPTH || (hidden && self.hidden == 0);
        if is_void(name) || !wanted || !room {
            return;
        }
        self.hidden += usize::from(hidden);
        self.containers += usize::from(CONTAINERS.contains(&name));
        *self.counts.entry(name.to_owned()).or_insert(0) += 1;
        self.stack.push(Element {
            name: name.to_owned(),
            hidden,
        });
    }

    /// Closes the innermost open element of this name that an end tag here can reach, and all
    /// within it.
    pub(super) fn end(&mut self, name: &str) {
        let stops = |other: &str| SCOPES.contains(&other) && !TABLE_PARTS.contains(&name);
        self.close(|other| other == name, stops, name);
    }

    /// What a start tag ends by itself.
    fn imply(&mut self, name: &str) {
        let list = |other: &str| matches!(other, "ul" | "ol" | "menu" | "dir" | "dl");
        let table = |other: &str| other == "table";
        match name {
            "li" => self.close(|other| other == "li", list, "li"),
            "dt" | "dd" => {
                for part in ["dt", "dd"] {
                    self.close(|other| other == part, list, part);
                }
            }
            "td" | "th" => {
                for part in ["td", "th"] {
                    self.close(|other| other == part, |it| table(it) || it == "tr", part);
                }
            }
            "tr" => self.close(|other| other == "tr", table, "tr"),
            "tbody" | "thead" | "tfoot" => {
                for part in ["tr", "tbody", "thead", "tfoot"] {
                    self.close(|other| other == part, table, part);
                }
            }
            _ => {}
        }
        if is_block(name) && self.has("p") {
            self.close(|other| other == "p", |other| SCOPES.contains(&other), "p");
        }
        if self.hidden == 0 && ends_heading(name) && self.heading().is_some() {
            let stops = |other: &str| SCOPES.contains(&other);
            for heading in ["h1", "h2", "h3", "h4", "h5", "h6"] {
                self.close(|other| other == heading, stops, heading);
            }
        }
    }

    /// Closes the innermost element that `is` wants, unless one that `stops` stands before it.
    fn close(&mut self, is: impl Fn(&str) -> bool, stops: impl Fn(&str) -> bool, name: &str) {
        if !self.has(name) {
            return;
        }
        let mut found = None;
        for (at, element) in self.stack.iter().enumerate().rev() {
            if is(&element.name) {
                found = Some(at);
                break;
            }
            if stops(&element.name) {
                break;
            }
        }
        let Some(found) = found else {
            return;
        };
        for element in self.stack.drain(found..) {
            self.hidden -= usize::from(element.hidden);
            self.containers -= usize::from(CONTAINERS.contains(&element.name.as_str()));
            if let Some(count) = self.counts.get_mut(&element.name) {
                *count -= 1;
            }
        }
    }
}
