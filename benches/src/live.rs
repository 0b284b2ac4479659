//! A live index over some documents, asked by somebody who may see all of them, and its two routes
//! with every way to fuse them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use cornu::{Fusion, LiveRagIndex, RagOptions};
use cornu_chunk::Chunker;
use cornu_core::{Chunk, ChunkId, Document, EmbeddingProvider, Principal, Ranking};
use cornu_eval::questions::{Question, Ranks};
use cornu_fuse::{Normalisation, RrfOptions, Weighted, convex_fuse, dense_sparse, rrf_fuse};
use tempfile::TempDir;

/// Candidates of each route: the default of [`RagOptions`].
pub const DEPTH: usize = 100;
const DATABASE: &str = "index.db";

/// The product's own index, with its defaults but for chunker and embedder.
pub struct Live {
    /// The index.
    pub index: LiveRagIndex,
    /// Holds every grant of the documents.
    pub everybody: Principal,
    /// The indexed chunks.
    pub chunks: BTreeMap<ChunkId, Chunk>,
    /// What of them is shown in place of an indexed chunk.
    pub parents: BTreeMap<ChunkId, Chunk>,
    provider: Arc<dyn EmbeddingProvider>,
    folder: TempDir,
}

impl Live {
    /// Chunks, embeds, counts and writes the documents, in a folder that goes with the value.
    ///
    /// # Errors
    /// A document that fails; a folder that cannot be made.
    pub fn build(
        documents: &[&Document],
        chunker: Arc<dyn Chunker>,
        provider: Arc<dyn EmbeddingProvider>,
    ) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot make a folder for an index")?;
        let (mut chunks, mut parents) = (BTreeMap::new(), BTreeMap::new());
        for document in documents {
            for chunk in chunker.chunk(document)? {
                let of = match chunk.role.is_indexed() {
                    true => &mut chunks,
                    false => &mut parents,
                };
                of.insert(chunk.id, chunk);
            }
        }
        let options = RagOptions {
            chunker,
            depth: DEPTH,
            ..RagOptions::default()
        };
        let path = folder.path().join(DATABASE);
        let index = LiveRagIndex::open(path, Arc::clone(&provider), options)?;
        let owned: Vec<Document> = documents.iter().map(|&document| document.clone()).collect();
        let report = index.ingest_all(&owned, |_| {})?;
        ensure!(
            report.failed.is_empty() && report.truncated.is_empty(),
            "not indexed whole: failed {:?}, truncated {:?}",
            report.failed,
            report.truncated
        );
        let grants: BTreeSet<&str> = documents
            .iter()
            .flat_map(|document| document.acl().grants())
            .map(cornu_core::Grant::as_str)
            .collect();
        Ok(Self {
            index,
            everybody: Principal::new(grants)?,
            chunks,
            parents,
            provider,
            folder,
        })
    }

    /// The same index, its answers fused by min-max scores with the dense list at this weight.
    ///
    /// # Errors
    /// A weight outside 0 to 1.
    pub fn fused_at(self, alpha: f64) -> Result<Self> {
        let options = RagOptions {
            fusion: Fusion::Convex {
                alpha,
                normalisation: Normalisation::default(),
            },
            ..self.index.options().clone()
        };
        let path = self.folder.path().join(DATABASE);
        let index = LiveRagIndex::open(path, Arc::clone(&self.provider), options)?;
        Ok(Self { index, ..self })
    }

    /// What both routes find for a question.
    ///
    /// # Errors
    /// As the two searches.
    pub fn ask(&self, question: &str) -> Result<Routes> {
        let ranking = |found: cornu::Found| {
            let pairs = found.hits.iter().map(|hit| (hit.chunk.id, hit.score));
            Ranking::new(pairs)
        };
        let dense = self.index.search_dense(&self.everybody, question, DEPTH)?;
        let sparse = self.index.search_sparse(&self.everybody, question, DEPTH)?;
        Ok(Routes {
            dense: ranking(dense)?,
            sparse: ranking(sparse)?,
        })
    }

    /// Document and text of each chunk of a ranking.
    ///
    /// # Errors
    /// A chunk that the index found and the chunker did not make.
    pub fn contexts<'a>(
        &'a self,
        ids: impl IntoIterator<Item = &'a ChunkId>,
    ) -> Result<Vec<(&'a str, &'a str)>> {
        ids.into_iter()
            .map(|id| {
                let chunk = self.chunks.get(id).context("a chunk of the index")?;
                Ok((chunk.doc.as_str(), chunk.text.as_str()))
            })
            .collect()
    }

    /// For each piece of evidence of a question, the chunks that satisfy it.
    #[must_use]
    pub fn gold(&self, question: &Question) -> Vec<BTreeSet<ChunkId>> {
        let mut gold = vec![BTreeSet::new(); question.evidence.len()];
        for (id, chunk) in &self.chunks {
            let one = [(chunk.doc.as_str(), chunk.text.as_str())];
            let found = Ranks::find(&question.evidence, &one).ranks;
            for (piece, rank) in gold.iter_mut().zip(found) {
                if rank.is_some() {
                    piece.insert(*id);
                }
            }
        }
        gold
    }
}

