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
    /// A block that is never closed, that begins with a blank line, or whose first line is no
    /// `key: value` is ordinary Markdown (a thematic break and what follows it).
    pub(super) fn read(source: &str, start: usize) -> Option<Self> {
        let mut lines = Lines::new(source, start);
        let format = match delimiter(lines.next()?.slice(source)?) {
            Some("---") => FrontMatterFormat::Yaml,
            Some("+++") => FrontMatterFormat::Toml,
            _ => return None,
        };
        let mut entries = Vec::new();
        let mut content: Option<ByteSpan> = None;
        let (mut plausible, mut nested) = (false, false);
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
            let entry = entry(line, format);
            if !plausible && !line.trim().is_empty() && !line.starts_with('#') {
                let opens = matches!(format, FrontMatterFormat::Toml) && line.starts_with('[');
                if entry.is_none() && !opens {
                    return None;
                }
                plausible = true;
            }
            nested |= matches!(format, FrontMatterFormat::Toml) && line.starts_with('[');
            if !nested {
                entries.extend(entry);
            }
        }
        None
    }
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
