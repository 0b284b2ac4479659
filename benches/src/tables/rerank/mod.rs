//! Rerankers: quality and latency side by side, and the frontier between them.

mod questions;

use std::sync::Arc;

use anyhow::Result;
use cornu_core::PairScorer;
use cornu_eval::evidence::{License, Measure, Model, Printed, Record, Row};
use cornu_eval::report::{Column, Format, TableSpec};
use cornu_rerank::{
    CascadeOptions, CrossEncoder, ElbowCascade, MaxSim, NoRerank, Precision, Reranker, Scale,
    Scorer, TokenSpace,
};

use crate::external::{self, Found};
use crate::frontier::{Frontier, Point, Series};
use crate::licenses;
use crate::live::Live;
use crate::models::{ADAPTER, CROSS_ENCODERS, PINNED, Prefixes};
use crate::reranker::sets::DEV;
use crate::second_look::{self, Asked, Quality, Remembering, Roles, Strategy};
use crate::strategies::{SENTENCE, strategy};
use crate::table::{Bench, Part, Section, Table};

/// Whose token vectors late interaction uses.
const TOKENS: &str = PINNED;
const PUBLIC: &str = "2wiki-500";
/// Test questions of both sets.
const ALL: &str = "test-questions";
const FRONTIER: &str = "frontier";
const QUICK: &str = "questions-20";
/// Questions whose latency is measured.
const TIMED: usize = 200;

const FIRST: &str = "first-stage";
const FULL: &str = "cross-50";
const ROLES: Roles = Roles { first: 0, full: 1 };
/// Depths at which a cross-encoder is cut without looking.
const DEPTHS: [usize; 4] = [5, 10, 20, 30];
/// Other floors and ceilings of the cascade.
const CUTS: [(usize, usize); 3] = [(2, 6), (4, 10), (16, 28)];

/// Table `rerank`. Not among [`TABLES`](super::TABLES): it has no record yet, since measuring it
/// takes about an hour on two cores.
pub struct Rerank;

