//! Searching what a view sees.

mod explain;
mod scan;
mod top;

pub use explain::{Explanation, TermShare};

use std::fmt;

use cornu_core::Ranking;

use self::scan::{Cursor, scan};
use self::top::Top;
use crate::error::SparseError;
use crate::file::Damaged;
use crate::formula::Bm25;
use crate::query::Query;
use crate::segment::{Postings, Rows, Segment};
use crate::stats::{SegmentView, ViewStats};

/// An index as one view sees it.
///
/// Every number in every answer comes from the rows that are seen: the same, bit for bit, as from
/// an index that holds them alone.
///
/// See [`Bm25Index`](crate::Bm25Index) for an example.
#[derive(Clone)]
pub struct Searcher<'a, I> {
    parts: [Searched<'a, I>; 2],
    stats: ViewStats,
}

/// A segment, and its rows.
type Searched<'a, I> = (&'a Segment<I>, Rows<'a, I>);

/// A term of a query, as the view sees it.
struct Term<'a> {
    weight: f64,
    frequency: u64,
    idf: f64,
    postings: [Postings<'a>; 2],
}

impl<'a, I: Ord + Clone> Searcher<'a, I> {
    pub(crate) fn new(parts: [Searched<'a, I>; 2], stats: ViewStats) -> Self {
        Self { parts, stats }
    }

    /// The best `k` rows that hold at least one term of the query, exactly: fewer where fewer do.
    /// Scores are at least 0, and above 0 with the variants whose idf is
    /// ([`Variant`](crate::Variant)).
    ///
    /// Rows that cannot reach the best `k` are skipped by bounds; the result, ties at the cut
    /// included, is that of scoring every row. At most O(postings of the terms + matches · log k);
    /// memory O(k). Of an index that stands in a file, the parts that hold the query's terms are
    /// read.
    ///
    /// # Errors
    /// [`SparseError::Damaged`], of an index that stands in a file.
    pub fn search(&self, query: &Query, bm25: &Bm25, k: usize) -> Result<Ranking<I>, SparseError> {
        self.run(query, bm25, k, true)
    }

    /// As [`search`](Self::search), without skipping anything: what it is measured against.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn search_exhaustively(
        &self,
        query: &Query,
        bm25: &Bm25,
        k: usize,
    ) -> Result<Ranking<I>, SparseError> {
        self.run(query, bm25, k, false)
    }

    /// Number of rows that are seen and not empty: N of the formulas.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.stats.rows()
    }

    /// Mean number of words of these rows; 0 when there is none.
    #[must_use]
    pub fn average_length(&self) -> f64 {
        match self.stats.rows() {
            0 => 0.0,
            rows => self.stats.words() as f64 / rows as f64,
        }
    }

    fn run(
        &self,
        query: &Query,
        bm25: &Bm25,
        k: usize,
        prune: bool,
    ) -> Result<Ranking<I>, SparseError> {
        let mut top = Top::new(k);
        if k > 0 && self.stats.rows() > 0 {
            let saturation = bm25.saturation(self.average_length());
            let mut terms = self.terms(query, bm25)?;
            terms.retain(|term| term.frequency > 0);
            for (at, ((_, rows), view)) in self.segments().enumerate() {
                let cursors = terms.iter().filter_map(|term| {
                    let postings = term.postings.get(at)?;
                    let empty = postings.rows.is_empty();
                    (!empty).then(|| Cursor::new(*postings, term.weight * term.idf, saturation))
                });
                scan(*rows, view, cursors.collect(), &mut top, prune);
            }
        }
        Ok(top.into_ranking())
    }

    /// The query's terms in its order, those that no row holds among them.
    fn terms(&self, query: &Query, bm25: &Bm25) -> Result<Vec<Term<'a>>, Damaged> {
        let resolve = |(name, weight): (&str, f64)| {
            let mut frequency = 0;
            let mut postings = [Postings::default(); 2];
            for (slot, ((segment, _), view)) in postings.iter_mut().zip(self.segments()) {
                if let Some(term) = segment.term(name)? {
                    *slot = segment.postings(term)?;
                    frequency += view.frequency(term, slot.rows);
                }
            }
            Ok(Term {
                weight,
                frequency,
                idf: bm25.idf(frequency, self.stats.rows()),
                postings,
            })
        };
        query.iter().map(resolve).collect()
    }

    fn segments(&self) -> impl Iterator<Item = (&Searched<'a, I>, &SegmentView)> {
        let views: [&SegmentView; 2] = [&self.stats.base, &self.stats.delta];
        self.parts.iter().zip(views)
    }
}

