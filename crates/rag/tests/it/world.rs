//! Indexes for tests, and histories of documents.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::rerankers;

use cornu::core::testing::proptest::prelude::*;
use cornu::core::testing::proptest::sample::Index;
use cornu::core::testing::strategies;
use cornu::extract::RuleExtractor;
use cornu::fuse::Normalisation;
use cornu::store::Durability;
use cornu::{
    Acl, DocId, Document, EmbeddingProvider, Fusion, HashEmbeddingProvider, LiveRagIndex,
    Principal, RagOptions, Threshold,
};

/// So many new scenarios each time; `PROPTEST_CASES` asks for more.
pub(crate) fn cases(count: u32) -> ProptestConfig {
    let mut config = ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 40,
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = count;
    }
    config
}

pub(crate) fn provider() -> Arc<dyn EmbeddingProvider> {
    Arc::new(HashEmbeddingProvider::new(64).unwrap())
}

pub(crate) fn options() -> RagOptions {
    RagOptions {
        store: cornu::store::Options {
            durability: Durability::ProcessKill,
            ..cornu::store::Options::default()
        },
        ..RagOptions::default()
    }
}

pub(crate) fn document(name: &str, source: &str, acl: Acl) -> Document {
    Document::new(DocId::new(name).unwrap(), source, acl)
}

pub(crate) fn grants<const N: usize>(names: [&str; N]) -> Acl {
    Acl::new(names).unwrap()
}

pub(crate) fn holder<const N: usize>(names: [&str; N]) -> Principal {
    Principal::new(names).unwrap()
}

/// An index in a folder that goes with it.
pub(crate) struct Home {
    pub(crate) index: LiveRagIndex,
    pub(crate) folder: tempfile::TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self::with(options())
    }

    pub(crate) fn with(options: RagOptions) -> Self {
        Self::of(provider(), options)
    }

    /// With a provider of more dimensions, in which fewer words collide.
    pub(crate) fn wide() -> Self {
        Self::of(Arc::new(HashEmbeddingProvider::default()), options())
    }

    pub(crate) fn of(provider: Arc<dyn EmbeddingProvider>, options: RagOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let index = LiveRagIndex::open(folder.path().join("index.db"), provider, options);
        Self {
            index: index.unwrap(),
            folder,
        }
    }

    pub(crate) fn holding(documents: &[Document]) -> Self {
        let home = Self::new();
        let report = home.index.ingest_all(documents, |_| {}).unwrap();
        assert!(report.failed.is_empty(), "{report:?}");
        home
    }

    pub(crate) fn threshold(&self, value: f64) -> Threshold {
        Threshold::by_hand(value, self.index.provider()).unwrap()
    }
}

/// An index with all that was ever written to it, for a route to be run over.
pub(crate) struct World {
    pub(crate) home: Home,
    /// The same index, opened with another fusion.
    pub(crate) convex: LiveRagIndex,
    /// The same index, opened with a reranker of each kind.
    pub(crate) reranked: Vec<LiveRagIndex>,
    /// Every document that is there, hidden ones too.
    pub(crate) all: BTreeMap<DocId, Document>,
    /// Their names in the order in which they were first written.
    pub(crate) order: Vec<DocId>,
}

impl World {
    /// Writes a history, document by document; between the writes, everybody asks, so that
    /// whatever is kept between questions is there.
    pub(crate) fn of(writes: &[Write], question: &str) -> Self {
        let mut world = Self::empty();
        let everybody = owner_of(writes.iter().filter_map(Write::document));
        for (at, write) in writes.iter().enumerate() {
            match write {
                Write::Ingest(document) => {
                    world.home.index.ingest(document).unwrap();
                    let id = document.id().clone();
                    if !world.order.contains(&id) {
                        world.order.push(id.clone());
                    }
                    world.all.insert(id, document.clone());
                }
                Write::Remove(id) => {
                    world.home.index.remove(id).unwrap();
                    world.all.remove(id);
                    world.order.retain(|other| other != id);
                }
            }
            // So that the file of postings is there, and behind by up to three writes.
            if at % 4 == 1 {
                world.home.index.prepare().unwrap();
            }
            if at % 3 == 2 || at + 1 == writes.len() {
                let others = [&world.home.index, &world.convex].into_iter();
                for index in others.chain(&world.reranked) {
                    index.search_hybrid(&everybody, question, 3).unwrap();
                }
                let hop = world.home.index.search_hop(&everybody, question, 3);
                hop.unwrap();
            }
        }
        world
    }

    /// A fresh index of what the principal sees, in order of name.
    pub(crate) fn of_visible(whole: &Self, principal: &Principal) -> Self {
        let mut world = Self::empty();
        world.all = whole.all.clone();
        world
            .all
            .retain(|_, document| document.acl().admits(principal));
        world.order = world.all.keys().cloned().collect();
        let documents: Vec<Document> = world.all.values().cloned().collect();
        let report = world.home.index.ingest_all(&documents, |_| {}).unwrap();
        assert!(report.failed.is_empty(), "{report:?}");
        world
    }

