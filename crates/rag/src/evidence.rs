//! Which sentences of the evidence answer.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use cornu_chunk::html::{self, is_html, shown};
use cornu_chunk::markdown;
use cornu_core::{
    ByteSpan, Chunk, ChunkId, ChunkKind, DocId, EmbeddingProvider, LineIndex, LineSpan,
};
use cornu_text::Tokenizer;
use ndarray::ArrayView1;

use crate::error::RagError;

/// How many sentences of the evidence are embedded for one answer: those that share most words with
/// the question.
const EMBEDDED: usize = 32;

/// A sentence joins the best one when its score is at least this part of the best one's.
const CLOSE: f64 = 0.8;

/// The exact place of a quote.
///
/// `source[span] == quote` for the source as it was ingested.
///
/// ```
/// use cornu::{ByteSpan, ChunkId, Citation, DocId, LineSpan};
/// let citation = Citation {
///     doc: DocId::new("guide.md")?,
///     heading_path: vec!["Training".to_owned()],
///     lines: LineSpan::new(3, 3)?,
///     span: ByteSpan::new(12, 18)?,
///     chunk: ChunkId::from_bytes([0; 32]),
///     quote: "a line".to_owned(),
///     words: None,
/// };
/// assert_eq!(citation.to_string(), "guide.md § Training, line 3");
/// assert!(citation.resolves_in("# Training\n\na line"));
/// assert!(!citation.resolves_in("# Training"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Citation {
    /// The document.
    pub doc: DocId,
    /// Titles of the sections around it, outermost first.
    pub heading_path: Vec<String>,
    /// The lines, from 1.
    pub lines: LineSpan,
    /// The bytes.
    pub span: ByteSpan,
    /// The chunk it was found in.
    pub chunk: ChunkId,
    /// The source's bytes at `span`.
    pub quote: String,
    /// Of an HTML document: the words of the quote, as a reader of the page sees them. No word is
    /// in it that is not in the quote (`cornu_chunk::html` states the rule).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
}

impl Citation {
    /// Whether the quote stands at its place in this source. It does in the source that was
    /// ingested; a file may have changed since.
    #[must_use]
    pub fn resolves_in(&self, source: &str) -> bool {
        self.span.slice(source) == Some(self.quote.as_str())
    }

    /// What a reader is shown: the quote, and of an HTML document its words.
    #[must_use]
    pub fn shown(&self) -> &str {
        self.words.as_deref().unwrap_or(&self.quote)
    }
}

impl std::fmt::Display for Citation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.doc)?;
        for (depth, title) in self.heading_path.iter().enumerate() {
            let mark = if depth == 0 { " § " } else { " › " };
            write!(f, "{mark}{title}")?;
        }
        let one = self.lines.first() == self.lines.last();
        write!(f, ", line{} {}", if one { "" } else { "s" }, self.lines)
    }
}

/// A sentence of the evidence, with what it is chosen by.
///
/// ```
/// fn best(answer: &cornu::Answer) -> Option<f64> {
///     answer.statements.first().map(|statement| statement.score)
/// }
/// assert_eq!(best(&cornu::Answer { statements: vec![] }), None);
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Statement {
    /// Where it stands, and its words.
    pub citation: Citation,
    /// ½ · max(similarity, 0) + ½ · overlap.
    pub score: f64,
    /// Cosine similarity of question and sentence.
    pub similarity: f64,
    /// The part of the question's words that the sentence holds, from 0 to 1.
    pub overlap: f64,
}

