//! The best k so far.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use cornu_core::Ranking;

/// The best k by score descending, then id ascending.
pub(super) struct Top<'a, I> {
    k: usize,
    /// The worst on top.
    heap: BinaryHeap<Hit<'a, I>>,
}

struct Hit<'a, I> {
    score: f64,
    id: &'a I,
}

impl<'a, I: Ord + Clone> Top<'a, I> {
    pub(super) fn new(k: usize) -> Self {
        Self {
            k,
            heap: BinaryHeap::new(),
        }
    }

    /// A score below this one cannot enter; one that equals it may.
    #[inline]
    pub(super) fn threshold(&self) -> f64 {
        match self.heap.peek() {
            Some(worst) if self.heap.len() >= self.k => worst.score,
            _ => f64::NEG_INFINITY,
        }
    }

    pub(super) fn push(&mut self, score: f64, id: &'a I) {
        let hit = Hit { score, id };
        if self.heap.len() < self.k {
            self.heap.push(hit);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && hit < *worst
        {
            *worst = hit;
        }
    }

    pub(super) fn into_ranking(self) -> Ranking<I> {
        let hits = self.heap.into_iter().map(|hit| (hit.id.clone(), hit.score));
        let ranking = Ranking::new(hits);
        debug_assert!(ranking.is_ok(), "ids are distinct and scores finite");
        ranking.unwrap_or_else(|_| Ranking::empty())
    }
}

/// Greater is worse.
impl<I: Ord> Ord for Hit<'_, I> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = other.score.total_cmp(&self.score);
        by_score.then_with(|| self.id.cmp(other.id))
    }
}

impl<I: Ord> PartialOrd for Hit<'_, I> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<I: Ord> PartialEq for Hit<'_, I> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<I: Ord> Eq for Hit<'_, I> {}
