//! Documents into the index.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cornu_chunk::{Tree, read_markdown_tree};
use cornu_core::{
    Acl, Change, Chunk, DocId, Document, DocumentFacts, Embeddings, FactStore, Principal,
    ProviderError,
};
use cornu_rerank::TokenMatrix;
use cornu_store::TokenFacts;
use ndarray::{Array2, s};
use rayon::prelude::*;

use crate::error::RagError;
use crate::index::LiveRagIndex;
use crate::postings;

/// A commit ends when it holds this many bytes of sources, or this many documents.
const BATCH_BYTES: usize = 1 << 20;
const BATCH_DOCUMENTS: usize = 256;

/// What became of one document.
///
/// ```
/// use cornu::{Change, Ingested};
/// let ingested = Ingested { change: Change::Inserted, chunks: 3, truncated: 0 };
/// assert_eq!(ingested.chunks, 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ingested {
    /// New, changed or as before.
    pub change: Change,
    /// Its chunks, parents among them.
    pub chunks: usize,
    /// Chunks of which the model saw only the beginning. Choose smaller chunks when this is not 0.
    pub truncated: usize,
}

/// How far a run of ingestion is.
///
/// ```
/// use cornu::Progress;
/// assert_eq!(Progress { done: 3, total: 10 }.to_string(), "3 of 10 documents");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Documents that are written or have failed.
    pub done: usize,
    /// Documents in all.
    pub total: usize,
}

impl std::fmt::Display for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} documents", self.done, self.total)
    }
}

/// What became of many documents.
///
/// ```
/// assert!(cornu::IngestReport::default().failed.is_empty());
/// ```
#[derive(Debug, Default)]
pub struct IngestReport {
    /// Documents that were not there.
    pub inserted: usize,
    /// Documents that had another text or other grants.
    pub replaced: usize,
    /// Documents that are as before.
    pub unchanged: usize,
    /// Chunks of all these documents.
    pub chunks: usize,
    /// Documents of which the model saw only a part, with the number of chunks that were cut.
    pub truncated: Vec<(DocId, usize)>,
    /// Documents that were removed because their files have vanished; only
    /// [`sync_tree`](LiveRagIndex::sync_tree) removes any.
    pub removed: Vec<DocId>,
    /// Documents and files that failed, by name, each with its reason. A document that was in the
    /// index keeps its last committed state, its grants among it: `remove` it if it must not stay.
    pub failed: Vec<(String, RagError)>,
}

impl LiveRagIndex {
    /// Writes a document in place of what the index had of it, in one transaction.
    ///
    /// An unchanged document costs its hash and a look-up. One of which only the grants changed
    /// costs the reading and writing of what is stored; it is embedded again only when nobody could
    /// see it before. A changed one is cut into chunks, embedded, counted and written.
    ///
    /// # Errors
    /// [`RagError`]; then the index is as before, but for [`RagError::NotDisclosed`], after which
    /// the document is not in it.
    pub fn ingest(&self, document: &Document) -> Result<Ingested, RagError> {
        self.write(&[document])?.pop().unwrap_or(Ok(Ingested {
            change: Change::Unchanged,
            chunks: 0,
            truncated: 0,
        }))
    }

    /// Writes many documents, some hundred a commit: about as fast as the model and the disk
    /// allow. A document that fails is reported and does not stop the others.
    ///
    /// # Errors
    /// [`RagError::Store`] when the database itself cannot be written; what was committed before
    /// stays.
    pub fn ingest_all(
        &self,
        documents: &[Document],
        progress: impl FnMut(Progress),
    ) -> Result<IngestReport, RagError> {
        self.ingest_noting(None, documents, progress)
    }