/// Says what the view sees and nothing else, since what is printed may be kept.
impl<I> fmt::Debug for Searcher<'_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Searcher")
            .field("rows", &self.stats.rows())
            .field("words", &self.stats.words())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cornu_core::{Acl, ContentHash, DocId, Fingerprint, Principal, View, ViewEntry};

    use crate::segment::Segment;
    use crate::stats::ViewStats;
    use crate::{Bm25, Bm25Index, DocumentRows, Query, Row, SparseError, TermCounts};

    /// Hashes tell that a file is as it was written, not by whom: rows that are none and rows out of
    /// order end a search as any others do, and what is found is there.
    #[test]
    fn postings_that_nobody_would_write_end_a_search() {
        let rows = (0..4_u32).map(|id| {
            let counts = TermCounts::from_pairs(2, [("a", 1), ("b", 1)]).unwrap();
            (0, Row { id, counts })
        });
        let made_up = [
            [u32::MAX; 4],
            [3, 2, 1, 0],
            [2, u32::MAX, 0, 1],
            [0, 5000, 1, 5001],
            [5000, 0, 4999, u32::MAX - 1],
        ];
        let (doc, acl, content) = (
            DocId::new("a").unwrap(),
            Acl::public(),
            ContentHash::of(b""),
        );
        let entry = ViewEntry {
            ordinal: 0,
            id: &doc,
            content: &content,
            acl: &acl,
        };
        let view = View::resolve(&Principal::public(), 1, [entry]);
        let terms = ["a", "b"].map(|term| (term.to_owned(), 1.0));
        let query = Query::weighted(terms).unwrap();
        for a in made_up {
            let mut segment = Segment::build(rows.clone().collect()).unwrap();
            segment.indices = [a, [0, 1, 2, 3]].concat().into();
            let index = Bm25Index::of(Fingerprint::new("t"), segment, 1);
            let searcher = index.searcher(&view).unwrap();
            let found = [
                searcher.search(&query, &Bm25::default(), 9).unwrap(),
                searcher.search(&query, &Bm25::default(), 1).unwrap(),
                searcher
                    .search_exhaustively(&query, &Bm25::default(), 9)
                    .unwrap(),
            ];
            for id in found.iter().flat_map(cornu_core::Ranking::ids) {
                assert!(*id < 4 && searcher.explain(&query, &Bm25::default(), id).is_ok());
            }
        }
    }

    /// A view of these documents, whose digest tells nothing but how many they are.
    fn view(epoch: u64, seen: &[u32]) -> View {
        let (acl, content) = (Acl::public(), ContentHash::of(b""));
        let ids: Vec<DocId> = (0..seen.len())
            .map(|at| DocId::new(&format!("d{at}")).unwrap())
            .collect();
        let entries = ids.iter().zip(seen).map(|(id, &ordinal)| ViewEntry {
            ordinal,
            id,
            content: &content,
            acl: &acl,
        });
        View::resolve(&Principal::public(), epoch, entries)
    }

    fn written(document: u32) -> DocumentRows<u32> {
        let counts = TermCounts::from_pairs(1, [("a", 1)]).unwrap();
        DocumentRows {
            document,
            rows: vec![Row {
                id: document,
                counts,
            }],
        }
    }

    fn removed(document: u32) -> DocumentRows<u32> {
        DocumentRows {
            document,
            rows: vec![],
        }
    }

    fn stats(index: &Bm25Index<u32>, view: &View) -> ViewStats {
        index.searcher(view).unwrap().stats
    }

    /// What is made anew, change by change: nothing, the delta's part, or both.
    #[test]
    fn statistics_last_as_long_as_what_they_were_made_from() -> Result<(), SparseError> {
        let build = || Bm25Index::build(Fingerprint::new("t"), (0..20).map(written), 1);
        let mut index = build()?;
        let was = view(1, &[0, 1, 2]);
        let same = |(a, b): (&ViewStats, &ViewStats)| {
            (
                Arc::ptr_eq(&a.base, &b.base),
                Arc::ptr_eq(&a.delta, &b.delta),
            )
        };
        let first = stats(&index, &was);
        assert_eq!(first.base.frequency(0, &[0, 1, 2, 3]), 3);
        let bytes = index.heap_bytes();

        index.apply([], 2)?;
        let seen = stats(&index, &was.carried_to(2));
        assert_eq!(same((&first, &seen)), (true, true), "nothing has changed");
        assert_eq!(index.heap_bytes(), bytes);

        index.apply([removed(9), written(30)], 3)?;
        let seen = stats(&index, &was.carried_to(3));
        assert_eq!(same((&first, &seen)), (true, false), "others' have changed");
        assert_eq!((seen.rows(), seen.delta.visible.count()), (3, 0));
        let again = stats(&index, &was.carried_to(3));
        assert_eq!(same((&seen, &again)), (true, true));

        // The same digest: read anew, of the same documents, and of others.
        let anew = stats(&index, &view(3, &[0, 1, 2]));
        assert_eq!(same((&seen, &anew)), (true, true), "one state, one set");
        let now = view(4, &[0, 1, 30]);
        assert_eq!(now.digest(), was.digest());
        index.apply([], 4)?;
        let others = stats(&index, &now);
        assert_eq!(same((&seen, &others)), (false, false), "other ordinals");
        assert_eq!((others.base.count, others.delta.count), (2, 1));

        // Dropped and written again, as an owner may do whose askers come and go.
        index.apply([removed(1)], 4)?;
        index.apply([written(1)], 4)?;
        let again = stats(&index, &now);
        assert_eq!(same((&others, &again)), (false, false), "in other rows");
        assert_eq!((again.base.count, again.delta.count), (1, 2));

        index.compact()?;
        let merged = stats(&index, &now);
        assert_eq!(same((&again, &merged)), (false, false), "a merge");

        // Back to an earlier state, for somebody who still reads it.
        index.apply([], 3)?;
        index.searcher(&was.carried_to(3)).map(drop)?;
        index.apply([], 4)?;
        let back = stats(&index, &now);
        assert_eq!(
            same((&merged, &back)),
            (false, false),
            "replaced by another"
        );
        index.apply([], 3)?;
        index.apply([], 4)?;
        assert_eq!(same((&back, &stats(&index, &now))), (true, true));
        Ok(())
    }
}
