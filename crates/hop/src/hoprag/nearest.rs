//! Which questions answer which: exact nearest neighbours, block by block.

use std::collections::BTreeMap;
use std::ops::Range;

use ndarray::{ArrayView2, Axis, s};
use rayon::prelude::*;

use super::graph::{HopRagPassage, QuestionEdge};
use super::keywords::Keywords;

/// Pending questions that are compared at once.
const ROWS: usize = 256;
/// Answerable questions that they are compared with at once: 4 MiB of scores.
const COLUMNS: usize = 4096;

/// The answerable questions, by the passages that answer them.
pub(super) struct Answers<'a> {
    vectors: ArrayView2<'a, f32>,
    /// Where each passage's begin, and the end of all.
    starts: Vec<usize>,
}

impl<'a> Answers<'a> {
    pub(super) fn new(passages: &[HopRagPassage], vectors: &ArrayView2<'a, f32>) -> Self {
        Self {
            vectors: *vectors,
            starts: starts(passages, |passage| passage.answerable),
        }
    }

    /// The rows of a passage; none where there is no such passage.
    pub(super) fn of(&self, passage: u32) -> Range<usize> {
        let at = passage as usize;
        let range = self.starts.get(at).zip(self.starts.get(at + 1));
        range.map_or(0..0, |(&from, &to)| from..to)
    }
}

fn starts(passages: &[HopRagPassage], count: fn(&HopRagPassage) -> usize) -> Vec<usize> {
    let ends = passages.iter().scan(0, |end, passage| {
        *end += count(passage);
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// An edge for each pending question to the best answer among the other passages, and to the
/// `elsewhere` best of other documents, in the order of the pending questions. Of equals the answer
/// with the smaller row comes first.
///
/// Pending questions with the same vector are compared once: many passages raise the same one.
pub(super) fn nearest(
    passages: &[HopRagPassage],
    keywords: &Keywords,
    answers: &Answers<'_>,
    pending: &ArrayView2<'_, f32>,
    elsewhere: usize,
) -> Vec<QuestionEdge> {
    let askers: Vec<u32> = (0..)
        .zip(passages)
        .flat_map(|(at, passage)| std::iter::repeat_n(at, passage.pending))
        .collect();
    let groups = same_rows(pending);
    let blocks: Vec<&[Vec<usize>]> = groups.chunks(ROWS).collect();
    let found = blocks.into_par_iter().flat_map_iter(|block| {
        let firsts: Vec<usize> = block
            .iter()
            .filter_map(|rows| rows.first())
            .copied()
            .collect();
        let own = pending.select(Axis(0), &firsts);
        let mut asking: Vec<(usize, Asking<'_>)> = (0..)
            .zip(block)
            .flat_map(|(at, rows)| rows.iter().map(move |&row| (at, row)))
            .filter_map(|(at, row)| {
                let passage = *askers.get(row)?;
                Some((at, Asking::new(row, passage, passages, keywords, elsewhere)))
            })
            .collect();
        let all = answers.vectors.nrows();
        for from in (0..all).step_by(COLUMNS) {
            let columns = from..(from + COLUMNS).min(all);
            let part = answers.vectors.slice(s![columns.clone(), ..]);
            let cosines = own.dot(&part.t());
            let cosines = cosines.as_standard_layout();
            for (at, asking) in &mut asking {
                let cosines = cosines.row(*at);
                let cosines = cosines.as_slice().unwrap_or_default();
                asking.look(answers, columns.clone(), cosines);
            }
        }
        asking.into_iter().map(|(_, asking)| asking)
    });
    let mut found: Vec<Asking<'_>> = found.collect();
    found.sort_unstable_by_key(|asking| asking.row);
    found.iter().flat_map(Asking::edges).collect()
}

/// The rows of each different vector, in the order of their first rows.
fn same_rows(vectors: &ArrayView2<'_, f32>) -> Vec<Vec<usize>> {
    let mut known: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (row, vector) in vectors.rows().into_iter().enumerate() {
        let bits = vector.iter().map(|value| value.to_bits()).collect();
        let next = groups.len();
        let at = *known.entry(bits).or_insert(next);
        match groups.get_mut(at) {
            Some(rows) => rows.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

/// A pending question, and the best answers seen so far.
struct Asking<'a> {
    row: usize,
    passage: u32,
    passages: &'a [HopRagPassage],
    /// The passages with which the one that asks shares keywords, ascending, with their
    /// Jaccard indices.
    alike: Vec<(u32, f64)>,
    anywhere: Best,
    elsewhere: Best,
}

impl<'a> Asking<'a> {
    fn new(
        row: usize,
        passage: u32,
        passages: &'a [HopRagPassage],
        keywords: &Keywords,
        elsewhere: usize,
    ) -> Self {
        Self {
            row,
            passage,
            passages,
            alike: keywords.alike(passage),
            anywhere: Best::of(1),
            elsewhere: Best::of(elsewhere),
        }
    }

    /// Looks at the answers in some columns, in whose order the cosines are.
    fn look(&mut self, answers: &Answers<'_>, columns: Range<usize>, cosines: &[f32]) {
        let document = |at: u32| self.passages.get(at as usize).map(|one| one.document);
        let own = document(self.passage);
        let first = answers
            .starts
            .partition_point(|&start| start <= columns.start);
        let mut passage = first.saturating_sub(1) as u32;
        let mut at = columns.start;
        let next = self.alike.partition_point(|(other, _)| *other < passage);
        let mut alike = self.alike.iter().skip(next).peekable();
        while at < columns.end {
            while alike.next_if(|(other, _)| *other < passage).is_some() {}
            let shared = alike.peek().filter(|(other, _)| *other == passage);
            let shared = shared.map_or(0.0, |(_, shared)| *shared);
            let end = answers.of(passage).end.min(columns.end);
            let cosines = cosines.get(at - columns.start..end.max(at) - columns.start);
            if passage != self.passage {
                let is_elsewhere = document(passage) != own;
                for (answer, &cosine) in (at..).zip(cosines.unwrap_or_default()) {
                    let similarity = (f64::from(cosine) + shared) / 2.0;
                    let answer = (similarity, passage, answer as u32);
                    self.anywhere.offer(answer);
                    if is_elsewhere {
                        self.elsewhere.offer(answer);
                    }
                }
            }
            at = end.max(at);
            passage += 1;
        }
    }

    fn edges(&self) -> impl Iterator<Item = QuestionEdge> {
        let best = self.anywhere.best.iter().chain(&self.elsewhere.best);
        best.map(|&(similarity, to, answerable)| QuestionEdge {
            from: self.passage,
            to,
            pending: Some(self.row as u32),
            answerable,
            similarity,
        })
    }
}

/// The most similar answers, with their passages and rows, of those that were offered in the order
/// of their rows.
struct Best {
    most: usize,
    best: Vec<(f64, u32, u32)>,
    /// What the next one has to exceed.
    least: f64,
}

impl Best {
    fn of(most: usize) -> Self {
        Self {
            most,
            best: Vec::with_capacity(most.min(16)),
            least: f64::NEG_INFINITY,
        }
    }

    fn offer(&mut self, answer: (f64, u32, u32)) {
        if answer.0 <= self.least || self.most == 0 {
            return;
        }
        let at = self.best.partition_point(|better| better.0 >= answer.0);
        self.best.truncate(self.most - 1);
        self.best.insert(at, answer);
        if let Some(last) = self.best.get(self.most - 1) {
            self.least = last.0;
        }
    }
}
