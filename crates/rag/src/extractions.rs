//! Names and statements of what is indexed: read at ingest, or later, and stored beside the chunks.

use cornu_core::{Chunk, ChunkId, Extraction, Extractor, ProviderError};
use cornu_hop::Passage;
use cornu_store::{Cursor, ExtractionFacts};

use crate::error::RagError;
use crate::index::LiveRagIndex;
use crate::ingest::Step;

/// Chunks of a commit.
const STEP: usize = 64;

/// How a row is written and of which text it was read: another number, another digest.
const FORMAT: u32 = 1;

impl LiveRagIndex {
    /// Has every indexed chunk read by [`RagOptions::extractor`](crate::RagOptions::extractor), if
    /// that one has not read it yet: for an index that was built without, or with another. Gives
    /// how many were read; `progress` gets the number so far after each commit.
    ///
    /// For the owner. Some dozen chunks a commit; stopped and called again, it goes on where it
    /// was. [`ingest`](Self::ingest) does the same for each document that it writes, so an index
    /// that was built with the option lacks nothing. Documents that
    /// [`disclosure`](crate::RagOptions::disclosure) does not permit are passed over.
    ///
    /// # Errors
    /// [`RagError::Options`] when the index was opened without that option, [`RagError::Provider`],
    /// [`RagError::Store`]; what was committed before stays.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use cornu::extract::RuleExtractor;
    /// use cornu::{Acl, DocId, Document, HashEmbeddingProvider, LiveRagIndex, Principal, RagOptions};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("index.db");
    /// let provider = Arc::new(HashEmbeddingProvider::default());
    /// let plain = LiveRagIndex::open(&path, provider.clone(), RagOptions::default())?;
    /// plain.ingest(&Document::new(DocId::new("a.md")?, "Rome is in Italy.", Acl::public()))?;
    ///
    /// let options = RagOptions { extractor: Some(Arc::new(RuleExtractor::new())), ..RagOptions::default() };
    /// let index = LiveRagIndex::open(&path, provider, options)?;
    /// assert!(index.search_hop(&Principal::public(), "Where is Rome?", 3).is_err());
    /// assert_eq!(index.complete_extractions(|_| {})?, 1);
    /// assert_eq!(index.search_hop(&Principal::public(), "Where is Rome?", 3)?.hits.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn complete_extractions(&self, mut progress: impl FnMut(usize)) -> Result<usize, RagError> {
        let extractor = self.extractor()?;
        let digest = digest(extractor);
        let mut cursor = Cursor::default();
        let mut written = 0;
        loop {
            let missing = self
                .store
                .chunks_without_extractions(&digest, &mut cursor, STEP)?;
            if missing.is_empty() {
                return Ok(written);
            }
            let mut chunks: Vec<&Chunk> = Vec::with_capacity(missing.len());
            for chunk in &missing {
                if self.may_disclose(chunk)? {
                    chunks.push(chunk);
                }
            }
            let rows = read(extractor, &chunks)?;
            let ids = chunks.iter().map(|chunk| chunk.id);
            let rows: Vec<(ChunkId, Vec<u8>)> = ids.zip(rows).collect();
            written += self
                .store
                .batch(|batch| Ok::<_, RagError>(batch.put_extractions(&digest, &rows)?))?;
            progress(written);
        }
    }

    pub(crate) fn extractor(&self) -> Result<&dyn Extractor, RagError> {
        let extractor = self.options.extractor.as_deref();
        extractor.ok_or_else(|| RagError::Options {
            problem: "`extractor` names none, so there are no names and statements; give one such \
                      as `RuleExtractor`"
                .to_owned(),
        })
    }

    /// Whether the chunk's document may be sent to a remote extractor. One that has gone meanwhile
    /// may not.
    fn may_disclose(&self, chunk: &Chunk) -> Result<bool, RagError> {
        let Some(rule) = self.options.disclosure else {
            return Ok(true);
        };
        let known = self.store.known(&chunk.doc)?;
        Ok(known.is_some_and(|known| rule.permits(&known.acl)))
    }

    /// What the extractor reads from each document that is written, where the options name one: all
    /// texts of a commit in one call and, when that fails, document by document. A document of which
    /// it fails is not written.
    pub(crate) fn extraction_facts(&self, work: &mut [Step]) -> Vec<Option<ExtractionFacts>> {
        let Some(extractor) = self.options.extractor.as_deref() else {
            return vec![None; work.len()];
        };
        let chunks: Vec<&Chunk> = work.iter().flat_map(Step::indexed).collect();
        let together = read(extractor, &chunks);
        let mut rest = together.ok().map(Vec::into_iter);
        let digest = digest(extractor);
        let one = |step: &mut Step| {
            let Step::Write { facts, .. } = step else {
                return None;
            };
            let chunks: Vec<&Chunk> = facts.indexed().collect();
            let rows = match &mut rest {
                Some(rows) => Ok(rows.take(chunks.len()).collect()),
                None => read(extractor, &chunks),
            };
            match rows {
                Ok(rows) => Some(ExtractionFacts {
                    extractor: digest,
                    rows,
                }),
                Err(error) => {
                    *step = Step::Fail(error.into());
                    None
                }
            }
        };
        work.iter_mut().map(one).collect()
    }
}

