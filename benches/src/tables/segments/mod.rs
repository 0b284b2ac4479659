//! Runs of chunks and headers of context, beside single chunks, parents and sections, at equal
//! budgets of tokens.

mod columns;
mod fit;
mod measure;
mod systems;
mod world;

use anyhow::{Result, ensure};
use cornu_eval::evidence::{Measure, Row};
use cornu_eval::questions::{Question, Ranks};

use crate::table::{Bench, Part, Section, Table};

use measure::Measured;
use systems::{SYSTEMS, System, Way};
use world::{Build, EXT, SEGMENTS, World};

/// Questions of the quick part.
const QUICK: usize = 20;
const FITTED: &str = "fitted";
/// Runs by the preset, and the same fitted.
const PRESET: &str = "rse";
const SHAPED: &str = "rse-fitted";

type Belongs = fn(&Question) -> bool;
/// Parts of the questions on passages longer than a chunk.
const PARTS: [(&str, Belongs); 5] = [
    ("segments", |_| true),
    ("segments-run", |question| question.kind == "run"),
    ("segments-spread", |question| question.kind == "spread"),
    ("segments-zh", |question| question.lang == "zh"),
    ("segments-en", |question| question.lang == "en"),
];

/// Table `segments`.
pub struct Segments;

impl Table for Segments {
    fn name(&self) -> &'static str {
        "segments"
    }

    fn summary(&self) -> &'static str {
        "runs of chunks, headers of context, parents and sections at equal budgets of tokens"
    }

    fn about(&self) -> &'static str {
        columns::ABOUT
    }

    fn sections(&self) -> Vec<Section> {
        columns::sections()
    }

    fn brief(&self) -> Section {
        columns::brief()
    }

    fn measure(&self, bench: &Bench<'_>) -> Result<Vec<Row>> {
        bench.rows("segments", || match World::open(bench)? {
            Ok(world) => measure_all(bench, &world),
            Err(reason) => Ok(gated(bench.part, &reason)),
        })
    }

    fn inputs(&self) -> &'static [&'static str] {
        &[
            SEGMENTS,
            EXT,
            "long/long.toml",
            "long/calder-archive.md",
            "long/vennor-reservoir.md",
        ]
    }

    fn known_failures(&self) -> Vec<String> {
        [
            "The documents have many short sections, and a chunk never crosses a heading: runs pay \
             less here than in long unbroken text.",
            "One writer wrote documents and questions; each question on segments names all the \
             things that its evidence says.",
            "The chunks of a document come from one summariser that takes sentences of the document \
             itself; a header that a model writes is not measured.",
        ]
        .map(str::to_owned)
        .into()
    }
}

fn measure_all(bench: &Bench<'_>, world: &World) -> Result<Vec<Row>> {
    no_chunk_holds_all(world)?;
    let mut systems = systems(bench.part);
    let mut rows = Vec::new();
    if bench.part == Part::Full {
        let fitted = fit::fit(world)?;
        let place = systems.iter().position(|one| one.name == PRESET);
        let shaped = System {
            name: SHAPED,
            build: Build::Plain,
            way: Way::Shaped(fitted.shape),
        };
        systems.insert(place.map_or(0, |at| at + 1), shaped);
        rows.push(fitted_row(&fitted));
    }
    let of = |questions: &'static str| -> Vec<&Question> {
        let all = match questions {
            SEGMENTS => &world.segments,
            _ => &world.ext,
        };
        all.iter().filter(|q| q.split == "test").collect()
    };
    let mut asked = of(SEGMENTS);
    if bench.part == Part::Quick {
        asked.truncate(QUICK);
    }
    let measured = Measured::new(world, &systems, asked)?;
    for (dataset, belongs) in parts(bench.part) {
        rows.extend(measured.rows(dataset, belongs, bench.seed)?);
    }
    if bench.part == Part::Full {
        let measured = Measured::new(world, &systems, of(EXT))?;
        rows.extend(measured.rows("ext", |_| true, bench.seed)?);
    }
    for (build, indexed) in world.indexes() {
        let fitted = &indexed.fitted;
        let mut row = Row::measured(FITTED, build.name());
        let n = (fitted.answerable + fitted.unanswerable) as u64;
        let mut put = |name: &str, measure| row.metrics.insert(name.to_owned(), measure);
        put(
            "value",
            Measure::exact(fitted.threshold.value(), "cosine", n),
        );
        put("questions", Measure::exact(n as f64, "count", n));
        let chunks = indexed.live.chunks.len() as u64;
        put("chunks", Measure::exact(chunks as f64, "count", 1));
        put(
            "mean_tokens",
            Measure::exact(indexed.chunk_tokens, "tokens", chunks),
        );
        rows.push(row);
    }
    Ok(rows)
}

