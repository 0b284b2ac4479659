//! Always the hybrid search, always the walk, or the one that the question needs.

use anyhow::{Context, Result};
use cornu_core::EmbeddingProvider;
use cornu_eval::evidence::{Measure, Row};

use super::measure::{ask, took};
use super::methods::{AUTO, REFERENCE, Space, WALK};
use super::set::Set;
use crate::paired::{self, Samples};
use crate::table::{Bench, Part};

/// In the order of their rows.
pub(super) const SYSTEMS: [&str; 3] = [REFERENCE, WALK, AUTO];

/// A row for each route, over the questions of all sets.
pub(super) fn measure(
    dataset: &str,
    sets: &[Set],
    model: &dyn EmbeddingProvider,
    bench: &Bench<'_>,
) -> Result<Vec<Row>> {
    let mut all = SYSTEMS.map(|_| (Samples::new(), Vec::new()));
    for set in sets {
        let facts = set.by_rules();
        let space = Space::new(set, model)?;
        let mut methods = space.plain()?;
        methods.extend(space.walks(&facts.passages, facts.seconds)?);
        for (name, (samples, seconds)) in SYSTEMS.into_iter().zip(&mut all) {
            let method = methods.iter().find(|method| method.name == name);
            let (own, own_seconds) = ask(method.context(name)?, set)?;
            for (metric, values) in own {
                samples.entry(metric).or_default().extend(values);
            }
            seconds.extend(own_seconds);
        }
    }
    let (mut rows, mut samples) = (Vec::new(), Vec::new());
    for (name, (mut own, seconds)) in SYSTEMS.into_iter().zip(all) {
        if name != AUTO {
            let always = f64::from(u8::from(name == WALK));
            own.insert("hopped", vec![always; seconds.len()]);
        }
        let mut row = paired::row(dataset, name, &own, bench.seed)?;
        let asked = seconds.len() as u64;
        let count = Measure::exact(asked as f64, "count", asked);
        row.metrics.insert("questions".to_owned(), count);
        if bench.part == Part::Full {
            took(&mut row, &seconds);
        }
        rows.push(row);
        samples.push(own);
    }
    let place = |wanted: &str| SYSTEMS.iter().position(|name| *name == wanted);
    let mut beside = rows.clone();
    let walk = place(WALK).context(WALK)?;
    paired::compare(&mut beside, &samples, walk, "recall@5", bench.seed)?;
    let reference = place(REFERENCE).context(REFERENCE)?;
    paired::compare(&mut rows, &samples, reference, "recall@5", bench.seed)?;
    for (row, beside) in rows.iter_mut().zip(&mut beside) {
        if let Some(difference) = beside.metrics.remove("difference") {
            row.metrics.insert("to_walk".to_owned(), difference);
        }
    }
    Ok(rows)
}

pub(super) fn gated(dataset: &str, reason: &str) -> Vec<Row> {
    SYSTEMS
        .map(|system| Row::gated(dataset, system, reason))
        .into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use cornu_embed::HashEmbeddingProvider;

    use super::super::set::Asked;
    use super::*;
    use crate::table::tests::quick;

    #[test]
    fn routes_are_compared_on_the_questions_of_all_sets() {
        let asked = |text: &str, gold: &[usize]| Asked {
            text: text.to_owned(),
            gold: gold.iter().map(|&at| BTreeSet::from([at])).collect(),
            bridges: BTreeSet::new(),
        };
        let mut texts: Vec<String> = (0..9).map(|at| format!("Vega{at} met Lyra{at}.")).collect();
        texts.push("Alpha Capital is owned by Star Holdings.".to_owned());
        texts.push("Star Holdings is led by Ada Stone.".to_owned());
        let chain = Set {
            texts,
            asked: vec![asked("Who leads the owner of Alpha Capital?", &[9, 10])],
        };
        let plain = Set {
            texts: vec!["a ship came in".to_owned(), "nobody cared".to_owned()],
            asked: vec![asked("what came in?", &[0]), asked("who cared?", &[1])],
        };
        let rows = quick("multihop", |bench| {
            let model = HashEmbeddingProvider::default();
            measure("both", &[chain, plain], &model, bench).unwrap()
        });
        let get = |at: usize, metric: &str| rows[at].metrics[metric].value;
        let names: Vec<&str> = rows.iter().map(|row| row.system.as_str()).collect();
        assert_eq!(names, SYSTEMS);
        assert!((0..3).all(|at| get(at, "questions") == 3.0));
        assert_eq!([0, 1].map(|at| get(at, "hopped")), [0.0, 1.0]);
        assert!((get(2, "hopped") - 1.0 / 3.0).abs() < 1e-12);
        assert!(get(2, "recall@5") >= get(0, "recall@5").max(get(1, "recall@5")));
        let gain = get(2, "recall@5") - get(1, "recall@5");
        assert!((get(2, "to_walk") - gain).abs() < 1e-12);
        let gain = get(2, "recall@5") - get(0, "recall@5");
        assert!((get(2, "difference") - gain).abs() < 1e-12);
        assert!(!rows[1].metrics.contains_key("to_walk"));
    }
}
