//! The index under load, and what is asked of it.

use std::sync::Arc;

use anyhow::{Result, ensure};
use cornu::{Acl, DocId, Document, HashEmbeddingProvider, LiveRagIndex, Principal, RagOptions};
use cornu_pool::CacheOptions;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng as _;

use crate::load::uniform;

/// D of the hash embedder: that of the small models.
pub(super) const DIMENSION: usize = 384;
/// One chunk each.
pub(super) const DOCUMENTS: usize = 10_000;
const TEAMS: usize = 50;
const WORDS: usize = 3000;
/// Questions of the Zipf mix, by rank.
const ZIPF: usize = 1000;
/// Of the other mix: as many in a thousand are from a few that come again and again.
const REPEATED: u64 = 248;
const FEW: u64 = 16;

/// How the index is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Workload {
    Narrow,
    Words,
    Full,
    Zipf,
}

impl Workload {
    pub(super) const ALL: [Self; 4] = [Self::Narrow, Self::Words, Self::Full, Self::Zipf];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Narrow => "narrow",
            Self::Words => "bm25",
            Self::Full => "full-scan",
            Self::Zipf => "zipf",
        }
    }
}

/// The three ways to hold the same file.
pub(super) struct World {
    pub(super) systems: Vec<(&'static str, LiveRagIndex)>,
    vocabulary: Vec<String>,
    zipf: Vec<f64>,
    teams: Vec<Principal>,
    all: Principal,
    seed: u64,
    _folder: tempfile::TempDir,
}

pub(super) const SINGLE: &str = "one-connection";
pub(super) const POOL: &str = "pool";
pub(super) const CACHED: &str = "pool+cache";
/// No index at all.
pub(super) const CONTROL: &str = "control";

impl World {
    /// Writes `documents` documents and opens the file three times.
    pub(super) fn build(documents: usize, seed: u64) -> Result<Self> {
        let mut random = Pcg64::new(seed.into(), 5);
        let vocabulary: Vec<String> = (0..WORDS).map(|_| word(&mut random)).collect();
        let folder = tempfile::tempdir()?;
        let open = |options: RagOptions| {
            let provider = Arc::new(HashEmbeddingProvider::new(DIMENSION)?);
            anyhow::Ok(LiveRagIndex::open(
                folder.path().join("index.db"),
                provider,
                options,
            )?)
        };
        let pool = open(RagOptions::default())?;
        let mut one = RagOptions::default();
        one.store.readers = 1;
        let cached = RagOptions {
            cache: Some(CacheOptions::default()),
            ..RagOptions::default()
        };
        let made = (0..documents)
            .map(|at| {
                let text: Vec<&str> = (0..40)
                    .map(|_| {
                        // Few words are common and most are rare.
                        let at = (uniform(&mut random).powi(3) * WORDS as f64) as usize;
                        vocabulary.get(at).map_or("", String::as_str)
                    })
                    .collect();
                let acl = Acl::new(["all", &team(at)])?;
                let name = DocId::new(&format!("{at:05}.md"))?;
                Ok(Document::new(name, format!("{}.\n", text.join(" ")), acl))
            })
            .collect::<Result<Vec<_>>>()?;
        let report = pool.ingest_all(&made, |_| {})?;
        ensure!(report.failed.is_empty(), "{report:?}");
        pool.store().prepare()?;
        let mut sum = 0.0;
        let zipf = (1..=ZIPF)
            .map(|rank| {
                sum += 1.0 / rank as f64;
                sum
            })
            .collect();
        let principal = |name: &str| Ok::<_, anyhow::Error>(Principal::new([name])?);
        let world = Self {
            systems: vec![(SINGLE, open(one)?), (POOL, pool), (CACHED, open(cached)?)],
            vocabulary,
            zipf,
            teams: (0..TEAMS)
                .map(|at| principal(&team(at)))
                .collect::<Result<_>>()?,
            all: principal("all")?,
            seed,
            _folder: folder,
        };
        for (_, index) in &world.systems {
            world.warm(index)?;
        }
        Ok(world)
    }

    /// Views, vectors and postings, as after the first minute of a day.
    fn warm(&self, index: &LiveRagIndex) -> Result<()> {
        for who in self.teams.iter().chain([&self.all]) {
            index.search_hybrid(who, "warm", 1)?;
        }
        Ok(())
    }

    /// Asks the n-th question of a workload.
    pub(super) fn ask(&self, index: &LiveRagIndex, workload: Workload, n: u64) -> Result<()> {
        let (who, question) = self.nth(workload, n);
        let found = match workload {
            Workload::Narrow | Workload::Full => index.search_dense(who, &question, 10)?,
            Workload::Words => index.search_sparse(who, &question, 10)?,
            Workload::Zipf => index.search_hybrid(who, &question, 10)?,
        };
        ensure!(
            workload == Workload::Words || !found.hits.is_empty(),
            "nothing found for {question}"
        );
        Ok(())
    }

    /// The n-th question and who asks it: a function of the seed and of n.
    pub(super) fn nth(&self, workload: Workload, n: u64) -> (&Principal, String) {
        let mut random = Pcg64::new(u128::from(self.seed) << 64 | u128::from(n), 7);
        let which = match workload {
            Workload::Zipf => {
                let total = self.zipf.last().copied().unwrap_or(1.0);
                let drawn = uniform(&mut random) * total;
                self.zipf.partition_point(|sum| *sum < drawn) as u64
            }
            _ if random.next_u64() % 1000 < REPEATED => random.next_u64() % FEW,
            _ => FEW + n,
        };
        let mut words = Pcg64::new(u128::from(self.seed) << 64 | u128::from(which), 11);
        let question: Vec<&str> = (0..4)
            .map(|_| {
                let at = (uniform(&mut words).powi(2) * WORDS as f64) as usize;
                self.vocabulary.get(at).map_or("", String::as_str)
            })
            .collect();
        let who = match workload {
            Workload::Narrow => {
                let at = (words.next_u64() % TEAMS as u64) as usize;
                self.teams.get(at).unwrap_or(&self.all)
            }
            _ => &self.all,
        };
        (who, question.join(" "))
    }

    /// A document that none of the askers sees, another each time.
    pub(super) fn commit(&self, index: &LiveRagIndex, n: u64) -> Result<()> {
        let text = format!("The writer was here for the {n}th time.\n");
        let document = Document::new(DocId::new("writer.md")?, text, Acl::new(["writer"])?);
        index.ingest(&document)?;
        Ok(())
    }

    pub(super) fn everybody(&self) -> &Principal {
        &self.all
    }
}

fn team(at: usize) -> String {
    format!("team-{:02}", at % TEAMS)
}

/// Three syllables.
fn word(random: &mut Pcg64) -> String {
    const FIRST: &[u8] = b"bdfgklmnprstvz";
    const THEN: &[u8] = b"aeiou";
    let mut out = String::new();
    for _ in 0..3 {
        for letters in [FIRST, THEN] {
            let at = (random.next_u64() % letters.len() as u64) as usize;
            out.extend(letters.get(at).map(|letter| char::from(*letter)));
        }
    }
    out
}
