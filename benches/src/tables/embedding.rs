//! The providers: dimensions, norms, speed, and whether two ways to ask find the same passage.

use std::collections::BTreeMap;

use anyhow::Result;
use cornu_core::EmbeddingProvider;
use cornu_embed::hash::HashEmbeddingProvider;
use cornu_eval::evidence::{Measure, Model, Printed, Row};
use cornu_eval::report::{Column, Format, TableSpec};
use cornu_eval::significance::Bootstrap;

use crate::corpus::SynonymGroup;
use crate::dense;
use crate::models::Access;
use crate::table::{Bench, Part, Section, Table};
use crate::timing;

const HASH: &str = "hash";
/// Carried by packages that setup pins: the same bytes on every machine. Names of their folders.
const PINNED: [&str; 2] = ["all-MiniLM-L6-v2", "multilingual-e5-small-q4"];
/// Only a hub has these; each for its own language.
const OF_A_HUB: [(&str, &str); 2] = [("zh", "bge-small-zh-v1.5"), ("en", "bge-small-en-v1.5")];
const REMOTE: &str = "gemini-embedding-001";
const NOT_ASKED: &str = "a remote provider: measuring it would send texts to another machine";
/// Groups of the quick part: 2 queries each.
const QUICK_GROUPS: usize = 10;

/// Table `embedding`.
pub struct Embedding;

impl Table for Embedding {
    fn name(&self) -> &'static str {
        "embedding"
    }

    fn summary(&self) -> &'static str {
        "embedders: dimensions, norm error, speed, synonym top-1"
    }

    fn about(&self) -> &'static str {
        "Each group of `bench-data/synonyms.jsonl` asks one question in several ways; a query counts \
         when the nearest passage, among the passages of all groups of its language, is the one \
         that answers. *Agreement* is the share of groups in which all ways find it. The distractors \
         share words with the queries and the passage that answers avoids them, so that a count of \
         common words does not suffice."
    }

    fn sections(&self) -> Vec<Section> {
        vec![Section::whole(columns())]
    }

    fn brief(&self) -> Section {
        Section::whole(columns())
    }

    fn printed(&self) -> Vec<Printed> {
        let row = |system: &str, dimensions: f64| Printed {
            system: system.to_owned(),
            dataset: None,
            metrics: BTreeMap::from([("dimensions".to_owned(), dimensions)]),
            source: "chapter 14, stage 1".to_owned(),
        };
        vec![
            row("bge-small-zh-v1.5", 512.0),
            row("gemini-embedding-001", 3072.0),
        ]
    }

    fn measure(&self, bench: &Bench<'_>) -> Result<Vec<Row>> {
        let groups = bench.data.synonyms()?;
        let mut rows = Vec::new();
        let mut timed: Vec<(String, Box<dyn EmbeddingProvider>)> = Vec::new();
        for lang in ["zh", "en"] {
            let of_lang = groups.iter().filter(|group| group.lang == lang);
            let groups: Vec<&SynonymGroup> = match bench.part {
                Part::Full => of_lang.collect(),
                Part::Quick if lang == "zh" => of_lang.take(QUICK_GROUPS).collect(),
                Part::Quick => continue,
            };
            let dataset = format!("synonyms-{lang}");
            let hash = HashEmbeddingProvider::default();
            rows.push(bench.row(&dataset, HASH, || {
                quality(bench, &dataset, HASH, &hash, &groups)
            })?);
            let full = bench.part == Part::Full;
            let of_a_hub = OF_A_HUB.iter().filter(|(of, _)| full && *of == lang);
            for name in PINNED.iter().chain(of_a_hub.map(|(_, name)| name)) {
                let system = name.to_lowercase();
                rows.push(
                    bench.row(&dataset, &system, || match bench.models.open(name)? {
                        Access::Open(model) => {
                            quality(bench, &dataset, &system, model.provider.as_ref(), &groups)
                        }
                        Access::Gated(reason) => Ok(Row::gated(&dataset, &system, reason)),
                    })?,
                );
            }
            if full {
                rows.push(Row::gated(&dataset, REMOTE, NOT_ASKED));
            }
        }
        if bench.part == Part::Full {
            timed.push((HASH.to_owned(), Box::new(HashEmbeddingProvider::default())));
            for name in local() {
                if let Access::Open(model) = bench.models.open(name)? {
                    timed.push((name.to_lowercase(), model.provider));
                }
            }
            time(bench, &timed, &mut rows)?;
        }
        Ok(rows)
    }

    fn models(&self, bench: &Bench<'_>) -> Result<Vec<Model>> {
        let records = local().map(|name| bench.models.record(name));
        Ok(records
            .collect::<Result<Vec<_>>>()?
            .into_iter()
            .flatten()
            .collect())
    }

    fn inputs(&self) -> &'static [&'static str] {
        &["synonyms.jsonl"]
    }

    fn known_failures(&self) -> Vec<String> {
        vec![
            "The groups are few and ours; the intervals say how few.".to_owned(),
            "all-MiniLM-L6-v2 was trained on English: its Chinese rows show what that means, not a \
             fault of the encoder."
                .to_owned(),
        ]
    }
}