    /// As [`ingest_all`](Self::ingest_all), and notes where the documents are from.
    pub(crate) fn ingest_noting(
        &self,
        origin: Option<&str>,
        documents: &[Document],
        mut progress: impl FnMut(Progress),
    ) -> Result<IngestReport, RagError> {
        let mut report = IngestReport::default();
        let mut rest = documents;
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(batch_length(rest));
            rest = later;
            let references: Vec<&Document> = batch.iter().collect();
            let results = self.write(&references)?;
            if let Some(origin) = origin {
                let written = batch.iter().zip(&results);
                let names = written.filter(|(_, result)| result.is_ok());
                let names: Vec<&DocId> = names.map(|(document, _)| document.id()).collect();
                self.store.note_origin(origin, &names)?;
            }
            for (document, result) in batch.iter().zip(results) {
                report.add(document.id(), result);
            }
            progress(Progress {
                done: documents.len() - rest.len(),
                total: documents.len(),
            });
        }
        Ok(report)
    }

    /// Reads every Markdown file below `root` and writes it; `acl` says who may see which. Nothing
    /// is public unless it says so. See [`read_markdown_tree`] for what is read.
    ///
    /// Files that have gone since an earlier run stay in the index until they are
    /// [removed](Self::remove) or [pruned](Self::prune); [`sync_tree`](Self::sync_tree) prunes them
    /// at once. Memory: all sources, and the chunks of one commit.
    ///
    /// # Errors
    /// As [`ingest_all`](Self::ingest_all).
    pub fn ingest_tree(
        &self,
        root: &Path,
        acl: impl Fn(&DocId) -> Acl,
        progress: impl FnMut(Progress),
    ) -> Result<IngestReport, RagError> {
        self.ingest_read(root, read_markdown_tree(root, acl), progress)
    }

    /// As [`ingest_tree`](Self::ingest_tree), and then removes the documents that came from `root`
    /// and whose files have vanished, those of other folders left alone: afterwards the index holds
    /// of `root` what `root` holds.
    ///
    /// # Errors
    /// As [`ingest_all`](Self::ingest_all), and [`RagError::Unreadable`] when `root` cannot be read.
    pub fn sync_tree(
        &self,
        root: &Path,
        acl: impl Fn(&DocId) -> Acl,
        progress: impl FnMut(Progress),
    ) -> Result<IngestReport, RagError> {
        let tree = read_markdown_tree(root, acl);
        let documents = tree.documents.iter();
        let present: BTreeSet<DocId> = documents.map(|document| document.id().clone()).collect();
        let mut report = self.ingest_read(root, tree, progress)?;
        report.removed = self.prune(root, &[root.to_owned()], |doc| present.contains(doc))?;
        Ok(report)
    }

    fn ingest_read(
        &self,
        root: &Path,
        tree: Tree,
        progress: impl FnMut(Progress),
    ) -> Result<IngestReport, RagError> {
        let mut report = match tree.documents.as_slice() {
            [] => IngestReport::default(),
            documents => self.ingest_from(root, documents, progress)?,
        };
        for (path, error) in tree.failed {
            let failed = (path.display().to_string(), error.into());
            report.failed.push(failed);
        }
        Ok(report)
    }

    /// One commit. One result for each document, in order.
    fn write(&self, documents: &[&Document]) -> Result<Vec<Result<Ingested, RagError>>, RagError> {
        let mut work = self.plan(documents)?;
        self.embed(&mut work);
        let tokenizer = &self.options.tokenizer;
        let terms: Vec<Vec<cornu_store::TermCounts>> = work
            .par_iter()
            .map(|step| match step {
                Step::Write { facts, .. } => facts
                    .indexed()
                    .map(|chunk| postings::encode(tokenizer, &chunk.index_text))
                    .collect(),
                _ => Vec::new(),
            })
            .collect();
        let tokens = self.token_facts(&mut work);
        let read = self.extraction_facts(&mut work);
        if !work.iter().any(|step| matches!(step, Step::Write { .. })) {
            return Ok(work.into_iter().map(Step::settle).collect());
        }
        self.store.batch(|batch| {
            let beside = tokens.iter().zip(&read);
            let written =
                work.into_iter()
                    .zip(&terms)
                    .zip(beside)
                    .map(|((step, terms), (tokens, read))| match step {
                        Step::Write { facts, truncated } => {
                            let (tokens, read) = (tokens.as_ref(), read.as_ref());
                            let change = batch.upsert_with_rows(&facts, terms, tokens, read)?;
                            Ok(Ingested {
                                change,
                                chunks: facts.chunks.len(),
                                truncated,
                            })
                        }
                        other => other.settle(),
                    });
            Ok(written.collect())
        })
    }

    /// What is to be done with each document.
    fn plan(&self, documents: &[&Document]) -> Result<Vec<Step>, RagError> {
        let mut steps: Vec<Step> = documents.iter().map(|_| Step::Chunk).collect();
        // Documents of which only the grants have changed, by those that they had.
        let mut moved: BTreeMap<Acl, Vec<usize>> = BTreeMap::new();
        for ((at, document), step) in documents.iter().enumerate().zip(&mut steps) {
            let acl = document.acl();
            if !self.options.disclosure.is_none_or(|rule| rule.permits(acl)) {
                *step = Step::Fail(RagError::NotDisclosed {
                    doc: document.id().clone(),
                });
            } else if let Some(known) = self.store.known(document.id())?
                && known.content == document.content_hash()
            {
                if known.acl == *acl {
                    *step = Step::Done(Ingested {
                        change: Change::Unchanged,
                        chunks: known.chunks,
                        truncated: 0,
                    });
                } else {
                    moved.entry(known.acl).or_default().push(at);
                }
            }
        }
        for (acl, places) in moved {
            // Who holds an old grant sees what is stored; where nobody did, it is made again.
            let holder: Principal = acl.grants().cloned().collect();
            let snapshot = self.snapshot(&holder)?;
            for at in places {
                if let (Some(document), Some(step)) = (documents.get(at), steps.get_mut(at))
                    && let Some(facts) = snapshot.facts(document.id())?
                    && facts.content == document.content_hash()
                {
                    *step = Step::Write {
                        facts: DocumentFacts {
                            acl: document.acl().clone(),
                            ..facts
                        },
                        truncated: 0,
                    };
                }
            }
        }
        for (step, document) in steps.iter().zip(documents) {
            // What was public once and is not any more must not stay visible.
            if let Step::Fail(_) = step {
                self.store.remove(document.id())?;
            }
        }
        steps
            .into_par_iter()
            .zip(documents)
            .map(|(step, document)| match step {
                Step::Chunk => Ok(match self.options.chunker.chunk(document) {
                    Ok(chunks) => Step::Embed {
                        facts: unembedded(document, chunks),
                    },
                    Err(source) => Step::Fail(RagError::Chunk {
                        doc: document.id().clone(),
                        source,
                    }),
                }),
                other => Ok(other),
            })
            .collect()
    }

    /// Embeds all chunks of a commit in one call; when that fails, document by document, so that
    /// one cannot stop the others.
    fn embed(&self, work: &mut [Step]) {
        let texts: Vec<&str> = work
            .iter()
            .filter_map(|step| match step {
                Step::Embed { facts } => Some(facts),
                _ => None,
            })
            .flat_map(|facts| facts.indexed().map(|chunk| chunk.index_text.as_str()))
            .collect();
        let together = self.vectors_of(&texts);
        let mut from = 0;
        for step in work {
            let Step::Embed { facts } = step else {
                continue;
            };
            let count = facts.indexed().count();
            let own = match &together {
                Ok(all) => part(all, from, count),
                Err(_) => {
                    let texts: Vec<&str> = facts
                        .indexed()
                        .map(|chunk| chunk.index_text.as_str())
                        .collect();
                    self.vectors_of(&texts)
                }
            };
            from += count;
            *step = match own {
                Ok(embedded) => Step::Write {
                    truncated: embedded.truncated().count(),
                    facts: DocumentFacts {
                        vectors: embedded.vectors,
                        ..facts.clone()
                    },
                },
                Err(error) => Step::Fail(error.into()),
            };
        }
    }

    /// The token vectors of each document that is written, where the options name a model; a
    /// document of which it fails is not written.
    fn token_facts(&self, work: &mut [Step]) -> Vec<Option<TokenFacts>> {
        let Some(space) = &self.options.tokens else {
            return vec![None; work.len()];
        };
        let one = |step: &mut Step| {
            let Step::Write { facts, .. } = step else {
                return None;
            };
            let texts: Vec<&str> = facts
                .indexed()
                .map(|chunk| chunk.index_text.as_str())
                .collect();
            match space.documents(&texts) {
                Ok(rows) => Some(TokenFacts {
                    space: space.fingerprint().digest(),
                    rows: rows.iter().map(TokenMatrix::to_bytes).collect(),
                }),
                Err(error) => {
                    *step = Step::Fail(error.into());
                    None
                }
            }
        };
        work.iter_mut().map(one).collect()
    }

    fn vectors_of(&self, texts: &[&str]) -> Result<Embeddings, ProviderError> {
        if texts.is_empty() {
            return Ok(Embeddings {
                vectors: Array2::zeros((0, self.provider.dimension())),
                tokens: Vec::new(),
            });
        }
        self.provider.embed_counted(texts)
    }
}

