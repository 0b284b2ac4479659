//! Equal budgets, and what of the evidence they show.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use cornu_chunk::metrics::{context_completeness, evidence_unit};
use cornu_core::{ByteSpan, TokenCounter};
use cornu_eval::evidence::{Measure, Row};
use cornu_eval::questions::{Question, Ranks};

use super::systems::{Shown, System};
use super::world::{Build, World};
use crate::paired::{self, Samples, put};

/// The budgets, in tokens, and the metrics at each.
pub(super) const BUDGETS: [Budget; 3] = [
    Budget {
        tokens: 500,
        recall: "recall@500tok",
        whole: "all@500tok",
        precision: "precision@500tok",
        complete: "complete@500tok",
        spent: "tokens@500tok",
    },
    Budget {
        tokens: 1000,
        recall: "recall@1000tok",
        whole: "all@1000tok",
        precision: "precision@1000tok",
        complete: "complete@1000tok",
        spent: "tokens@1000tok",
    },
    Budget {
        tokens: 2000,
        recall: "recall@2000tok",
        whole: "all@2000tok",
        precision: "precision@2000tok",
        complete: "complete@2000tok",
        spent: "tokens@2000tok",
    },
];

/// In this metric systems are compared.
const COMPARED: &str = "recall@1000tok";
/// At this budget a system without any context refuses.
const DECIDING: usize = 1000;

pub(super) struct Budget {
    tokens: usize,
    recall: &'static str,
    whole: &'static str,
    precision: &'static str,
    complete: &'static str,
    spent: &'static str,
}

/// Whether each index refuses each question at its threshold.
struct Refusals(BTreeMap<(Build, String), bool>);

impl Refusals {
    fn of(world: &World, questions: &[&Question]) -> Result<Self> {
        let mut all = BTreeMap::new();
        for (build, indexed) in world.indexes() {
            for question in questions {
                let live = &indexed.live;
                let threshold = &indexed.fitted.threshold;
                let answer = live
                    .index
                    .answer(&live.everybody, &question.question, threshold)?;
                let refused = answer.outcome.refusal().is_some();
                all.insert((build, question.id.clone()), refused);
            }
        }
        Ok(Self(all))
    }
}

/// A question's metrics by name.
type Metrics = BTreeMap<&'static str, f64>;

/// What each system makes of each question.
pub(super) struct Measured<'a> {
    systems: &'a [System],
    questions: Vec<&'a Question>,
    /// For each system, for each question.
    metrics: Vec<Vec<Metrics>>,
}

impl<'a> Measured<'a> {
    pub(super) fn new(
        world: &World,
        systems: &'a [System],
        questions: Vec<&'a Question>,
    ) -> Result<Self> {
        let refusals = Refusals::of(world, &questions)?;
        let mut metrics = Vec::new();
        for system in systems {
            let each = questions.iter();
            let each = each.map(|question| ask(world, &refusals, system, question));
            metrics.push(each.collect::<Result<_>>()?);
        }
        Ok(Self {
            systems,
            questions,
            metrics,
        })
    }

    /// A row for each system over those of the questions that belong to a data set.
    pub(super) fn rows(
        &self,
        dataset: &str,
        belongs: impl Fn(&Question) -> bool,
        seed: u64,
    ) -> Result<Vec<Row>> {
        let (mut rows, mut all) = (Vec::new(), Vec::new());
        for (system, each) in self.systems.iter().zip(&self.metrics) {
            let mut samples = Samples::new();
            let asked = self.questions.iter().zip(each);
            for (_, metrics) in asked.filter(|(question, _)| belongs(question)) {
                for (name, value) in metrics {
                    put(&mut samples, name, Some(*value));
                }
            }
            let spent: Vec<(&str, Vec<f64>)> = BUDGETS
                .iter()
                .filter_map(|budget| Some((budget.spent, samples.remove(budget.spent)?)))
                .collect();
            let mut row = paired::row(dataset, system.name, &samples, seed)?;
            let mut add = |name: &str, measure| row.metrics.insert(name.to_owned(), measure);
            for (name, tokens) in spent {
                let mean = tokens.iter().sum::<f64>() / tokens.len().max(1) as f64;
                add(name, Measure::exact(mean, "tokens", tokens.len() as u64));
            }
            for (name, of) in [
                ("answerable", "refused_answerable"),
                ("unanswerable", "refused_unanswerable"),
            ] {
                let n = samples.get(of).map_or(0, Vec::len) as u64;
                add(name, Measure::exact(n as f64, "count", n));
            }
            rows.push(row);
            all.push(samples);
        }
        paired::compare(&mut rows, &all, 0, COMPARED, seed)?;
        Ok(rows)
    }
}