/// What the rows of an extractor depend on.
pub(crate) fn digest(extractor: &dyn Extractor) -> [u8; 32] {
    let fingerprint = extractor.fingerprint().clone();
    fingerprint.with("index.extractions", FORMAT).digest()
}

/// A chunk with what was read from it, as the graph takes it.
pub(crate) fn passage(chunk: &Chunk, row: Option<&[u8]>) -> Result<Passage<ChunkId>, RagError> {
    let extraction = match row {
        Some(row) => serde_json::from_slice(row).map_err(|source| RagError::Extraction {
            chunk: chunk.id,
            source,
        })?,
        None => Extraction::default(),
    };
    let text = text(chunk);
    Ok(match chunk.heading_path.is_empty() {
        // The first line of a text without headings is a line of it.
        true => Passage {
            id: chunk.id,
            title: None,
            text,
            extraction,
        },
        false => Passage::new(chunk.id, &text, extraction),
    })
}

/// What is read of a chunk: the outermost heading, which says what the document is about and what a
/// pronoun stands for; the other headings; what is indexed, without the path in front of it.
pub(crate) fn text(chunk: &Chunk) -> String {
    let path = chunk.heading_path.as_slice();
    let body = match chunk.index_text.split_once('\n') {
        Some((first, rest)) if is_end_of(first, path) => rest,
        _ => chunk.index_text.as_str(),
    };
    match path {
        [] => body.to_owned(),
        [title] => format!("{title}\n{body}"),
        [title, inner @ ..] => format!("{title}\n{}\n\n{body}", inner.join(" > ")),
    }
}

/// Whether a line is the path, or what is left of it when outer titles were cut off.
fn is_end_of(line: &str, path: &[String]) -> bool {
    (0..path.len()).any(|outer| {
        let left = path.get(outer..).unwrap_or_default();
        left.join(" > ") == line
    })
}

/// One row for each chunk. Nothing is read of a column of a table: what it says its rows say, and a
/// fact that is told twice would count twice.
fn read(extractor: &dyn Extractor, chunks: &[&Chunk]) -> Result<Vec<Vec<u8>>, ProviderError> {
    let owners = chunks.iter().filter(|chunk| !chunk.is_column());
    let texts: Vec<String> = owners.map(|chunk| text(chunk)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let read = match texts.is_empty() {
        true => Vec::new(),
        false => extractor.extract(&texts)?,
    };
    if read.len() != texts.len() {
        return Err(ProviderError::Protocol {
            provider: extractor.fingerprint().to_string(),
            reason: format!("{} extractions for {} texts", read.len(), texts.len()),
            remedy: "give one for each text, in order".to_owned(),
        });
    }
    // Lists of strings, which have no way to fail.
    let row = |extraction| serde_json::to_vec(extraction).unwrap_or_default();
    let mut rows = read.iter().map(row);
    let nothing = Extraction::default();
    let one = |chunk: &&Chunk| match chunk.is_column() {
        true => row(&nothing),
        false => rows.next().unwrap_or_default(),
    };
    Ok(chunks.iter().map(one).collect())
}
