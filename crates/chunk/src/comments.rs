//! What becomes of HTML comments.

/// Whether HTML comments are text of the document.
///
/// ```
/// use std::sync::Arc;
/// use cornu_chunk::{Chunker, Comments, SentencePacked, SentencePackedOptions};
/// use cornu_core::{Acl, DocId, Document};
/// use cornu_text::WordCounter;
///
/// let source = "<!--\n## draft: layoffs\n-->\n\n## Public\nok\n";
/// let doc = Document::new(DocId::new("a.md")?, source, Acl::public());
/// let chunks = SentencePacked::new(Arc::new(WordCounter::new()), SentencePackedOptions::default())
///     .chunk(&doc)?;
/// assert!(chunks.iter().all(|chunk| !chunk.text.contains("draft")));
///
/// let options = SentencePackedOptions { comments: Comments::Keep, ..Default::default() };
/// let chunks = SentencePacked::new(Arc::new(WordCounter::new()), options).chunk(&doc)?;
/// assert!(chunks[0].text.contains("draft") && chunks[0].heading_path.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Comments {
    /// No comment is indexed; one that stands between blocks is not shown either.
    #[default]
    Hide,
    /// Comments are text like any other.
    Keep,
}

impl Comments {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Hide => "hide",
            Self::Keep => "keep",
        }
    }
}