fn columns() -> TableSpec {
    TableSpec::new([
        Column::new("dimensions", "dimensions", Format::Integer).with_printed(),
        Column::new("norm error", "norm_error", Format::Fixed(9)),
        Column::new("synonym top-1", "synonym_top1", Format::Percent(1)).with_interval(),
        Column::new("agreement", "synonym_agreement", Format::Percent(1)).with_interval(),
        Column::new("texts/s", "texts_per_s", Format::Fixed(1)).with_interval(),
        Column::new("ms a query", "query_ms", Format::Milliseconds(3)).with_interval(),
    ])
}

/// All that run on this machine.
fn local() -> impl Iterator<Item = &'static str> {
    PINNED.into_iter().chain(OF_A_HUB.map(|(_, name)| name))
}

/// Dimensions, norm error, and who finds the answer.
fn quality(
    bench: &Bench<'_>,
    dataset: &str,
    system: &str,
    provider: &dyn EmbeddingProvider,
    groups: &[&SynonymGroup],
) -> Result<Row> {
    let mut passages: Vec<&str> = Vec::new();
    let mut gold = Vec::new();
    for group in groups {
        gold.push(passages.len());
        passages.push(&group.gold);
        passages.extend(group.distractors.iter().map(String::as_str));
    }
    let ids: Vec<usize> = (0..passages.len()).collect();
    let vectors = provider.embed(&passages)?;
    let mut norm_error = vectors
        .rows()
        .into_iter()
        .map(|row| norm_error(&row))
        .fold(0.0, f64::max);
    let (mut found, mut agreed) = (Vec::new(), Vec::new());
    for (group, &gold) in groups.iter().zip(&gold) {
        let mut all = true;
        for query in &group.queries {
            let query = provider.embed_query(query)?;
            norm_error = norm_error.max(self::norm_error(&query.view()));
            let ranking = dense::rank(&vectors, &ids, &query.view())?;
            let hit = ranking.ids().next() == Some(&gold);
            found.push(f64::from(u8::from(hit)));
            all &= hit;
        }
        agreed.push(f64::from(u8::from(all)));
    }
    let bootstrap = Bootstrap {
        seed: bench.seed,
        ..Bootstrap::default()
    };
    let mut row = Row::measured(dataset, system);
    let mut put = |name: &str, measure| row.metrics.insert(name.to_owned(), measure);
    put(
        "dimensions",
        Measure::exact(provider.dimension() as f64, "count", 1),
    );
    put(
        "norm_error",
        Measure::exact(norm_error, "l2", (passages.len() + found.len()) as u64),
    );
    put(
        "synonym_top1",
        Measure::of_interval(&super::rate(&bootstrap, &found)?, "fraction"),
    );
    put(
        "synonym_agreement",
        Measure::of_interval(&super::rate(&bootstrap, &agreed)?, "fraction"),
    );
    Ok(row)
}

fn norm_error(vector: &ndarray::ArrayView1<'_, f32>) -> f64 {
    let norm = vector
        .iter()
        .map(|&x| f64::from(x) * f64::from(x))
        .sum::<f64>()
        .sqrt();
    (norm - 1.0).abs()
}

/// Texts a second over the paragraphs of the corpus, and milliseconds a query, all providers in
/// turn. The figures belong to a provider, not to a set of questions: each of its rows gets them.
fn time(
    bench: &Bench<'_>,
    timed: &[(String, Box<dyn EmbeddingProvider>)],
    rows: &mut [Row],
) -> Result<()> {
    const ROUNDS: usize = 5;
    const TEXTS: usize = 200;
    const QUERIES: usize = 20;
    let paragraphs: Vec<&str> = bench
        .data
        .documents()
        .flat_map(|document| document.source().split("\n\n"))
        .filter(|paragraph| (40..600).contains(&paragraph.len()))
        .take(TEXTS)
        .collect();
    let groups = bench.data.synonyms()?;
    let queries: Vec<&str> = groups
        .iter()
        .flat_map(|group| &group.queries)
        .map(String::as_str)
        .take(QUERIES)
        .collect();

    let mut jobs: Vec<Box<dyn FnMut() -> Result<()> + '_>> = Vec::new();
    for (_, provider) in timed {
        jobs.push(Box::new(|| Ok(provider.embed(&paragraphs).map(drop)?)));
    }
    for (_, provider) in timed {
        jobs.push(Box::new(|| {
            for query in &queries {
                provider.embed_query(query)?;
            }
            Ok(())
        }));
    }
    let seconds = timing::interleave(ROUNDS, &mut jobs)?;
    drop(jobs);
    let (texts, questions) = seconds.split_at(timed.len());
    for (((name, _), texts), questions) in timed.iter().zip(texts).zip(questions) {
        let rate = timing::median(texts, "texts_per_s", |s| paragraphs.len() as f64 / s);
        let wait = timing::median(questions, "ms", |s| s * 1e3 / queries.len() as f64);
        for row in rows
            .iter_mut()
            .filter(|row| row.system == *name && row.gate_reason.is_none())
        {
            row.metrics.insert("texts_per_s".to_owned(), rate.clone());
            row.metrics.insert("query_ms".to_owned(), wait.clone());
        }
    }
    Ok(())
}
