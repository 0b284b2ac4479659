//! BM25 as one would write it down, over all rows, with leaks to plant.

use std::collections::BTreeMap;

/// A way in which hidden rows could touch what an asker gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leak {
    /// Document frequencies of the whole index.
    Frequencies,
    /// The number of documents of the whole index.
    Count,
    /// The average length of the whole index.
    AverageLength,
    /// The best k of the whole index, of which those that are seen are kept.
    PostFilter,
    /// Ties by the index's own row numbers.
    RowOrder,
    /// The best score of the whole index scales all scores to at most 1.
    Scale,
}

/// A row as the reference sees it; its place in the list is its row number.
#[derive(Clone, Debug)]
pub(crate) struct NaiveRow<I> {
    pub(crate) id: I,
    pub(crate) seen: bool,
    pub(crate) length: u32,
    pub(crate) terms: BTreeMap<String, u32>,
}

/// Lucene's formula with k1 = 1.2, b = 0.75: the best k with the bits of their scores.
pub(crate) fn naive<I: Ord + Clone>(
    rows: &[NaiveRow<I>],
    query: &[(String, f64)],
    k: usize,
    leak: Option<Leak>,
) -> Vec<(I, u64)> {
    let counted = |all: bool| {
        rows.iter()
            .filter(move |row| row.length > 0 && (all || row.seen))
    };
    let n = counted(leak == Some(Leak::Count)).count() as f64;
    let lengths = || counted(leak == Some(Leak::AverageLength)).map(|row| f64::from(row.length));
    let average = lengths().sum::<f64>() / lengths().count() as f64;
    let idf = |term: &str| {
        let all = leak == Some(Leak::Frequencies);
        let df = counted(all)
            .filter(|row| row.terms.contains_key(term))
            .count() as f64;
        libm_log(1.0 + (n.max(df) - df + 0.5) / (df + 0.5))
    };
    let weights: Vec<f64> = query
        .iter()
        .map(|(term, weight)| weight * idf(term))
        .collect();
    let score = |row: &NaiveRow<I>| {
        let held = query
            .iter()
            .zip(&weights)
            .filter_map(|((term, _), weight)| {
                let tf = f64::from(*row.terms.get(term)?);
                let norm = 1.2 * (1.0 - 0.75) + 1.2 * 0.75 / average * f64::from(row.length);
                Some(weight * (tf / (norm + tf)))
            });
        held.fold(None, |sum, share| Some(sum.unwrap_or(0.0) + share))
    };
    let mut hits: Vec<(usize, f64)> = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.seen || matches!(leak, Some(Leak::PostFilter | Leak::Scale)))
        .filter_map(|(at, row)| Some((at, score(row)?)))
        .collect();
    hits.sort_by(|(a, first), (b, second)| {
        let ids = match leak {
            Some(Leak::RowOrder) => a.cmp(b),
            _ => rows[*a].id.cmp(&rows[*b].id),
        };
        second.total_cmp(first).then(ids)
    });
    if leak == Some(Leak::Scale) {
        let best = hits.first().map_or(1.0, |hit| hit.1);
        hits.iter_mut().for_each(|hit| hit.1 /= best);
        hits.retain(|(at, _)| rows[*at].seen);
    }
    hits.truncate(k);
    let kept = hits.into_iter().filter(|(at, _)| rows[*at].seen);
    kept.map(|(at, score)| (rows[at].id.clone(), score.to_bits()))
        .collect()
}

/// The logarithm that the crate takes; the standard library's may differ in the last bit.
fn libm_log(x: f64) -> f64 {
    libm::log(x)
}