/// What was fitted, and what it gained on the dev questions.
fn fitted_row(fitted: &fit::Fitted) -> Row {
    let mut row = Row::measured(FITTED, SHAPED);
    let n = fitted.questions as u64;
    let mut put = |name: &str, measure| row.metrics.insert(name.to_owned(), measure);
    if let Some(width) = fitted.shape.width {
        put("width", Measure::exact(width, "cosine", n));
    }
    let penalty = Measure::exact(fitted.shape.penalty, "value", n);
    put("penalty", penalty);
    put("price", Measure::exact(fitted.shape.price, "value", n));
    put("decay", Measure::exact(fitted.shape.decay, "ranks", n));
    put("single", Measure::exact(fitted.chunks, "fraction", n));
    put("preset", Measure::exact(fitted.preset, "fraction", n));
    put("best", Measure::exact(fitted.best, "fraction", n));
    put("questions", Measure::exact(n as f64, "count", n));
    row
}

/// What the questions on segments promise: each needs several chunks.
fn no_chunk_holds_all(world: &World) -> Result<()> {
    let chunks = &world.index(Build::Plain)?.live.chunks;
    for question in world.segments.iter().filter(|q| q.is_answerable()) {
        for chunk in chunks.values() {
            let context = [(chunk.doc.as_str(), chunk.text.as_str())];
            let all = Ranks::find(&question.evidence, &context).hit(1);
            ensure!(
                all != Some(1.0),
                "{}: lines {} of {} hold all its evidence",
                question.id,
                chunk.lines,
                chunk.doc
            );
        }
    }
    Ok(())
}

/// The quick part has the systems that need one index.
fn systems(part: Part) -> Vec<System> {
    let all = SYSTEMS.into_iter();
    all.filter(|system| part == Part::Full || system.build == Build::Plain)
        .collect()
}

fn parts(part: Part) -> &'static [(&'static str, Belongs)] {
    match part {
        Part::Full => &PARTS,
        Part::Quick => PARTS.get(..1).unwrap_or(&PARTS),
    }
}

fn gated(part: Part, reason: &str) -> Vec<Row> {
    let sets = parts(part).iter().map(|(dataset, _)| *dataset);
    let further = ["ext"]
        .into_iter()
        .filter(|_| part == Part::Full)
        .collect::<Vec<_>>();
    sets.chain(further)
        .flat_map(|dataset| {
            let mut names: Vec<&str> = systems(part).iter().map(|one| one.name).collect();
            if part == Part::Full {
                names.push(SHAPED);
            }
            names
                .into_iter()
                .map(move |name| Row::gated(dataset, name, reason))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_one_section() {
        let sections = columns::sections();
        for row in gated(Part::Full, "a reason") {
            let holding = sections.iter().filter(|one| one.holds(&row.dataset));
            assert_eq!(holding.count(), 1, "{}", row.dataset);
        }
        assert_eq!(gated(Part::Full, "").len(), 6 * (SYSTEMS.len() + 1));
        assert!(sections.iter().any(|one| one.holds(FITTED)));
    }
}