impl Table for Rerank {
    fn name(&self) -> &'static str {
        "rerank"
    }

    fn summary(&self) -> &'static str {
        "quality over latency: full cross-encoder, cascade at the elbow, MaxSim"
    }

    fn about(&self) -> &'static str {
        "The best 50 of the hybrid search (reciprocal ranks, `multilingual-e5-small-q4`, `sentence` \
         chunks) and what each reranker makes of them, on questions that no model has seen: the test \
         questions of `questions-ext` and those of `2wiki-500` behind the first 150 by the hash of \
         their ids. `cross-50` puts all 50 through the cross-encoder, `cascade` those above the \
         elbow (8 to 16), `maxsim` compares stored token vectors. Quality is over all questions, \
         latency over 200 of them, one after another, all rerankers in turn; it holds the \
         reranking alone, the model's pass for the query included."
    }

    fn sections(&self) -> Vec<Section> {
        let frontier = TableSpec::new([
            Column::new("scored", "scored", Format::Fixed(1)),
            Column::new("p50 ms", "p50_ms", Format::Fixed(2)),
            Column::new("p95 ms", "p95_ms", Format::Fixed(2)),
            Column::new("top-1", "top1", Format::Percent(1)).with_interval(),
            Column::new("nDCG@10", "ndcg@10", Format::Fixed(3)).with_interval(),
        ]);
        vec![
            Section {
                title: "Side by side",
                about: "*To first* and *to full* are paired differences in top-1, *kept* the part \
                        of the full scorer's gain in nDCG@10, *times* the questions a second as a \
                        multiple of the full scorer's in the same run.",
                datasets: &[ALL, QUICK],
                spec: full_spec(),
            },
            Section {
                title: "Other depths and cuts",
                about: "`cross-k` is cut at k without looking, `cascade-a-b` at the elbow between a \
                        and b.",
                datasets: &[FRONTIER],
                spec: frontier,
            },
        ]
    }

    fn brief(&self) -> Section {
        Section {
            datasets: &[ALL],
            ..Section::whole(TableSpec::new([
                Column::new("scored", "scored", Format::Fixed(1)),
                Column::new("p50 ms", "p50_ms", Format::Fixed(1)).with_printed(),
                Column::new("p95 ms", "p95_ms", Format::Fixed(1)).with_printed(),
                Column::new("top-1", "top1", Format::Percent(1))
                    .with_interval()
                    .with_printed(),
                Column::new("QPS", "qps", Format::Fixed(1)).with_printed(),
                Column::new("times", "qps_to_full", Format::Fixed(1)),
            ]))
        }
    }

    fn printed(&self) -> Vec<Printed> {
        let row = |system: &str, figures: [f64; 4]| Printed {
            system: system.to_owned(),
            dataset: Some(ALL.to_owned()),
            metrics: ["p50_ms", "p95_ms", "top1", "qps"]
                .into_iter()
                .map(str::to_owned)
                .zip(figures)
                .collect(),
            source: "chapter 14, stage 4".to_owned(),
        };
        vec![
            row(FULL, [184.2, 245.8, 0.925, 5.4]),
            row("cascade", [48.6, 65.1, 0.918, 20.2]),
            row("maxsim-f16", [12.3, 18.5, 0.902, 78.5]),
        ]
    }

    fn measure(&self, bench: &Bench<'_>) -> Result<Vec<Row>> {
        let models = match bench.models.second_look(TOKENS)? {
            Ok(models) => models,
            Err(reason) => {
                let dataset = if bench.part == Part::Full { ALL } else { QUICK };
                let gated = |system: &str| Row::gated(dataset, system, &reason);
                return Ok([FIRST, FULL, "cascade", "maxsim-f16", "maxsim-int8"]
                    .map(gated)
                    .to_vec());
            }
        };
        let space = TokenSpace::new(models.tokens);
        let mut asked = match bench.part {
            Part::Full => test_questions(bench)?,
            Part::Quick => quick_questions(bench)?,
        };
        questions::with_tokens(&mut asked, &space)?;
        let eight = questions::in_precision(&asked, Precision::Int8);
        let int8 = vec![Strategy {
            name: "maxsim-int8".to_owned(),
            reranker: Arc::new(MaxSim::new(space.clone().with_precision(Precision::Int8))),
        }];
        let remembered: Arc<dyn PairScorer> = Arc::new(Remembering::new(models.scorer.clone()));
        let mut measured = second_look::quality(&main(&remembered, &space)?, &asked)?;
        measured.extend(second_look::quality(&int8, &eight)?);
        let four = main(&models.scorer, &space)?;
        let all = || four.iter().chain(&int8);
        if bench.part == Part::Quick {
            let names: Vec<&Strategy> = all().collect();
            return second_look::quality_rows(QUICK, &names, &measured, ROLES, bench.seed);
        }

        let cuts = cuts(&models.scorer)?;
        let timed = asked.get(..TIMED.min(asked.len())).unwrap_or_default();
        let timed_eight = eight.get(..timed.len()).unwrap_or_default();
        let mut runs: Vec<(&Strategy, &[Asked])> = four.iter().map(|one| (one, timed)).collect();
        runs.extend(int8.iter().map(|one| (one, timed_eight)));
        runs.extend(cuts.iter().map(|one| (one, timed)));
        let mut seconds = second_look::latency(&runs)?;
        let of_cuts = seconds.split_off(all().count());
        let names: Vec<&Strategy> = all().collect();
        let mut rows = second_look::quality_rows(ALL, &names, &measured, ROLES, bench.seed)?;
        second_look::add_latency(&mut rows, &seconds, ROLES.full);

        // With the first stage and the full scorer before them, which they are compared with.
        let references = names.iter().copied().take(2);
        let names: Vec<&Strategy> = references.chain(&cuts).collect();
        let mut quality: Vec<Quality> = measured.into_iter().take(2).collect();
        quality.extend(second_look::quality(&self::cuts(&remembered)?, &asked)?);
        let more = second_look::quality_rows(FRONTIER, &names, &quality, ROLES, bench.seed)?;
        let mut more: Vec<Row> = more.into_iter().skip(2).collect();
        second_look::add_latency(&mut more, &of_cuts, usize::MAX);
        rows.extend(more);
        for row in &mut rows {
            let count = Measure::exact(asked.len() as f64, "count", asked.len() as u64);
            row.metrics.insert("questions".to_owned(), count);
        }
        Ok(rows)
    }

    fn models(&self, bench: &Bench<'_>) -> Result<Vec<Model>> {
        let names = [PINNED, bench.models.cross_encoder()];
        let records = names.map(|name| bench.models.record(name));
        let records = records.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(records.into_iter().flatten().collect())
    }

    fn figure(&self, record: &Record) -> Result<Option<String>> {
        figure(record)
    }

    fn inputs(&self) -> &'static [&'static str] {
        &["questions-20.jsonl", "questions-ext.jsonl", "external.toml"]
    }

    fn licenses(&self) -> Vec<License> {
        licenses::with_public_sets()
    }

    fn known_failures(&self) -> Vec<String> {
        vec![
            format!(
                "The cross-encoder is the first of {} that is at hand, else {ADAPTER}, which was \
                 trained here on few questions; with a weak one the comparisons to it say little.",
                CROSS_ENCODERS.join(", ")
            ),
            "A question of 2wiki-500 has several gold passages; top-1 asks for one of them."
                .to_owned(),
            "Latencies are of one machine with one question at a time; the ratios carry further."
                .to_owned(),
        ]
    }
}

