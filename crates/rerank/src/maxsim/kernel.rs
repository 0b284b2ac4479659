//! The kernel of MaxSim.
//!
//! A matrix product of query tokens and document tokens, of which only the largest value of each
//! row is kept. So nothing is written but one number a query token, and nothing has to be laid out
//! anew for the document: a vector register holds one component of several *query* tokens, one
//! component of one document token is spread over another, and their product is added to the
//! accumulators of that document token. A block of document tokens has as many accumulators as the
//! registers hold, which is what keeps both multipliers of a core busy. The maximum goes register
//! by register; there is no sum across a register anywhere.
//!
//! Each inner product is one chain of fused additions in the order of the components. Its bits do
//! not depend on block sizes, on the width of the registers, or on what else is scored, and are the
//! same on every processor that rounds a product and its addition once (x86-64 with AVX2 and FMA,
//! AArch64).

use pulp::{Arch, Simd, WithSimd};

use super::query::QueryTokens;
use super::tokens::{TokenMatrix, Values};
use crate::error::TokensError;

/// Query tokens of a panel.
pub(super) const LANES: usize = 16;

/// A document's MaxSim.
///
/// ```
/// let score = cornu_rerank::MaxSimScore { sum: 1.7, tokens: 2 };
/// assert_eq!(score.mean(), 0.85);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaxSimScore {
    /// The sum over the query's tokens that count, in f64, in their order.
    pub sum: f64,
    /// How many there are; at least 1.
    pub tokens: usize,
}

impl MaxSimScore {
    /// The sum divided by the number of tokens: at most 1 for unit vectors.
    #[must_use]
    pub fn mean(self) -> f64 {
        self.sum / self.tokens as f64
    }
}

/// MaxSim of a query with each document, in order; `None` for a document without tokens, and for
/// all of them when no token of the query counts.
///
/// On the calling thread. 2 · T_q · T_d · d operations for T_q and T_d tokens of d dimensions;
/// memory for one block of tokens. 16-bit and 8-bit documents are widened to f32 a block at a time,
/// so their inner products are those of their f32 values.
///
/// # Errors
/// [`TokensError::Dimension`] when a document's vectors have another length than the query's.
///
/// ```
/// use cornu_rerank::{Precision, QueryTokens, TokenMatrix, max_sims};
///
/// let query = QueryTokens::new(ndarray::arr2(&[[1.0, 0.0]]).view())?;
/// let tokens = |rows: &[[f32; 2]]| TokenMatrix::new(ndarray::arr2(rows).view(), Precision::F32);
/// let scores = max_sims(&query, &[&tokens(&[[-0.5, 0.5], [-0.25, 1.0]])?, &tokens(&[])?])?;
/// assert_eq!(scores[0].map(|score| score.sum), Some(-0.25));
/// assert_eq!(scores[1], None);
/// # Ok::<(), cornu_rerank::TokensError>(())
/// ```
pub fn max_sims(
    query: &QueryTokens,
    documents: &[&TokenMatrix],
) -> Result<Vec<Option<MaxSimScore>>, TokensError> {
    if query.is_empty() {
        return Ok(vec![None; documents.len()]);
    }
    for document in documents.iter().filter(|document| !document.is_empty()) {
        if document.dimension() != query.dimension() {
            return Err(TokensError::Dimension {
                query: query.dimension(),
                document: document.dimension(),
            });
        }
    }
    Ok(Arch::new().dispatch(Work { query, documents }))
}

struct Work<'a> {
    query: &'a QueryTokens,
    documents: &'a [&'a TokenMatrix],
}

impl WithSimd for Work<'_> {
    type Output = Vec<Option<MaxSimScore>>;

    // Panels at a time, registers a panel, document tokens at a time: P · R · T accumulators, R
    // registers of the query and one of the document have to fit into 32, 16 or 32 registers.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        match S::F32_LANES {
            16 => self.run::<S, 1, 12>(simd),
            8 => self.run::<S, 2, 6>(simd),
            4 => self.run::<S, 4, 4>(simd),
            _ => self.run::<S, LANES, 1>(simd),
        }
    }
}

impl Work<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const T: usize>(self, simd: S) -> Vec<Option<MaxSimScore>> {
        let query = self.query;
        let width = query.dimension();
        let panels: Vec<Panel<'_, S, R>> = query.panels().map(Panel::new).collect();
        let lowest = simd.splat_f32s(f32::NEG_INFINITY);
        let mut best = vec![[lowest; R]; panels.len()];
        let mut block = vec![0.0; T * width];
        let mut scores = Vec::with_capacity(self.documents.len());
        for document in self.documents {
            if document.is_empty() {
                scores.push(None);
                continue;
            }
            best.fill([lowest; R]);
            each_block::<T>(document, &mut block, |rows| {
                // Two panels share what is read of the document, where the registers allow it.
                if R == 1 {
                    let (pairs, rest) = panels.as_chunks();
                    let (best_pairs, best_rest) = best.as_chunks_mut();
                    for (panels, best) in pairs.iter().zip(best_pairs) {
                        product::<S, 2, R, T>(simd, panels, rows, best);
                    }
                    for (panel, best) in rest.iter().zip(best_rest) {
                        let (panel, best) =
                            (std::array::from_ref(panel), std::array::from_mut(best));
                        product::<S, 1, R, T>(simd, panel, rows, best);
                    }
                } else {
                    for (panel, best) in panels.iter().zip(&mut best) {
                        let (panel, best) =
                            (std::array::from_ref(panel), std::array::from_mut(best));
                        product::<S, 1, R, T>(simd, panel, rows, best);
                    }
                }
            });
            // Lanes behind the last token are of the filling, and are not taken.
            let lanes: &[f32] = pulp::bytemuck::cast_slice(best.as_flattened());
            let sum = lanes.iter().take(query.len()).copied().map(f64::from).sum();
            scores.push(Some(MaxSimScore {
                sum,
                tokens: query.len(),
            }));
        }
        scores
    }
}

