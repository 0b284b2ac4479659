//! Several rankings in, one ranking out, with each list's share of every score.
//!
//! | module | what it holds |
//! |---|---|
//! | [`rrf`] | [`rrf_fuse`]: reciprocal rank fusion, which looks at ranks alone |
//! | [`convex`] | [`convex_fuse`]: a weighted mean of scores brought to one scale; [`Normalisation`] |
//! | [`weighted`] | [`Weighted`]: a list with its weight; [`dense_sparse`]: two lists and one α |
//! | [`fused`] | [`Fused`]: the ranking, and each list's [`Share`] of every entry |
//! | [`fit`] | [`fit_alpha`]: α from a dev set, with its interval and its origin |
//! | [`collapse`] | [`best_per`]: chunks to documents, before fusion |
//!
//! What fusion computes from the lists (ranks, minima, maxima, deviations) is computed from all
//! that the lists hold. **An entry that the asker may not see changes the scores of those that
//! they may**, so the lists have to come from a search within the asker's
//! [`View`](cornu_core::View). There is nothing to filter afterwards.
//!
//! # Example
//!
//! ```
//! use cornu_core::Ranking;
//! use cornu_fuse::{RrfOptions, Weighted, rrf_fuse};
//!
//! let dense = Ranking::new([("intro", 0.84), ("loss", 0.80)])?;
//! let sparse = Ranking::new([("loss", 8.4), ("optimizer", 1.2)])?;
//!
//! let lists = [Weighted::new(&dense, 1.0), Weighted::new(&sparse, 1.0)];
//! let fused = rrf_fuse(&lists, RrfOptions::default())?;
//!
//! assert_eq!(fused.ranking().ids().copied().collect::<Vec<_>>(), ["loss", "intro", "optimizer"]);
//! let shares = fused.shares(&"loss").ok_or("fused")?;
//! assert_eq!(shares[0].map(|share| (share.rank, share.value)), Some((2, 1.0 / 62.0)));
//! assert_eq!(shares[1].map(|share| (share.rank, share.value)), Some((1, 1.0 / 61.0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod collapse;
pub mod convex;
mod error;
pub mod fit;
pub mod fused;
mod random;
pub mod rrf;
pub mod weighted;

pub use collapse::best_per;
pub use convex::{Normalisation, convex_fuse};
pub use error::FuseError;
pub use fit::{DevQuery, FitOptions, FittedAlpha, Origin, fit_alpha};
pub use fused::{Fused, Share};
pub use rrf::{MAX_RANK_CONSTANT, RrfOptions, rrf_fuse};
pub use weighted::{MAX_WEIGHT, Weighted, dense_sparse};

/// The crate's README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
