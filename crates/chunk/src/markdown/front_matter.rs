//! Metadata in front of a document: YAML between `---` lines, TOML between `+++` lines.

use cornu_core::ByteSpan;

use super::lines::{Lines, trim_line_end};

/// The language of a front matter block.
///
/// ```
/// assert_ne!(cornu_chunk::markdown::FrontMatterFormat::Yaml, cornu_chunk::markdown::FrontMatterFormat::Toml);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontMatterFormat {
    /// `---` … `---` or `...`
    Yaml,
    /// `+++` … `+++`
    Toml,
}

/// The metadata block at the head of a document. It is no part of any chunk's evidence; byte
/// offsets count it.
///
/// ```
/// use cornu_chunk::markdown::Outline;
/// let outline = Outline::parse("---\ntitle: 手册\nowner: \"ops\"\n---\n# 正文\nx\n");
/// let front = outline.front_matter().unwrap();
/// assert_eq!(front.get("title"), Some("手册"));
/// assert_eq!(front.get("owner"), Some("ops"));
/// assert_eq!(outline.headings()[0].span.start(), 35);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrontMatter {
    /// The block with both delimiter lines.
    pub span: ByteSpan,
    /// What stands between the delimiter lines.
    pub content: ByteSpan,
    /// YAML or TOML.
    pub format: FrontMatterFormat,
    /// The top-level `key: value` (`key = value`) lines in order, quotes around a value removed.
    /// Nested values are not read: parse [`content`](Self::content) for those.
    pub entries: Vec<(String, String)>,
}

impl FrontMatter {
    /// The value of a top-level key; the first, if it comes twice.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    /// Reads the block that begins at byte `start` (after a byte order mark, if there is one).
    ///
    /// A block that is never closed, that begins with a blank line, or that holds a line which its
    /// format cannot have at the top level is ordinary Markdown (a thematic break and what follows
    /// it). In YAML such lines are `key: value`, indented ones, `- item` below a key without a
    /// value, comments and blank ones; the first that is neither blank nor a comment is a key. So
    /// `# Title` between keys is a comment, and a line of prose makes all of it Markdown.
    pub(super) fn read(source: &str, start: usize) -> Option<Self> {
        let mut lines = Lines::new(source, start);
        let format = match delimiter(lines.next()?.slice(source)?) {
            Some("---") => FrontMatterFormat::Yaml,
            Some("+++") => FrontMatterFormat::Toml,
            _ => return None,
        };
        let mut entries = Vec::new();
        let mut content: Option<ByteSpan> = None;
        let mut grammar = Grammar::new(format);
        let mut nested = false;
        for span in lines {
            let raw = span.slice(source)?;
            let closes = matches!(
                (format, delimiter(raw)),
                (FrontMatterFormat::Yaml, Some("---" | "..."))
                    | (FrontMatterFormat::Toml, Some("+++"))
            );
            if closes {
                let inner = content.map_or(span.start(), ByteSpan::start);
                return Some(Self {
                    span: ByteSpan::from_range(start..span.end()),
                    content: ByteSpan::from_range(inner..span.start()),
                    format,
                    entries,
                });
            }
            let first = content.is_none();
            content.get_or_insert(span);
            let line = trim_line_end(raw);
            if first && line.trim().is_empty() {
                return None;
            }
            let entry = entry(line, format).filter(|_| !grammar.inside_value());
            if !grammar.accepts(line) {
                return None;
            }
            nested |= matches!(format, FrontMatterFormat::Toml) && line.starts_with('[');
            if !nested {
                entries.extend(entry);
            }
        }
        None
    }
}

/// Which lines may follow. Told from the beginnings of lines only: values are not read.
struct Grammar {
    format: FrontMatterFormat,
    /// A key or, in TOML, a table has been seen.
    seen: bool,
    /// YAML: the last key has no value yet, so `- item` may follow.
    awaits: bool,
    /// TOML: what ends the value that began on an earlier line.
    until: Option<&'static str>,
}

impl Grammar {
    fn new(format: FrontMatterFormat) -> Self {
        Self {
            format,
            seen: false,
            awaits: false,
            until: None,
        }
    }

    fn inside_value(&self) -> bool {
        self.until.is_some()
    }

    fn accepts(&mut self, line: &str) -> bool {
        if let Some(end) = self.until {
            let ends = line.contains(end) && (end != "]" || line.trim_end().ends_with(end));
            self.until = self.until.filter(|_| !ends);
            return true;
        }
        if line.trim().is_empty() || line.starts_with('#') {
            return true;
        }
        if let Some((_, value)) = entry(line, self.format) {
            self.seen = true;
            match self.format {
                FrontMatterFormat::Yaml => {
                    self.awaits = value.is_empty() || value.starts_with(['#', '&', '!']);
                }
                FrontMatterFormat::Toml => self.until = unfinished(line),
            }
            return true;
        }
        match self.format {
            FrontMatterFormat::Yaml => {
                let item = self.awaits && (line.starts_with("- ") || line.trim_end() == "-");
                self.seen && (item || line.starts_with([' ', '\t', ']', '}']))
            }
            FrontMatterFormat::Toml => {
                let table = line.starts_with('[');
                self.seen |= table;
                table || self.seen && line.starts_with([' ', '\t', ']', '}'])
            }
        }
    }
}

/// What ends the TOML value that begins on this line, if it goes on below.
fn unfinished(line: &str) -> Option<&'static str> {
    let value = line.split_once('=')?.1.trim();
    for quotes in ["\"\"\"", "'''"] {
        if let Some(text) = value.strip_prefix(quotes) {
            return (!text.contains(quotes)).then_some(quotes);
        }
    }
    (value.starts_with('[') && !value.contains(']')).then_some("]")
}

fn delimiter(line: &str) -> Option<&str> {
    let line = line.trim_end_matches([' ', '\t', '\r', '\n']);
    ["---", "...", "+++"]
        .into_iter()
        .find(|&known| known == line)
}

fn entry(line: &str, format: FrontMatterFormat) -> Option<(String, String)> {
    if line.starts_with([' ', '\t', '-', '#', '[']) {
        return None;
    }
    let (key, value) = match format {
        FrontMatterFormat::Yaml => {
            let (key, value) = line.split_once(':')?;
            if !value.is_empty() && !value.starts_with([' ', '\t']) {
                return None;
            }
            (key, value)
        }
        FrontMatterFormat::Toml => line.split_once('=')?,
    };
    let key = unquote(key);
    (!key.is_empty()).then(|| (key.to_owned(), unquote(value).to_owned()))
}

fn unquote(value: &str) -> &str {
    let value = value.trim();
    ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(value)
}