/// One panel of the query: R registers a component.
#[derive(Clone, Copy)]
struct Panel<'q, S: Simd, const R: usize>(&'q [[S::f32s; R]]);

impl<'q, S: Simd, const R: usize> Panel<'q, S, R> {
    #[inline(always)]
    fn new(values: &'q [f32]) -> Self {
        let (registers, _) = S::as_simd_f32s(values);
        Self(registers.as_chunks().0)
    }
}

/// Calls with the rows of T tokens at a time. The last block is filled up with its last token: a
/// token that comes twice does not move a maximum.
#[inline(always)]
fn each_block<const T: usize>(
    document: &TokenMatrix,
    block: &mut [f32],
    mut work: impl FnMut([&[f32]; T]),
) {
    let (width, tokens) = (document.dimension(), document.len());
    for first in (0..tokens).step_by(T) {
        let rows: &[f32] = match &document.values {
            Values::F32(values) => values.get(first * width..).unwrap_or_default(),
            _ => {
                document.read(first, block);
                block
            }
        };
        let last = (tokens - first).min(T) - 1;
        work(std::array::from_fn(|at| {
            let from = at.min(last) * width;
            rows.get(from..from + width).unwrap_or_default()
        }));
    }
}

/// The inner products of P panels with T tokens, each kept where it is the largest so far.
#[inline(always)]
fn product<S: Simd, const P: usize, const R: usize, const T: usize>(
    simd: S,
    panels: &[Panel<'_, S, R>; P],
    rows: [&[f32]; T],
    best: &mut [[S::f32s; R]; P],
) {
    let width = panels.iter().map(|panel| panel.0.len()).min().unwrap_or(0);
    // Cut to one length that the compiler sees, so that it need not check each place.
    let panels: [&[[S::f32s; R]]; P] = std::array::from_fn(|p| &panels[p].0[..width]);
    let rows: [&[f32]; T] = std::array::from_fn(|t| &rows[t][..width]);
    let mut sums = [[[simd.splat_f32s(0.0); R]; P]; T];
    for k in 0..width {
        let query: [[S::f32s; R]; P] = std::array::from_fn(|p| panels[p][k]);
        for (sums, row) in sums.iter_mut().zip(&rows) {
            let x = simd.splat_f32s(row[k]);
            for (sums, query) in sums.iter_mut().zip(&query) {
                for (sum, q) in sums.iter_mut().zip(query) {
                    *sum = simd.mul_add_e_f32s(*q, x, *sum);
                }
            }
        }
    }
    for sums in &sums {
        for (best, sums) in best.iter_mut().zip(sums) {
            for (best, sum) in best.iter_mut().zip(sums) {
                *best = simd.max_f32s(*best, *sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::maxsim::Precision;

    /// Rows of all sizes around a block, numbers without a pattern.
    fn rows(count: usize, seed: usize) -> Array2<f32> {
        Array2::from_shape_fn((count, 37), |(i, j)| {
            ((i * 7919 + j * 104_729 + seed * 1_299_709) % 2003) as f32 / 2003.0 - 0.5
        })
    }

    /// What this processor chooses is one width of registers; the others have to give the same bits
    /// where they fuse a product and its addition, and nearly the same where they do not.
    #[test]
    fn registers_of_every_width_give_the_same_bits() {
        for tokens in [1, 15, 16, 17, 33, 50] {
            let query = QueryTokens::new(rows(tokens, 1).view()).unwrap();
            for precision in [Precision::F32, Precision::F16, Precision::Int8] {
                let documents: Vec<TokenMatrix> = (0..30)
                    .map(|count| {
                        TokenMatrix::new(rows(count, 2 + count).view(), precision).unwrap()
                    })
                    .collect();
                let documents: Vec<&TokenMatrix> = documents.iter().collect();
                let work = || Work {
                    query: &query,
                    documents: &documents,
                };
                let chosen = Arch::new().dispatch(work());
                let plain = Arch::Scalar.dispatch(work());
                for (chosen, plain) in chosen.iter().zip(&plain) {
                    let (Some(chosen), Some(plain)) = (chosen, plain) else {
                        assert_eq!(chosen, plain);
                        continue;
                    };
                    assert!((chosen.sum - plain.sum).abs() < 1e-5 * tokens as f64);
                }
                #[cfg(target_arch = "x86_64")]
                if let Some(v3) = pulp::x86::V3::try_new() {
                    assert_eq!(Simd::vectorize(v3, work()), chosen, "8 lanes");
                }
            }
        }
    }
}