fn full_spec() -> TableSpec {
    TableSpec::new([
        Column::new("scored", "scored", Format::Fixed(1)),
        Column::new("p50 ms", "p50_ms", Format::Fixed(2)).with_printed(),
        Column::new("p95 ms", "p95_ms", Format::Fixed(2)).with_printed(),
        Column::new("top-1", "top1", Format::Percent(1))
            .with_interval()
            .with_printed(),
        Column::new("to first", "top1_to_first", Format::Fixed(3)).with_interval(),
        Column::new("to full", "top1_to_full", Format::Fixed(3)).with_interval(),
        Column::new("nDCG@10", "ndcg@10", Format::Fixed(3)).with_interval(),
        Column::new("kept", "gain_kept", Format::Fixed(2)),
        Column::new("QPS", "qps", Format::Fixed(1)).with_printed(),
        Column::new("times", "qps_to_full", Format::Fixed(2)),
    ])
}

fn named(name: impl Into<String>, reranker: impl Reranker + 'static) -> Strategy {
    Strategy {
        name: name.into(),
        reranker: Arc::new(reranker),
    }
}

/// The rows of the main section, in the places that [`ROLES`] names.
fn main(scorer: &Arc<dyn PairScorer>, space: &TokenSpace) -> Result<Vec<Strategy>> {
    let scorer = || Scorer::new(Arc::clone(scorer), Scale::Logit);
    let cascade = ElbowCascade::new(scorer(), CascadeOptions::default())?;
    Ok(vec![
        named(FIRST, NoRerank::new()),
        named(FULL, CrossEncoder::new(scorer())),
        named("cascade", cascade),
        named("maxsim-f16", MaxSim::new(space.clone())),
    ])
}

fn cuts(scorer: &Arc<dyn PairScorer>) -> Result<Vec<Strategy>> {
    let scorer = || Scorer::new(Arc::clone(scorer), Scale::Logit);
    let depths = DEPTHS.into_iter().map(|depth| {
        let reranker = CrossEncoder::new(scorer()).with_depth(depth);
        Ok(named(format!("cross-{depth}"), reranker))
    });
    let cascades = CUTS.into_iter().map(|(floor, ceiling)| {
        let options = CascadeOptions {
            floor,
            ceiling,
            ..CascadeOptions::default()
        };
        let reranker = ElbowCascade::new(scorer(), options)?;
        Ok(named(format!("cascade-{floor}-{ceiling}"), reranker))
    });
    depths.chain(cascades).collect()
}

/// The test questions of both sets; of `bench-data` alone where the public set is not at hand.
fn test_questions(bench: &Bench<'_>) -> Result<Vec<Asked>> {
    let model = bench.models.shared(PINNED, Prefixes::Own)?;
    let build = |documents: &[&cornu_core::Document]| {
        let chunker = strategy(SENTENCE, &model.counter)?;
        Live::build(documents, chunker, Arc::clone(&model.provider))
    };
    let mut asked = Vec::new();
    match external::find(PUBLIC)? {
        Found::Set(set) => {
            let live = build(&questions::documents(&set))?;
            asked.extend(questions::public(&live, &set, DEV)?);
        }
        Found::Absent(reason) => crate::run::say(&format!("  {PUBLIC} is left out: {reason}")),
    }
    let live = build(&bench.data.documents().collect::<Vec<_>>())?;
    let all = bench.data.questions("questions-ext.jsonl")?;
    let test: Vec<_> = all
        .iter()
        .filter(|question| question.split == "test" && question.is_answerable())
        .collect();
    asked.extend(questions::own(&live, &test)?);
    Ok(asked)
}