/// The sentences of some chunks that answer best, best first; at most `limit`.
///
/// Each sentence's score is ½ · max(cosine of question and sentence, 0) + ½ · (part of the
/// question's words, without function words, that it holds). Equal scores stand in the order of the
/// chunks, then of the text. The best one is taken, and others that come close to it and say
/// something else.
pub(crate) fn choose(
    chunks: &[&Chunk],
    question: &str,
    query: &ArrayView1<'_, f32>,
    provider: &dyn EmbeddingProvider,
    tokenizer: &Tokenizer,
    limit: usize,
) -> Result<Vec<Statement>, RagError> {
    let asked: BTreeSet<String> = tokenizer
        .query(question)
        .into_iter()
        .map(|token| token.text)
        .collect();
    let mut seen = BTreeSet::new();
    let mut candidates: Vec<(f64, Citation)> = Vec::new();
    for chunk in chunks {
        let lines = LineIndex::new(&chunk.text);
        for range in units(chunk) {
            let Some(citation) = cite(chunk, &lines, range) else {
                continue;
            };
            if !seen.insert((citation.doc.clone(), citation.span)) {
                continue;
            }
            let words: BTreeSet<String> = tokenizer
                .tokens(citation.shown())
                .into_iter()
                .map(|token| token.text)
                .collect();
            let shared = asked.intersection(&words).count();
            candidates.push((shared as f64 / asked.len().max(1) as f64, citation));
        }
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0)); // stable: ties keep the order of the evidence
    candidates.truncate(EMBEDDED);
    let texts: Vec<&str> = candidates
        .iter()
        .map(|(_, citation)| citation.shown())
        .collect();
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let vectors = provider.embed(&texts)?;
    let mut statements: Vec<Statement> = candidates
        .into_iter()
        .zip(vectors.rows())
        .map(|((overlap, citation), vector)| {
            let similarity = cosine(query, &vector);
            Statement {
                citation,
                score: 0.5 * similarity.max(0.0) + 0.5 * overlap,
                similarity,
                overlap,
            }
        })
        .collect();
    statements.sort_by(|a, b| b.score.total_cmp(&a.score));
    let floor = statements.first().map_or(0.0, |best| best.score * CLOSE);
    let mut said = BTreeSet::new();
    statements.retain(|statement| {
        statement.score >= floor && said.insert(statement.citation.shown().to_owned())
    });
    statements.truncate(limit);
    Ok(statements)
}

/// The dot product of two unit vectors in f64, within [−1, 1].
pub(crate) fn cosine(a: &ArrayView1<'_, f32>, b: &ArrayView1<'_, f32>) -> f64 {
    let products = a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b));
    products.sum::<f64>().clamp(-1.0, 1.0)
}

/// A chunk as a whole; `None` where a reader sees no word of it.
pub(crate) fn whole(chunk: &Chunk) -> Option<Citation> {
    cite(chunk, &LineIndex::new(&chunk.text), 0..chunk.text.len())
}

fn cite(chunk: &Chunk, lines: &LineIndex, range: Range<usize>) -> Option<Citation> {
    let quote = chunk.text.get(range.clone())?.to_owned();
    let words = match shown(chunk, &quote) {
        Cow::Borrowed(_) => None,
        // A piece of a tag that a cut left over says nothing.
        Cow::Owned(words) if words.trim().is_empty() => return None,
        Cow::Owned(words) => Some(words.trim().to_owned()),
    };
    let start = chunk.span.start();
    let within = lines.lines_of(ByteSpan::from_range(range.clone()));
    let before = chunk.lines.first() - 1;
    Some(Citation {
        doc: chunk.doc.clone(),
        heading_path: chunk.heading_path.clone(),
        lines: LineSpan::new(before + within.first(), before + within.last()).ok()?,
        span: ByteSpan::new(start + range.start, start + range.end).ok()?,
        chunk: chunk.id,
        quote,
        words,
    })
}

/// What of a chunk can stand alone: sentences of prose, rows of a table, a code block as a whole.
/// Headings are none. A chunk that has nothing else is taken whole.
fn units(chunk: &Chunk) -> Vec<Range<usize>> {
    let text = chunk.text.as_str();
    let found: Vec<Range<usize>> = match chunk.kind {
        ChunkKind::Code if is_html(&chunk.doc) => Vec::new(),
        kind if is_html(&chunk.doc) => html::statements(text, kind),
        _ => markdown::statements(chunk),
    };
    if found.is_empty() {
        trimmed(text, 0..text.len()).into_iter().collect()
    } else {
        found
    }
}

fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let piece = text.get(range.clone())?;
    let start = range.start + (piece.len() - piece.trim_start().len());
    let end = start + piece.trim().len();
    (start < end).then_some(start..end)
}
