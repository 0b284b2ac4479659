//! Rerankers: quality and latency side by side, and the frontier between them.

mod entrants;
mod figure;
mod fit;
mod questions;

use std::sync::Arc;

use anyhow::{Context, Result};
use cornu_core::{EmbeddingProvider, PairScorer, TokenCounter};
use cornu_eval::evidence::{License, Measure, Model, Printed, Record, Row};
use cornu_eval::report::{Column, Format, TableSpec};
use cornu_rerank::{Precision, TokenSpace};

use crate::external::{self, Found};
use crate::keeping::{KeepingScores, KeepingVectors};
use crate::kept::Kept;
use crate::licenses;
use crate::live::Live;
use crate::models::{ADAPTER, CROSS_ENCODERS, PINNED, PROJECTION, Prefixes, SecondLook};
use crate::reranker::sets::{Split, own_split};
use crate::second_look::{self, Asked, Strategy};
use crate::strategies::{SENTENCE, strategy};
use crate::table::{Bench, Part, Section, Table};

use entrants::{FIRST, FULL, ROLES};

/// Whose token vectors late interaction uses.
const TOKENS: &str = PINNED;
const PUBLIC: &str = "2wiki-500";
/// Test questions of both sets.
const ALL: &str = "test-questions";
const FRONTIER: &str = "frontier";
/// Questions of both sets that choices are made on.
const CHOICES: &str = "dev-questions";
const QUICK: &str = "questions-20";
/// Questions whose latency is measured.
const TIMED: usize = 200;
/// And of those, for other depths and cuts.
const TIMED_CUTS: usize = 20;
const MAXSIM: &str = "maxsim";
const MAXSIM_SHORT: &str = "maxsim-short";
/// The first strategies, which others are compared with.
const REFERENCES: usize = 2;

/// Table `rerank`.
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
         elbow (8 to 16), `maxsim` compares stored token vectors, `short` those of a projection to \
         128 dimensions where one is carried, and `maxsim-f16-cascade` is the cascade behind \
         MaxSim, at the elbow of its order; each blends its scores with those of the stage before \
         at equal weights, and `-alone` does not. Quality is over all questions, \
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
                title: "The weight of the second score",
                about: "On questions that choices are made on: the dev questions of `questions-ext` \
                        that were not trained on, and the first 150 of `2wiki-500`. nDCG@10 of the \
                        first stage, of equal weights, of the best weight of a grid with its \
                        bootstrap interval, and of the scores alone.",
                datasets: &[CHOICES],
                spec: TableSpec::new([
                    Column::new("weight", "weight", Format::Fixed(2)).with_interval(),
                    Column::new("first stage", "ndcg_first", Format::Fixed(3)),
                    Column::new("equal weights", "ndcg_half", Format::Fixed(3)),
                    Column::new("best weight", "ndcg_fitted", Format::Fixed(3)),
                    Column::new("alone", "ndcg_alone", Format::Fixed(3)),
                ]),
            },
            Section {
                title: "Other depths and cuts",
                about: "`cross-k` is cut at k without looking, `cascade-a-b` at the elbow between a \
                        and b; latency over 20 questions.",
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
        match bench.part {
            Part::Full => full(bench, models),
            Part::Quick => quick(bench, models),
        }
    }

    fn models(&self, bench: &Bench<'_>) -> Result<Vec<Model>> {
        let names = [PINNED, bench.models.cross_encoder(), PROJECTION];
        let records = names.map(|name| bench.models.record(name));
        let records = records.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(records.into_iter().flatten().collect())
    }

    fn figure(&self, record: &Record) -> Result<Option<String>> {
        figure::figure(record)
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

/// Quality of everything on one set of questions. Each space's strategies see the questions with
/// token vectors of that space.
fn quality_rows(
    dataset: &str,
    scorer: &Arc<dyn PairScorer>,
    spaces: &[Space],
    seed: u64,
) -> Result<Vec<Row>> {
    let questions = spaces.first().context("no space")?;
    let mut strategies = entrants::pairs(scorer)?;
    let mut quality = second_look::quality(&strategies, &questions.asked)?;
    for (at, space) in spaces.iter().enumerate() {
        let mut own = entrants::tokens(&space.name, &space.space);
        if at == 0 {
            own.push(entrants::staged(&space.name, &space.space, scorer)?);
        }
        quality.extend(second_look::quality(&own, &space.asked)?);
        strategies.extend(own);
    }
    let names: Vec<&Strategy> = strategies.iter().collect();
    second_look::quality_rows(dataset, &names, &quality, ROLES, seed)
}

/// Quality at other depths and cuts.
fn frontier_rows(scorer: &Arc<dyn PairScorer>, asked: &[Asked], seed: u64) -> Result<Vec<Row>> {
    let mut strategies = entrants::pairs(scorer)?;
    // The first stage and the full scorer before them, which they are compared with.
    strategies.truncate(REFERENCES);
    strategies.extend(entrants::cuts(scorer)?);
    let quality = second_look::quality(&strategies, asked)?;
    let names: Vec<&Strategy> = strategies.iter().collect();
    let rows = second_look::quality_rows(FRONTIER, &names, &quality, ROLES, seed)?;
    Ok(rows.into_iter().skip(REFERENCES).collect())
}

/// The weights that questions for choices prefer, of the cross-encoder and of MaxSim.
fn fitted_rows(scorer: &Arc<dyn PairScorer>, dev: &Space, seed: u64) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for strategies in [
        entrants::pairs(scorer)?,
        entrants::tokens(&dev.name, &dev.space),
    ] {
        let alone = strategies.iter().find(|one| one.name.ends_with("-alone"));
        let alone = alone.context("a strategy without a blend")?;
        rows.push(fit::row(CHOICES, alone, &dev.asked, seed)?);
    }
    Ok(rows)
}