fn quick_questions(bench: &Bench<'_>) -> Result<Vec<Asked>> {
    let model = bench.models.shared(PINNED, Prefixes::Own)?;
    let chunker = strategy(SENTENCE, &model.counter)?;
    let documents: Vec<_> = bench.data.documents().collect();
    let live = Live::build(&documents, chunker, Arc::clone(&model.provider))?;
    let all = bench.data.questions("questions-20.jsonl")?;
    let answerable: Vec<_> = all
        .iter()
        .filter(|question| question.is_answerable())
        .collect();
    questions::own(&live, &answerable)
}

/// Top-1 over the median latency, where both were measured.
fn figure(record: &Record) -> Result<Option<String>> {
    let kinds = [
        ("cross-encoder, first k", "cross-"),
        ("cascade at the elbow", "cascade"),
        ("MaxSim", "maxsim"),
    ];
    let mut series = Vec::new();
    for (name, prefix) in kinds {
        let mut points: Vec<Point> = record
            .rows
            .iter()
            .filter(|row| row.system.starts_with(prefix))
            .filter_map(|row| {
                let (cost, quality) = (row.metrics.get("p50_ms")?, row.metrics.get("top1")?);
                Some(Point {
                    label: row.system.clone(),
                    x: cost.value,
                    y: quality.value,
                    interval: quality.lo.zip(quality.hi),
                })
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x).then_with(|| a.label.cmp(&b.label)));
        if !points.is_empty() {
            series.push(Series {
                name: name.to_owned(),
                points,
            });
        }
    }
    if series.is_empty() {
        return Ok(None);
    }
    let frontier = Frontier {
        title: "Reranking 50 candidates: quality over latency".to_owned(),
        x: "median latency of a question, ms (logarithmic)".to_owned(),
        y: "top-1 hit rate, 95 % interval".to_owned(),
        series,
    };
    frontier.svg().map(Some)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn row(dataset: &str, system: &str, figures: Option<(f64, f64)>) -> Row {
        let mut row = Row::measured(dataset, system);
        if let Some((cost, quality)) = figures {
            row.metrics = BTreeMap::from([
                ("p50_ms".to_owned(), Measure::exact(cost, "ms", 1)),
                ("top1".to_owned(), Measure::exact(quality, "fraction", 1)),
            ]);
        }
        row
    }

    fn record(rows: Vec<Row>) -> Record {
        use cornu_eval::evidence::{Environment, Versions};
        let mut record = Record::measured("rerank", Environment::detect(&Versions::default()));
        record.rows = rows;
        record
    }

    #[test]
    fn the_figure_has_every_row_with_both_figures_and_none_without_any() {
        let rows = vec![
            row(ALL, FULL, Some((180.0, 0.6))),
            row(FRONTIER, "cross-5", Some((20.0, 0.5))),
            row(ALL, "maxsim-f16", Some((12.0, 0.55))),
            row(ALL, FIRST, Some((0.001, 0.4))),
            row(ALL, "cascade", None),
        ];
        let svg = figure(&record(rows)).unwrap().unwrap();
        assert!(svg.contains("cross-5") && svg.contains("maxsim-f16"));
        assert!(!svg.contains(FIRST) && !svg.contains("cascade"));
        assert_eq!(
            figure(&record(vec![row(ALL, "cascade", None)])).unwrap(),
            None
        );
    }

    #[test]
    fn the_places_of_the_roles_are_those_of_the_names() {
        use cornu_core::{Fingerprint, ProviderError, Side, TokenEmbedder, TokenVectors};
        struct Never(Fingerprint);
        impl PairScorer for Never {
            fn fingerprint(&self) -> &Fingerprint {
                &self.0
            }
            fn score(&self, _: &str, _: &[&str]) -> Result<Vec<f32>, ProviderError> {
                Ok(vec![])
            }
        }
        impl TokenEmbedder for Never {
            fn token_dimension(&self) -> usize {
                1
            }
            fn fingerprint(&self) -> &Fingerprint {
                &self.0
            }
            fn embed_tokens(
                &self,
                _: &[&str],
                _: Side,
            ) -> Result<Vec<TokenVectors>, ProviderError> {
                Ok(vec![])
            }
        }
        let scorer: Arc<dyn PairScorer> = Arc::new(Never(Fingerprint::new("never")));
        let space = TokenSpace::new(Arc::new(Never(Fingerprint::new("never"))));
        let main = main(&scorer, &space).unwrap();
        assert_eq!(
            (
                main[ROLES.first].name.as_str(),
                main[ROLES.full].name.as_str()
            ),
            (FIRST, FULL)
        );
        assert_eq!(cuts(&scorer).unwrap().len(), DEPTHS.len() + CUTS.len());
    }
}