/// The two rankings for one question.
pub struct Routes {
    /// By cosine.
    pub dense: Ranking<ChunkId>,
    /// By BM25.
    pub sparse: Ranking<ChunkId>,
}

/// One way to one ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Route {
    /// Cosine alone.
    Dense,
    /// BM25 alone.
    Sparse,
    /// Reciprocal ranks, k = 60, equal weights: the product's default, nothing fitted.
    Rrf,
    /// Min-max scores, the dense list with this weight.
    Convex(f64),
}

impl Routes {
    /// The ranking of a route.
    ///
    /// # Errors
    /// A weight outside 0 to 1.
    pub fn ranking(&self, route: Route) -> Result<Ranking<ChunkId>> {
        Ok(match route {
            Route::Dense => self.dense.clone(),
            Route::Sparse => self.sparse.clone(),
            Route::Rrf => {
                let lists = [
                    Weighted::new(&self.dense, 1.0),
                    Weighted::new(&self.sparse, 1.0),
                ];
                rrf_fuse(&lists, RrfOptions::default())?.ranking().clone()
            }
            Route::Convex(alpha) => {
                let lists = dense_sparse(&self.dense, &self.sparse, alpha)?;
                convex_fuse(&lists, &Normalisation::default())?
                    .ranking()
                    .clone()
            }
        })
    }
}

/// For each piece the rank of the first chunk that satisfies it.
#[must_use]
pub fn ranks_of(ranking: &Ranking<ChunkId>, gold: &[BTreeSet<ChunkId>]) -> Ranks {
    let rank = |piece: &BTreeSet<ChunkId>| {
        let at = ranking.ids().position(|id| piece.contains(id))?;
        Some(at + 1)
    };
    Ranks {
        ranks: gold.iter().map(rank).collect(),
    }
}

#[cfg(test)]
mod tests {
    use cornu_core::{Acl, DocId};
    use cornu_embed::hash::HashEmbeddingProvider;
    use cornu_eval::questions::Alternative;

    use super::*;

    fn live() -> Live {
        let texts = [
            (
                "a.md",
                "# Gradients\n\nGradients add up. Call zero_grad first.\n",
            ),
            ("b.md", "# Loss\n\nThe loss is a number. Gradients flow.\n"),
            ("c.md", "# Weather\n\nRain falls.\n"),
        ];
        let documents: Vec<Document> = texts
            .iter()
            .zip(["public", "ops", "hr"])
            .map(|((name, text), grant)| {
                let acl = Acl::new([grant]).unwrap();
                Document::new(DocId::new(name).unwrap(), *text, acl)
            })
            .collect();
        let all: Vec<&Document> = documents.iter().collect();
        let provider = Arc::new(HashEmbeddingProvider::default());
        Live::build(&all, RagOptions::default().chunker, provider).unwrap()
    }

    #[test]
    fn the_fused_lists_are_those_of_the_index() {
        let live = live();
        let question = "zero_grad and gradients";
        let routes = live.ask(question).unwrap();
        let check = |live: &Live, route| {
            let found = live
                .index
                .search_hybrid(&live.everybody, question, DEPTH)
                .unwrap();
            let theirs = found.hits.iter().map(|hit| (hit.chunk.id, hit.score));
            let ours = routes.ranking(route).unwrap();
            let ours = ours.iter().map(|hit| (hit.id, hit.score));
            assert_eq!(ours.collect::<Vec<_>>(), theirs.collect::<Vec<_>>());
            assert_eq!(found.hits.len(), 3, "everybody sees what only some may see");
        };
        check(&live, Route::Rrf);
        let live = live.fused_at(0.3).unwrap();
        check(&live, Route::Convex(0.3));
        assert!(live.fused_at(1.5).is_err());
        // At the ends, a convex fusion has the order of one list.
        let first = |ranking: Ranking<ChunkId>| ranking.ids().next().copied();
        for (alpha, route) in [(1.0, Route::Dense), (0.0, Route::Sparse)] {
            assert_eq!(
                first(routes.ranking(Route::Convex(alpha)).unwrap()),
                first(routes.ranking(route).unwrap())
            );
        }
        assert!(routes.ranking(Route::Convex(2.0)).is_err());
    }

    #[test]
    fn gold_is_the_chunks_that_hold_the_phrase() {
        let live = live();
        let alternative = |doc: &str, phrase: &str| Alternative {
            doc: doc.to_owned(),
            phrase: phrase.to_owned(),
        };
        let question = Question {
            id: "q".to_owned(),
            kind: "paraphrase".to_owned(),
            split: "test".to_owned(),
            lang: "en".to_owned(),
            question: "?".to_owned(),
            answer: None,
            evidence: vec![
                vec![alternative("a.md", "Gradients add up")],
                // Right words, wrong document.
                vec![alternative("c.md", "Gradients flow")],
            ],
            near_miss: false,
        };
        let gold = live.gold(&question);
        assert_eq!([gold[0].len(), gold[1].len()], [1, 0]);
        let ranking = live.ask("Gradients add up").unwrap().dense;
        let ranks = ranks_of(&ranking, &gold);
        let contexts = live.contexts(ranking.ids()).unwrap();
        assert_eq!(ranks, Ranks::find(&question.evidence, &contexts));
        assert_eq!((ranks.ranks[0].is_some(), ranks.ranks[1]), (true, None));
    }
}