fn ask(
    world: &World,
    refusals: &Refusals,
    system: &System,
    question: &Question,
) -> Result<Metrics> {
    let one = |is: bool| f64::from(u8::from(is));
    let mut metrics = Metrics::new();
    for budget in &BUDGETS {
        let contexts = system.contexts(world, &question.question, budget.tokens)?;
        if budget.tokens == DECIDING {
            let below = refusals.0.get(&(system.build, question.id.clone()));
            let below = *below.context("a question that was asked")?;
            let name = match question.is_answerable() {
                true => "refused_answerable",
                false => "refused_unanswerable",
            };
            metrics.insert(name, one(below || contexts.is_empty()));
        }
        if question.is_answerable() {
            let (shown, tokens) = cut(world, contexts, budget.tokens)?;
            metrics.insert(budget.spent, tokens as f64);
            judge(&mut metrics, world, question, &shown, budget)?;
        }
    }
    Ok(metrics)
}

/// The evidence that a system shows within a budget; 0 for a question without.
pub(super) fn recall(
    world: &World,
    system: &System,
    question: &Question,
    budget: usize,
) -> Result<f64> {
    let contexts = system.contexts(world, &question.question, budget)?;
    let (shown, _) = cut(world, contexts, budget)?;
    let texts = texts(world, &shown)?;
    let ranks = Ranks::find(&question.evidence, &texts);
    Ok(ranks.recall(texts.len()).unwrap_or(0.0))
}

/// Contexts from the top until the budget is spent; the last one is cut where it ends. With the
/// tokens that they take.
fn cut(world: &World, contexts: Vec<Shown>, budget: usize) -> Result<(Vec<Shown>, usize)> {
    let counter: &dyn TokenCounter = &*world.model.counter;
    let (mut shown, mut left) = (Vec::new(), budget);
    for mut context in contexts {
        let (document, _) = world.document(context.doc.as_str())?;
        let text = context.span.slice(document.source());
        let text = text.context("a span of the document")?;
        let size = counter.count(text);
        if size <= left {
            left -= size;
            shown.push(context);
            continue;
        }
        let end = counter.fit(text, left);
        if end > 0 {
            let start = context.span.start();
            context.span = ByteSpan::from_range(start..start + end);
            left -= counter.count(text.get(..end).unwrap_or_default()).min(left);
            shown.push(context);
        }
        break;
    }
    Ok((shown, budget - left))
}

/// What of the evidence is shown, and what of the shown is of its sections.
fn judge(
    metrics: &mut Metrics,
    world: &World,
    question: &Question,
    shown: &[Shown],
    budget: &Budget,
) -> Result<()> {
    let texts = texts(world, shown)?;
    let ranks = Ranks::find(&question.evidence, &texts);
    let recall = ranks.recall(texts.len());
    metrics.extend(recall.map(|recall| (budget.recall, recall)));
    let whole = ranks.hit(texts.len());
    metrics.extend(whole.map(|whole| (budget.whole, whole)));

    // Of a document that holds evidence: the sections that hold it, and what is shown of it.
    let mut complete = 0.0;
    let mut units: BTreeMap<&str, Vec<ByteSpan>> = BTreeMap::new();
    for piece in &question.evidence {
        let mut best = 0.0_f64;
        for alternative in piece {
            let doc = alternative.doc.as_str();
            let (document, outline) = world.document(doc)?;
            let source = document.source();
            let own = shown.iter().filter(|one| one.doc.as_str() == doc);
            let own: Vec<ByteSpan> = own.map(|one| one.span).collect();
            for (at, _) in source.match_indices(&alternative.phrase) {
                if let Some(unit) = evidence_unit(source, outline, at) {
                    best = best.max(context_completeness(source, unit, &own));
                    units.entry(doc).or_default().push(unit);
                }
            }
        }
        complete += best;
    }
    let complete = complete / question.evidence.len() as f64;
    metrics.insert(budget.complete, complete);

    let (mut good, mut whole) = (0, 0_usize);
    for (context, (doc, text)) in shown.iter().zip(&texts) {
        let units = units.get(doc).map_or(&[][..], Vec::as_slice);
        for (at, _) in text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
            let at = context.span.start() + at;
            let mut units = units.iter();
            let inside = units.any(|unit| unit.start() <= at && at < unit.end());
            whole += 1;
            good += usize::from(inside);
        }
    }
    let precision = if whole == 0 {
        0.0
    } else {
        good as f64 / whole as f64
    };
    metrics.insert(budget.precision, precision);
    Ok(())
}