/// A document on its way.
pub(crate) enum Step {
    Chunk,
    Embed {
        facts: DocumentFacts,
    },
    Write {
        facts: DocumentFacts,
        truncated: usize,
    },
    Done(Ingested),
    Fail(RagError),
}

impl Step {
    /// The indexed chunks of a document that is written.
    pub(crate) fn indexed(&self) -> impl Iterator<Item = &Chunk> {
        let facts = match self {
            Self::Write { facts, .. } => Some(facts),
            _ => None,
        };
        facts.into_iter().flat_map(DocumentFacts::indexed)
    }

    /// The result of a document of which nothing has to be written.
    fn settle(self) -> Result<Ingested, RagError> {
        match self {
            Self::Done(ingested) => Ok(ingested),
            Self::Fail(error) => Err(error),
            Self::Chunk | Self::Embed { .. } | Self::Write { .. } => Err(RagError::Options {
                problem: "a document was not written; please report this".to_owned(),
            }),
        }
    }
}

impl IngestReport {
    fn add(&mut self, doc: &DocId, result: Result<Ingested, RagError>) {
        match result {
            Err(error) => self.failed.push((doc.to_string(), error)),
            Ok(ingested) => {
                match ingested.change {
                    Change::Inserted => self.inserted += 1,
                    Change::Replaced => self.replaced += 1,
                    Change::Unchanged => self.unchanged += 1,
                }
                self.chunks += ingested.chunks;
                if ingested.truncated > 0 {
                    self.truncated.push((doc.clone(), ingested.truncated));
                }
            }
        }
    }
}