/// Questions whose candidates have the token vectors of a space.
struct Space {
    name: String,
    space: TokenSpace,
    asked: Vec<Asked>,
}

/// Late interaction by the model's own vectors and by shorter ones, where there are such, each in 16
/// and in 8 bits.
struct Interaction(Vec<(&'static str, TokenSpace, Kept)>);

impl Interaction {
    /// `kept` opens what was computed before in a space.
    fn new(models: &SecondLook, kept: fn(&TokenSpace) -> Result<Kept>) -> Result<Self> {
        let own = (MAXSIM, Some(&models.tokens));
        let short = (MAXSIM_SHORT, models.projected.as_ref());
        let mut all = Vec::new();
        for (name, tokens) in [own, short] {
            if let Some(tokens) = tokens {
                let space = TokenSpace::new(Arc::clone(tokens));
                let kept = kept(&space)?;
                all.push((name, space, kept));
            }
        }
        Ok(Self(all))
    }

    fn of(&self, asked: &[Asked]) -> Result<Vec<Space>> {
        let mut spaces = Vec::new();
        for (name, space, kept) in &self.0 {
            let mut asked = asked.to_vec();
            questions::with_tokens(&mut asked, space, kept)?;
            let eight = questions::in_precision(&asked, Precision::Int8);
            spaces.push(Space {
                name: format!("{name}-f16"),
                space: space.clone(),
                asked,
            });
            spaces.push(Space {
                name: format!("{name}-int8"),
                space: space.clone().with_precision(Precision::Int8),
                asked: eight,
            });
        }
        Ok(spaces)
    }
}

fn quick(bench: &Bench<'_>, models: SecondLook) -> Result<Vec<Row>> {
    let asked = quick_questions(bench)?;
    let spaces = Interaction::new(&models, |_| Ok(Kept::nothing()))?.of(&asked)?;
    let scorer = KeepingScores::new(models.keeping, Kept::nothing());
    let scorer: Arc<dyn PairScorer> = Arc::new(scorer);
    quality_rows(QUICK, &scorer, &spaces, bench.seed)
}

fn full(bench: &Bench<'_>, models: SecondLook) -> Result<Vec<Row>> {
    let say = |what: &str| crate::run::say(&format!("  {what}"));
    say("the first stage");
    let (dev, test) = all_questions(bench)?;
    say("token vectors");
    let interaction = Interaction::new(&models, |space| Kept::open("tokens", space.fingerprint()))?;
    let (dev, test) = (interaction.of(&dev)?, interaction.of(&test)?);
    let kept = Kept::open("scores", models.keeping.fingerprint())?;
    let keeping: Arc<dyn PairScorer> = Arc::new(KeepingScores::new(models.keeping, kept));

    let own = dev.first().context("no space")?;
    let fits = bench.rows(CHOICES, || fitted_rows(&keeping, own, bench.seed))?;
    let mut rows = bench.rows(ALL, || quality_rows(ALL, &keeping, &test, bench.seed))?;
    let first = test.first().context("no space")?;
    let frontier = || frontier_rows(&keeping, &first.asked, bench.seed);
    let mut more = bench.rows(FRONTIER, frontier)?;
    drop(keeping);

    say("latency");
    let pairs = entrants::pairs(&models.scorer)?;
    let timed: Vec<Vec<Asked>> = test
        .iter()
        .map(|space| questions::sample(&space.asked, TIMED))
        .collect();
    let own = timed.first().map_or(&[][..], Vec::as_slice);
    let by_pairs = pairs.iter().take(entrants::TIMED).map(|one| (one, own));
    let staged = entrants::staged(&first.name, &first.space, &models.scorer)?;
    let tokens: Vec<Vec<Strategy>> = test
        .iter()
        .map(|space| entrants::tokens(&space.name, &space.space))
        .collect();
    let by_tokens = tokens.iter().zip(&timed);
    let by_tokens = by_tokens.filter_map(|(own, asked)| Some((own.first()?, asked.as_slice())));
    let behind = [(&staged, own)];
    let runs: Vec<(&Strategy, &[Asked])> = by_pairs.chain(behind).chain(by_tokens).collect();
    let seconds = second_look::latency(&runs)?;
    for ((strategy, _), own) in runs.iter().zip(&seconds) {
        let row = rows.iter_mut().find(|row| row.system == strategy.name);
        second_look::add_latency(row, own, seconds.get(ROLES.full).map(Vec::as_slice));
    }
    let cuts = entrants::cuts(&models.scorer)?;
    let few = own.get(..TIMED_CUTS.min(own.len())).unwrap_or_default();
    let runs: Vec<(&Strategy, &[Asked])> = cuts.iter().map(|one| (one, few)).collect();
    for (row, own) in more.iter_mut().zip(&second_look::latency(&runs)?) {
        second_look::add_latency(Some(row), own, None);
    }
    rows.extend(more);
    for row in &mut rows {
        let count = first.asked.len();
        let count = Measure::exact(count as f64, "count", count as u64);
        row.metrics.insert("questions".to_owned(), count);
    }
    rows.extend(fits);
    Ok(rows)
}

/// The questions for choices and those for the final figures, of both sets; of `bench-data` alone
/// where the public set is not at hand.
fn all_questions(bench: &Bench<'_>) -> Result<(Vec<Asked>, Vec<Asked>)> {
    let model = bench.models.shared(PINNED, Prefixes::Own)?;
    let kept = Kept::open("vectors", model.provider.fingerprint())?;
    let provider: Arc<dyn EmbeddingProvider> = Arc::new(KeepingVectors::new(model.provider, kept));
    let build = |documents: &[&cornu_core::Document]| live(documents, &model.counter, &provider);
    let (mut dev, mut test) = (Vec::new(), Vec::new());
    match external::find(PUBLIC)? {
        Found::Set(set) => {
            let live = build(&questions::documents(&set))?;
            dev.extend(questions::public(&live, &set, Split::Dev)?);
            test.extend(questions::public(&live, &set, Split::Test)?);
        }
        Found::Absent(reason) => crate::run::say(&format!("  {PUBLIC} is left out: {reason}")),
    }
    let live = build(&bench.data.documents().collect::<Vec<_>>())?;
    let all = bench.data.questions("questions-ext.jsonl")?;
    let answerable = || all.iter().filter(|question| question.is_answerable());
    let of = |split| answerable().filter(move |question| own_split(question) == split);
    dev.extend(questions::own(&live, &of(Split::Dev).collect::<Vec<_>>())?);
    test.extend(questions::own(&live, &of(Split::Test).collect::<Vec<_>>())?);
    Ok((dev, test))
}

fn quick_questions(bench: &Bench<'_>) -> Result<Vec<Asked>> {
    let model = bench.models.shared(PINNED, Prefixes::Own)?;
    let documents: Vec<_> = bench.data.documents().collect();
    let live = live(&documents, &model.counter, &model.provider)?;
    let all = bench.data.questions("questions-20.jsonl")?;
    let answerable = all.iter().filter(|question| question.is_answerable());
    questions::own(&live, &answerable.collect::<Vec<_>>())
}

fn live(
    documents: &[&cornu_core::Document],
    counter: &Arc<dyn TokenCounter>,
    provider: &Arc<dyn EmbeddingProvider>,
) -> Result<Live> {
    Live::build(
        documents,
        strategy(SENTENCE, counter)?,
        Arc::clone(provider),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use cornu_core::{
        ChunkId, Fingerprint, ProviderError, Side, TextTokens, TokenEmbedder, TokenVectors,
    };

    use super::*;
    use crate::second_look::Held;

    /// A vector a byte, with so many dimensions.
    struct Bytes(Fingerprint, usize);

    impl TokenEmbedder for Bytes {
        fn token_dimension(&self) -> usize {
            self.1
        }
        fn fingerprint(&self) -> &Fingerprint {
            &self.0
        }
        fn embed_tokens(
            &self,
            texts: &[&str],
            _: Side,
        ) -> Result<Vec<TokenVectors>, ProviderError> {
            let one = |text: &&str| TokenVectors {
                vectors: ndarray::Array2::from_shape_fn((text.len(), self.1), |(row, column)| {
                    f32::from(u8::from(text.as_bytes()[row] as usize % self.1 == column))
                }),
                spans: vec![None; text.len()],
                tokens: TextTokens::whole(text.len()),
            };
            Ok(texts.iter().map(one).collect())
        }
    }

    impl PairScorer for Bytes {
        fn fingerprint(&self) -> &Fingerprint {
            &self.0
        }
        fn score(&self, query: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
            let score = |text: &&str| text.matches(query).count() as f32;
            Ok(documents.iter().map(score).collect())
        }
    }

    fn models(projected: bool) -> SecondLook {
        let of = |name: &str, dimension| Arc::new(Bytes(Fingerprint::new(name), dimension));
        SecondLook {
            scorer: of("pairs", 1),
            keeping: of("pairs", 1),
            tokens: of("long", 8),
            projected: projected.then(|| of("short", 4) as Arc<dyn TokenEmbedder>),
        }
    }

    fn asked() -> Asked {
        let held = |at: u8, text: &str| Held {
            id: ChunkId::from_bytes([at; 32]),
            text: Arc::from(text),
            score: 1.0 / f64::from(at + 1),
            tokens: None,
        };
        Asked {
            text: "ab".to_owned(),
            found: vec![held(0, "cd"), held(1, "abab"), held(2, "a")],
            gold: BTreeSet::from([ChunkId::from_bytes([1; 32])]),
        }
    }

    #[test]
    fn each_space_has_its_own_vectors_and_its_rows() {
        let nothing = |_: &TokenSpace| Ok(Kept::nothing());
        for (projected, names) in [
            (false, &["maxsim-f16", "maxsim-int8"][..]),
            (
                true,
                &[
                    "maxsim-f16",
                    "maxsim-int8",
                    "maxsim-short-f16",
                    "maxsim-short-int8",
                ],
            ),
        ] {
            let models = models(projected);
            let spaces = Interaction::new(&models, nothing).unwrap();
            let spaces = spaces.of(&[asked()]).unwrap();
            let found: Vec<&str> = spaces.iter().map(|space| space.name.as_str()).collect();
            assert_eq!(found, names);
            for (space, bytes) in spaces.iter().zip([2 * 8, 8 + 4, 2 * 4, 4 + 4]) {
                let tokens = space.asked[0].found[2].tokens.as_ref().unwrap();
                assert_eq!(tokens.to_bytes().len(), 8 + bytes, "{}", space.name);
            }
            let scorer = Arc::clone(&models.keeping);
            let rows = quality_rows(ALL, &scorer, &spaces, 1).unwrap();
            let systems: Vec<&str> = rows.iter().map(|row| row.system.as_str()).collect();
            assert_eq!(systems[..2], [FIRST, FULL]);
            for name in names {
                assert!(systems.contains(name), "{systems:?}");
            }
            let behind = systems.iter().filter(|name| name.ends_with("-cascade"));
            let behind: Vec<&str> = behind.copied().collect();
            assert_eq!(behind, ["maxsim-f16-cascade"]);
            let top = |name: &str| {
                let row = rows.iter().find(|row| row.system == name);
                row.unwrap().metrics["top1"].value
            };
            assert_eq!(
                (top(FIRST), top("cross-50-alone"), top("maxsim-f16")),
                (0.0, 1.0, 1.0)
            );
            let fits = fitted_rows(&scorer, &spaces[0], 1).unwrap();
            let systems: Vec<&str> = fits.iter().map(|row| row.system.as_str()).collect();
            assert_eq!(systems, ["cross-50-alone", "maxsim-f16-alone"]);
            let more = frontier_rows(&scorer, &spaces[0].asked, 1).unwrap();
            assert!(
                more.iter()
                    .all(|row| ![FIRST, FULL].contains(&row.system.as_str()))
            );
        }
    }
}
