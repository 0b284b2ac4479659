//! The methods side by side.

use std::time::Instant;

use anyhow::{Context, Result};
use cornu_core::EmbeddingProvider;
use cornu_eval::evidence::{Measure, Row};

use super::methods::{Method, More, REFERENCE, Space};
use super::set::{Facts, Set};
use crate::paired::{self, Samples};
use crate::table::{Bench, Part};
use crate::timing;

/// A row for each method. Timings are those of the full part alone.
pub(super) fn measure(
    dataset: &str,
    set: &Set,
    facts: &Facts,
    model: &dyn EmbeddingProvider,
    more: &[More],
    bench: &Bench<'_>,
) -> Result<Vec<Row>> {
    let space = Space::new(set, model)?;
    let mut methods = space.plain()?;
    methods.extend(space.walks(&facts.passages, facts.seconds)?);
    methods.extend(space.published(&facts.passages, facts.seconds, more)?);
    let reference = methods.iter().position(|one| one.name == REFERENCE);
    let reference = reference.context("the reference is among the methods")?;

    let (mut rows, mut all) = (Vec::new(), Vec::new());
    for method in &methods {
        let (samples, seconds) = ask(method, set)?;
        let mut row = paired::row(dataset, method.name, &samples, bench.seed)?;
        let mut add = |name: &str, measure| row.metrics.insert(name.to_owned(), measure);
        let asked = set.asked.len() as u64;
        for (name, count) in [
            ("questions", set.asked.len()),
            ("passages", set.texts.len()),
            ("embedded", method.embedded),
        ] {
            add(name, Measure::exact(count as f64, "count", asked));
        }
        if bench.part == Part::Full {
            add("index_s", Measure::exact(method.index_seconds, "s", 1));
            took(&mut row, &seconds);
        }
        rows.push(row);
        all.push(samples);
    }
    paired::compare(&mut rows, &all, reference, "recall@5", bench.seed)?;
    Ok(rows)
}

/// What a question took, by the seconds of each.
pub(super) fn took(row: &mut Row, seconds: &[f64]) {
    let mut add = |name: &str, measure| row.metrics.insert(name.to_owned(), measure);
    let median = timing::median(seconds, "ms", |seconds| seconds * 1000.0);
    add("ms", Measure::exact(median.value, "ms", median.n));
    let mean = seconds.iter().sum::<f64>() / seconds.len() as f64 * 1000.0;
    add("mean_ms", Measure::exact(mean, "ms", median.n));
}

/// Recall by question, and the seconds that each took.
pub(super) fn ask(method: &Method<'_>, set: &Set) -> Result<(Samples, Vec<f64>)> {
    let (mut samples, mut seconds) = (Samples::new(), Vec::new());
    for (at, asked) in set.asked.iter().enumerate() {
        let start = Instant::now();
        let found = (method.answer)(at).with_context(|| method.name)?;
        seconds.push(start.elapsed().as_secs_f64());
        let one_or_none = |whether: bool| f64::from(u8::from(whether));
        let five = asked.recall(&found.best, 5);
        let two = asked.recall(&found.best, 2);
        paired::put(&mut samples, "recall@2", Some(two));
        paired::put(&mut samples, "recall@5", Some(five));
        paired::put(&mut samples, "all@5", Some(one_or_none(five >= 1.0)));
        paired::put(&mut samples, "hopped", found.hopped.map(one_or_none));
        if !asked.bridges.is_empty() {
            let mut first = found.best.iter().take(2);
            let bridge = first.any(|at| asked.bridges.contains(at));
            paired::put(&mut samples, "bridge@2", Some(one_or_none(bridge)));
        }
    }
    Ok((samples, seconds))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::methods::Reply;
    use super::super::set::Asked;
    use super::*;

    #[test]
    fn a_question_is_found_whole_when_all_its_passages_are_among_five() {
        let asked = |gold: [usize; 2]| Asked {
            text: "?".to_owned(),
            gold: gold.map(|at| BTreeSet::from([at])).into(),
            bridges: BTreeSet::from([gold[1]]),
        };
        let set = Set {
            texts: Vec::new(),
            asked: vec![asked([1, 5]), asked([1, 6]), asked([2, 3])],
        };
        let method = Method {
            name: "given",
            index_seconds: 0.0,
            embedded: 0,
            answer: Box::new(|at| {
                Ok(Reply {
                    best: vec![1, 2, 3, 4, 5, 6],
                    hopped: Some(at == 0),
                })
            }),
        };
        let (samples, seconds) = ask(&method, &set).unwrap();
        assert_eq!(samples["recall@2"], [0.5, 0.5, 0.5]);
        assert_eq!(samples["recall@5"], [1.0, 0.5, 1.0]);
        assert_eq!(samples["all@5"], [1.0, 0.0, 1.0]);
        assert_eq!(samples["bridge@2"], [0.0, 0.0, 0.0]);
        assert_eq!(samples["hopped"], [1.0, 0.0, 0.0]);
        assert_eq!(seconds.len(), 3);
    }
}
