//! The candidates of a question: dense vectors and BM25, fused by reciprocal ranks, as the library
//! does it unless told otherwise.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use cornu_core::{Acl, ContentHash, DocId, EmbeddingProvider, Principal, Ranking, View, ViewEntry};
use cornu_fuse::{RrfOptions, Weighted, rrf_fuse};
use cornu_sparse::{Bm25, Bm25Index, DocumentRows, Query, Row, TermCounts};
use cornu_text::{StopWords, Tokenizer};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::sets::Passage;
use crate::dense;

/// Candidates that each route gives to the fusion: the library's default.
const DEPTH: usize = 100;
/// Texts that are embedded between two lines of progress.
const STEP: usize = 500;

/// Both routes over the passages of one set.
pub struct FirstStage<'a> {
    provider: &'a dyn EmbeddingProvider,
    tokenizer: Tokenizer,
    vectors: Array2<f32>,
    ids: Vec<u32>,
    index: Bm25Index<u32>,
    view: View,
    key: String,
}

/// The candidates of one question, best first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidates {
    /// By reciprocal rank fusion of both routes.
    pub hybrid: Vec<(u32, f64)>,
    /// By cosine alone.
    pub dense: Vec<(u32, f64)>,
}

impl<'a> FirstStage<'a> {
    /// Embeds the passages, or reads their vectors from `cache` where they are those of the same
    /// passages and model.
    ///
    /// # Errors
    /// A provider that fails, a cache that cannot be written.
    pub fn build(
        name: &str,
        passages: &[Passage],
        provider: &'a dyn EmbeddingProvider,
        cache: &Path,
        say: &dyn Fn(&str),
    ) -> Result<Self> {
        let tokenizer = Tokenizer::builder().stop_words(StopWords::Common).build();
        let key = key(passages, provider);
        let vectors = vectors((name, &key), passages, provider, cache, say)?;
        let ids: Vec<u32> = (0..u32::try_from(passages.len())?).collect();
        let rows = ids.iter().zip(passages).map(|(&id, passage)| DocumentRows {
            document: id,
            rows: vec![Row {
                id,
                counts: TermCounts::new(&tokenizer.tokens(&passage.text)),
            }],
        });
        let index = Bm25Index::build(tokenizer.fingerprint().clone(), rows, 1)?;
        let names = ids
            .iter()
            .map(|id| DocId::new(&format!("{id}.md")))
            .collect::<Result<Vec<_>, _>>()?;
        let (content, acl) = (ContentHash::of(b""), Acl::public());
        let entries = ids.iter().zip(&names).map(|(&ordinal, id)| ViewEntry {
            ordinal,
            id,
            content: &content,
            acl: &acl,
        });
        let view = View::resolve(&Principal::public(), 1, entries);
        Ok(Self {
            provider,
            tokenizer,
            vectors,
            ids,
            key: format!("{key} {} {:?}", index.fingerprint(), Bm25::default()),
            index,
            view,
        })
    }

    /// Names the passages, the model and the formula: what candidates depend on.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The best `k` by both routes together, and by the dense one alone.
    ///
    /// # Errors
    /// A provider that fails.
    pub fn candidates(&self, question: &str, k: usize) -> Result<Candidates> {
        let query = self.provider.embed_query(question)?;
        let dense = dense::rank(&self.vectors, &self.ids, &query.view())?.top(DEPTH);
        let words = Query::new(&self.tokenizer, question);
        let sparse = self
            .index
            .searcher(&self.view)?
            .search(&words, &Bm25::default(), DEPTH)?;
        let lists = [Weighted::new(&dense, 1.0), Weighted::new(&sparse, 1.0)];
        let fused = rrf_fuse(&lists, RrfOptions::default())?;
        Ok(Candidates {
            hybrid: pairs(&fused.into_ranking().top(k)),
            dense: pairs(&dense.top(k)),
        })
    }
}

fn pairs(ranking: &Ranking<u32>) -> Vec<(u32, f64)> {
    ranking.iter().map(|item| (item.id, item.score)).collect()
}

fn key(passages: &[Passage], provider: &dyn EmbeddingProvider) -> String {
    let mut key = blake3::Hasher::new();
    key.update(provider.fingerprint().to_string().as_bytes());
    for passage in passages {
        key.update(&(passage.text.len() as u64).to_le_bytes());
        key.update(passage.text.as_bytes());
    }
    key.finalize().to_hex()[..16].to_owned()
}

fn vectors(
    (name, key): (&str, &str),
    passages: &[Passage],
    provider: &dyn EmbeddingProvider,
    cache: &Path,
    say: &dyn Fn(&str),
) -> Result<Array2<f32>> {
    let file = cache.join(format!("{name}-{key}.f32"));
    let width = provider.dimension();
    if let Ok(bytes) = std::fs::read(&file) {
        let (values, rest) = bytes.as_chunks::<4>();
        let values: Vec<f32> = values
            .iter()
            .map(|&value| f32::from_le_bytes(value))
            .collect();
        ensure!(
            rest.is_empty() && values.len() == passages.len() * width,
            "{} is damaged; delete it",
            file.display()
        );
        return Ok(Array2::from_shape_vec((passages.len(), width), values)?);
    }
    let mut values = Vec::with_capacity(passages.len() * width);
    for (at, part) in passages.chunks(STEP).enumerate() {
        say(&format!(
            "{name}: embedding passages {} of {}",
            at * STEP + part.len(),
            passages.len()
        ));
        let texts: Vec<&str> = part.iter().map(|passage| passage.text.as_str()).collect();
        values.extend(provider.embed(&texts)?);
    }
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value: &f32| value.to_le_bytes())
        .collect();
    write_whole(&file, &bytes)?;
    Ok(Array2::from_shape_vec((passages.len(), width), values)?)
}

/// Writes a file under another name first, so that it is there whole or not at all.
///
/// # Errors
/// What the system says, with the file's name.
pub fn write_whole(file: &Path, bytes: &[u8]) -> Result<()> {
    let context = || format!("cannot write {}", file.display());
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).with_context(context)?;
    }
    let part = file.with_extension("part");
    std::fs::write(&part, bytes).with_context(context)?;
    std::fs::rename(&part, file).with_context(context)
}