/// How many of the documents go into the next commit. A document that comes again begins another
/// one: what is to be done with it depends on what was written before.
fn batch_length(documents: &[Document]) -> usize {
    let mut bytes = 0;
    let mut names = BTreeSet::new();
    for (at, document) in documents.iter().take(BATCH_DOCUMENTS).enumerate() {
        bytes += document.source().len();
        if at > 0 && (bytes > BATCH_BYTES || names.contains(document.id())) {
            return at;
        }
        names.insert(document.id());
    }
    documents.len().min(BATCH_DOCUMENTS)
}

fn unembedded(document: &Document, chunks: Vec<Chunk>) -> DocumentFacts {
    DocumentFacts {
        doc: document.id().clone(),
        content: document.content_hash(),
        acl: document.acl().clone(),
        chunks,
        vectors: Array2::zeros((0, 0)),
    }
}

/// Some rows of what was embedded together.
fn part(all: &Embeddings, from: usize, count: usize) -> Result<Embeddings, ProviderError> {
    let tokens = all.tokens.get(from..from + count);
    match tokens {
        Some(tokens) if from + count <= all.vectors.nrows() => Ok(Embeddings {
            vectors: all.vectors.slice(s![from..from + count, ..]).to_owned(),
            tokens: tokens.to_vec(),
        }),
        _ => Err(ProviderError::Unavailable {
            provider: "the embedding provider".to_owned(),
            reason: format!("it gave {} vectors, fewer than texts", all.vectors.nrows()),
            remedy: "check it with `cornu_core::testing::conformance`".to_owned(),
        }),
    }
}
