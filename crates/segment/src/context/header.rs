//! The header itself.

use cornu_core::Chunk;
use cornu_text::{search_fold, sentences};

/// How a header reads.
///
/// ```
/// use cornu_segment::HeaderStyle;
/// assert_eq!(HeaderStyle::default(), HeaderStyle::Plain);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderStyle {
    /// `title: summary`, then the section's summary, a line each: no words of its own, so that a
    /// header is in the document's language and costs what it says.
    #[default]
    Plain,
    /// dsRAG's English sentences (`auto_context.py`), followed by a blank line. Nothing is left out
    /// because the chunk says it already.
    Paper,
}

impl HeaderStyle {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Paper => "paper",
        }
    }
}

/// What a header may say; an empty part is not said.
#[derive(Clone, Copy)]
pub(super) struct Header<'a> {
    pub(super) title: &'a str,
    pub(super) document: &'a str,
    pub(super) section: &'a str,
}

impl<'a> Header<'a> {
    /// The header without what the chunk says already: sentences that stand in it, and a title that
    /// its heading path gives.
    pub(super) fn beside(self, chunk: &Chunk) -> (&'a str, String, String) {
        let without = |summary: &str| {
            let spans = sentences(summary).filter_map(|span| span.slice(summary));
            let news = spans.filter(|sentence| !chunk.text.contains(sentence.trim()));
            news.collect::<String>().trim_end().to_owned()
        };
        let document = without(self.document);
        let mut section = without(self.section);
        if section == document {
            section.clear();
        }
        let title = if says(chunk, self.title) {
            ""
        } else {
            self.title
        };
        (title, document, section)
    }

    /// The header, then shorter and shorter ones.
    pub(super) fn fitting(mut self) -> Vec<Header<'a>> {
        let mut out = vec![self];
        for part in [
            |header: &mut Header<'a>| std::mem::take(&mut header.section),
            |header: &mut Header<'a>| std::mem::take(&mut header.document),
        ] {
            if !part(&mut self).is_empty() {
                out.push(self);
            }
        }
        out
    }

    /// The lines to put before the index text; `None` when there is nothing to say.
    pub(super) fn render(&self, chunk: &Chunk, style: HeaderStyle) -> Option<String> {
        match style {
            HeaderStyle::Plain => self.plain(),
            HeaderStyle::Paper => self.paper(chunk),
        }
    }

    fn plain(&self) -> Option<String> {
        let mut out = match (self.title.is_empty(), self.document.is_empty()) {
            (true, true) => String::new(),
            (false, true) => format!("{}\n", self.title),
            (true, false) => format!("{}\n", self.document),
            (false, false) => format!("{}: {}\n", self.title, self.document),
        };
        if !self.section.is_empty() {
            out.push_str(self.section);
            out.push('\n');
        }
        (!out.is_empty()).then_some(out)
    }

    fn paper(&self, chunk: &Chunk) -> Option<String> {
        if self.title.is_empty() {
            return None;
        }
        let mut out = format!(
            "Document context: the following excerpt is from a document titled '{}'.",
            self.title
        );
        if !self.document.is_empty() {
            out.push_str(&format!(" {}", self.document));
        }
        if let (Some(title), false) = (chunk.heading_path.last(), self.section.is_empty()) {
            out.push_str(&format!(
                "\n\nSection context: this excerpt is from the section titled '{title}'. {}",
                self.section
            ));
        }
        out.push_str("\n\n");
        Some(out)
    }
}

/// Whether the heading path holds the title, and the first line of the index text shows it: as a
/// path, or as the heading itself.
fn says(chunk: &Chunk, title: &str) -> bool {
    let folded = search_fold(title);
    let is_title = |shown: &str| search_fold(shown.trim()) == folded;
    let first = chunk.index_text.lines().next().unwrap_or_default();
    let shown = first.trim_start_matches('#').split(" > ").any(is_title);
    shown && chunk.heading_path.iter().any(|heading| is_title(heading))
}
