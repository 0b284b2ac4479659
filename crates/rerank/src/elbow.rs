//! Where a list of scores breaks off.

/// Where a list is cut, and why there.
///
/// ```
/// use cornu_rerank::{Cut, CutReason, elbow};
///
/// let cut = elbow(&[0.9, 0.8, 0.78, 0.3, 0.29], 2, 4, 0.0);
/// assert_eq!(cut.at, 3);
/// assert!(matches!(cut.why, CutReason::Elbow { drop } if drop > 0.6));
/// assert_eq!(elbow(&[0.9], 2, 4, 0.0), Cut { at: 1, why: CutReason::All });
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// How many candidates stand above the cut.
    pub at: usize,
    /// Why there.
    pub why: CutReason,
}

/// Why a list is cut where it is.
///
/// See [`Cut`] for an example.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CutReason {
    /// There are no more than the floor.
    All,
    /// The largest relative drop between floor and ceiling is here.
    Elbow {
        /// The drop, from 0 to 2; see [`elbow`].
        drop: f64,
    },
    /// Nothing drops between floor and ceiling, so the scores do not say where to cut, and the
    /// ceiling does.
    Flat,
}

impl CutReason {
    /// In words, for traces.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "no more than the floor",
            Self::Elbow { .. } => "elbow",
            Self::Flat => "no drop, ceiling",
        }
    }
}

/// The cut at the largest relative drop of falling scores, between `floor` and `ceiling`
/// candidates.
///
/// The drop from a to b is (a − b) / max(|a|, |b|): for positive scores the part of a that is
/// lost, and defined for negative ones as well, where a score may fall by up to twice its size
/// (from positive to negative). It does not change when all scores are multiplied by one positive
/// number. A drop counts when it is larger than `least_drop`; the first of equal ones counts, and
/// without one the list is cut at the ceiling: scores that do not tell candidates apart are no
/// reason to look at fewer. Lists that are empty, of one entry, flat, tied or negative are nothing
/// special. A floor above the ceiling counts as the ceiling.
///
/// O(ceiling) time.
#[must_use]
pub fn elbow(scores: &[f64], floor: usize, ceiling: usize, least_drop: f64) -> Cut {
    let floor = floor.min(ceiling);
    if scores.len() <= floor {
        return Cut {
            at: scores.len(),
            why: CutReason::All,
        };
    }
    let mut cut = Cut {
        at: ceiling.min(scores.len()),
        why: CutReason::Flat,
    };
    let mut largest = least_drop;
    for (before, pair) in scores.windows(2).enumerate().take(ceiling) {
        let (at, &[a, b]) = (before + 1, pair) else {
            continue;
        };
        let drop = relative_drop(a, b);
        if at >= floor && drop > largest {
            largest = drop;
            cut = Cut {
                at,
                why: CutReason::Elbow { drop },
            };
        }
    }
    cut
}

fn relative_drop(a: f64, b: f64) -> f64 {
    let size = a.abs().max(b.abs());
    // Divided first: the difference of two large scores may be infinite.
    if size > 0.0 { a / size - b / size } else { 0.0 }
}