    /// Who sees every document that anybody sees.
    pub(crate) fn owner(&self) -> Principal {
        owner_of(self.all.values())
    }

    fn empty() -> Self {
        let home = Home::with(RagOptions {
            tokens: Some(rerankers::space()),
            extractor: Some(Arc::new(RuleExtractor::new())),
            ..options()
        });
        let path = home.folder.path().join("index.db");
        let reranked = rerankers::all().into_iter().map(|reranker| {
            let options = RagOptions {
                reranker: Some(reranker),
                pool: 6,
                ..options()
            };
            LiveRagIndex::open(&path, provider(), options).unwrap()
        });
        let reranked = reranked.collect();
        let fusion = Fusion::Convex {
            alpha: 0.6,
            normalisation: Normalisation::default(),
        };
        let convex = LiveRagIndex::open(
            home.folder.path().join("index.db"),
            provider(),
            RagOptions {
                fusion,
                depth: 4,
                // Its routes are asked through a cache that lived through the whole history.
                cache: Some(cornu::pool::CacheOptions::default()),
                ..options()
            },
        );
        Self {
            home,
            convex: convex.unwrap(),
            reranked,
            all: BTreeMap::new(),
            order: Vec::new(),
        }
    }
}

fn owner_of<'a>(documents: impl Iterator<Item = &'a Document>) -> Principal {
    documents
        .flat_map(|document| document.acl().grants().cloned())
        .collect()
}

#[derive(Clone, Debug)]
pub(crate) enum Write {
    Ingest(Document),
    Remove(DocId),
}

impl Write {
    fn document(&self) -> Option<&Document> {
        match self {
            Self::Ingest(document) => Some(document),
            Self::Remove(_) => None,
        }
    }
}

/// What happens to an index, who asks then, and what.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) writes: Vec<Write>,
    pub(crate) principal: Principal,
    pub(crate) question: String,
}

/// Histories in which hidden documents resemble visible ones: twins under another name and ACL,
/// with the same text or a sentence more; the same document again with other grants; removals.
pub(crate) fn scenario() -> impl Strategy<Value = Scenario> {
    let step = prop_oneof![
        4 => (strategies::doc_id(), strategies::markdown(), strategies::acl())
            .prop_map(|(id, source, acl)| Step::Fresh(id, source, acl)),
        5 => (strategies::doc_id(), any::<Index>(), strategies::acl(), strategies::sentence(), 0_u8..3)
            .prop_map(|(id, of, acl, more, how)| Step::Twin { id, of, acl, more, how }),
        2 => (any::<Index>(), strategies::acl()).prop_map(|(of, acl)| Step::Regrant(of, acl)),
        1 => any::<Index>().prop_map(Step::Remove),
    ];
    let question = prop_oneof![
        5 => strategies::sentence(),
        1 => strategies::awkward_text(),
    ];
    let asker = prop_oneof![
        3 => Just(Principal::public()),
        2 => strategies::principal(),
    ];
    let steps = proptest_vec(step, 2..=9);
    (steps, asker, question).prop_map(|(steps, principal, question)| Scenario {
        writes: build(steps),
        principal,
        question,
    })
}

use cornu::core::testing::proptest::collection::vec as proptest_vec;

#[derive(Clone, Debug)]
enum Step {
    Fresh(DocId, String, Acl),
    Twin {
        id: DocId,
        of: Index,
        acl: Acl,
        more: String,
        how: u8,
    },
    Regrant(Index, Acl),
    Remove(Index),
}

fn build(steps: Vec<Step>) -> Vec<Write> {
    let mut made: Vec<Document> = Vec::new();
    let mut writes = Vec::new();
    for step in steps {
        let earlier = |of: Index| (!made.is_empty()).then(|| &made[of.index(made.len())]);
        let next = match step {
            Step::Fresh(id, source, acl) => Some(Document::new(id, source, acl)),
            Step::Twin {
                id,
                of,
                acl,
                more,
                how,
            } => earlier(of).map(|like| {
                let source = match how {
                    0 => like.source().to_owned(),
                    1 => format!("{}\n\n{more}\n", like.source()),
                    _ => format!("{more}\n\n{}", like.source()),
                };
                let acl = match like.acl().admits(&Principal::public()) {
                    true => without_public(&acl),
                    false => Acl::public(),
                };
                Document::new(id, source, acl)
            }),
            Step::Regrant(of, acl) => {
                earlier(of).map(|like| Document::new(like.id().clone(), like.source(), acl))
            }
            Step::Remove(of) => {
                if let Some(document) = earlier(of) {
                    writes.push(Write::Remove(document.id().clone()));
                }
                None
            }
        };
        if let Some(document) = next {
            made.push(document.clone());
            writes.push(Write::Ingest(document));
        }
    }
    writes
}

fn without_public(acl: &Acl) -> Acl {
    let public: BTreeSet<_> = Acl::public().grants().cloned().collect();
    let private: Acl = acl
        .grants()
        .filter(|grant| !public.contains(grant))
        .cloned()
        .collect();
    if private.is_empty() {
        grants(["hr"])
    } else {
        private
    }
}
