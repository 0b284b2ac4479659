//! The heading path in front of what is indexed.

use cornu_core::TokenCounter;

use crate::markdown::Section;

/// What `index_text` says before the chunk's own text.
///
/// ```
/// use std::sync::Arc;
/// use cornu_chunk::{Chunker, HeadingContext, SentencePacked, SentencePackedOptions};
/// use cornu_core::{Acl, DocId, Document};
/// use cornu_text::WordCounter;
///
/// let doc = Document::new(DocId::new("a.md")?, "# A\n\n## B\n\nText.\n", Acl::public());
/// let index_text = |heading_context| {
///     let options = SentencePackedOptions { heading_context, ..Default::default() };
///     let chunker = SentencePacked::new(Arc::new(WordCounter::new()), options);
///     chunker.chunk(&doc).map(|chunks| chunks[0].index_text.clone())
/// };
/// assert_eq!(index_text(HeadingContext::Path)?, "A > B\nText.");
/// assert_eq!(index_text(HeadingContext::None)?, "## B\n\nText.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeadingContext {
    /// Nothing.
    None,
    /// The heading path in one line, titles joined by ` > `. It then stands for the section's own
    /// heading, which is not repeated below it. A path larger than a quarter of the chunk's size
    /// loses its outer titles first, and the last one if need be.
    #[default]
    Path,
}

impl HeadingContext {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Path => "path",
        }
    }
}

/// What stands in front of the index text of every chunk of a section.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    /// The heading path with a line end, or nothing.
    pub(crate) line: String,
    pub(crate) tokens: usize,
    /// Whether the line already says what the section's heading says.
    pub(crate) holds_heading: bool,
}

impl Context {
    pub(crate) fn new(
        section: &Section,
        mode: HeadingContext,
        counter: &dyn TokenCounter,
        limit: usize,
    ) -> Self {
        if mode == HeadingContext::None {
            return Self::default();
        }
        for outer in 0..section.path.len() {
            let line = section.path.get(outer..).unwrap_or_default().join(" > ") + "\n";
            let tokens = counter.count(&line);
            if tokens <= limit / 4 {
                // A title that was cut in the path is shown whole in the text.
                let holds_heading = !line.ends_with("…\n");
                return Self {
                    line,
                    tokens,
                    holds_heading,
                };
            }
        }
        Self::default()
    }
}