/// Document and text of each context.
fn texts<'a>(world: &'a World, shown: &'a [Shown]) -> Result<Vec<(&'a str, &'a str)>> {
    let text = |context: &'a Shown| {
        let (document, _) = world.document(context.doc.as_str())?;
        let text = context.span.slice(document.source()).unwrap_or_default();
        Ok((context.doc.as_str(), text))
    };
    shown.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cornu::HashEmbeddingProvider;
    use cornu_core::{Acl, DocId, Document};
    use cornu_eval::questions::Alternative;
    use cornu_text::WordCounter;

    use super::super::fit::Shape;
    use super::super::systems::{SYSTEMS, Way};
    use super::*;
    use crate::models::Shared;

    const GUIDE: &str = "# Pump\n\n## Start\n\nOpen the valve of the pump. The pump starts slowly.\n\n\
        ### Warm\n\nA warm pump starts at once.\n\n## Stop\n\nClose the valve of the pump.\n";
    const OTHER: &str = "# Garden\n\n## Roses\n\nRoses need water each morning.\n";

    fn question(id: &str, split: &str, text: &str, phrases: &[&str]) -> Question {
        let piece = |phrase: &&str| {
            vec![Alternative {
                doc: "pump.md".to_owned(),
                phrase: (*phrase).to_owned(),
            }]
        };
        Question {
            id: id.to_owned(),
            kind: "run".to_owned(),
            split: split.to_owned(),
            lang: "en".to_owned(),
            question: text.to_owned(),
            answer: None,
            evidence: phrases.iter().map(piece).collect(),
            near_miss: phrases.is_empty(),
        }
    }

    fn world() -> World {
        let documents = [("pump.md", GUIDE), ("garden.md", OTHER)]
            .map(|(name, text)| Document::new(DocId::new(name).unwrap(), text, Acl::public()));
        let model = Shared {
            provider: Arc::new(HashEmbeddingProvider::default()),
            counter: Arc::new(WordCounter::new()),
        };
        let asked = [
            question(
                "t1",
                "test",
                "valve of the pump",
                &["Open the valve", "Close the valve"],
            ),
            question("t2", "test", "price of the house", &[]),
        ];
        let dev = [
            question(
                "d1",
                "dev",
                "Open the valve of the pump",
                &["Open the valve"],
            ),
            question("d2", "dev", "Who won the race?", &[]),
        ];
        let builds = [Build::Plain, Build::Header, Build::Children];
        World::build(documents.into(), model, &builds, asked.into(), dev.into()).unwrap()
    }

    #[test]
    fn every_system_keeps_to_the_budget_and_says_what_it_shows() {
        let world = world();
        let asked: Vec<&Question> = world.segments.iter().collect();
        let measured = Measured::new(&world, &SYSTEMS, asked).unwrap();
        let rows = measured.rows("set", |_| true, 1).unwrap();
        assert_eq!(rows.len(), SYSTEMS.len());
        for row in &rows {
            let get = |name: &str| row.metrics[name].value;
            assert!(get("tokens@500tok") <= 500.0, "{}", row.system);
            assert_eq!(get("answerable"), 1.0);
            assert_eq!(get("unanswerable"), 1.0);
            // The whole guide fits, and one of its documents holds all the evidence.
            if row.system == "top-k" {
                assert_eq!(get("recall@1000tok"), 1.0);
                assert!(get("precision@1000tok") < 1.0, "the garden is shown, too");
                assert_eq!(get("complete@1000tok"), 1.0);
            }
        }
    }

    #[test]
    fn behind_fitted_runs_stand_chunks_that_are_in_none() {
        let world = world();
        let contexts = |penalty, price| {
            let shape = Shape {
                width: None,
                penalty,
                price,
                decay: 30.0,
            };
            let system = System {
                name: "tried",
                build: Build::Plain,
                way: Way::Shaped(shape),
            };
            let found = system.contexts(&world, "valve of the pump", 1000);
            found.unwrap()
        };
        let chunks = world.index(Build::Plain).unwrap().live.chunks.values();
        let chunks: Vec<_> = chunks.collect();
        // Free runs, runs so dear that there is none, and long ones: all chunks are shown, none of
        // them twice.
        for (penalty, price) in [(0.18, 0.0), (0.18, 100.0), (0.01, 0.1)] {
            let shown = contexts(penalty, price);
            for chunk in &chunks {
                let holding = shown
                    .iter()
                    .filter(|one| one.doc == chunk.doc && one.span.contains(chunk.span));
                assert_eq!(holding.count(), 1, "price {price}, lines {}", chunk.lines);
            }
        }
        assert!(contexts(0.18, 0.0).len() <= chunks.len());
        assert_eq!(contexts(0.18, 100.0).len(), chunks.len());
        assert!(contexts(0.01, 0.1).len() < chunks.len(), "a run of several");
    }

    #[test]
    fn what_does_not_fit_is_cut_where_the_budget_ends() {
        let world = world();
        let doc = DocId::new("pump.md").unwrap();
        let whole = |text: &str| Shown {
            doc: doc.clone(),
            span: {
                let start = GUIDE.find(text).unwrap();
                ByteSpan::new(start, start + text.len()).unwrap()
            },
        };
        let contexts = || {
            vec![
                whole("Close the valve"),
                whole("Open the valve of the pump."),
            ]
        };
        let texts = |budget: usize| {
            let (shown, tokens) = cut(&world, contexts(), budget).unwrap();
            let shown = shown.iter().map(|one| one.span.slice(GUIDE).unwrap());
            (shown.collect::<Vec<_>>(), tokens)
        };
        let (all, spent) = texts(100);
        assert_eq!(all, ["Close the valve", "Open the valve of the pump."]);
        let (cut, less) = texts(spent - 2);
        assert!(less <= spent - 2 && cut[1].len() < all[1].len(), "{cut:?}");
        assert!(all[1].starts_with(cut[1]));
        assert_eq!(texts(0).0, Vec::<&str>::new());
    }
}
