//! A document's token vectors.

use half::f16;
use half::slice::HalfFloatSliceExt;
use ndarray::ArrayView2;

use crate::error::TokensError;

/// The largest component that is taken: what fits into 16 bits. Components of unit vectors are at
/// most 1; the bound keeps every inner product finite.
const LARGEST: f32 = 65504.0;

/// How a token vector is kept.
///
/// ```
/// use cornu_rerank::Precision;
/// assert_eq!(Precision::Int8.bytes(180, 128), 180 * (128 + 4));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Precision {
    /// 32-bit floats: as the model gave them.
    F32,
    /// 16-bit floats: 11 significant bits.
    #[default]
    F16,
    /// One signed byte a component and one f32 scale a token: component = code · scale, where the
    /// largest component of the token has code ±127.
    Int8,
}

impl Precision {
    /// The name in fingerprints: `f32`, `f16`, `int8`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Int8 => "int8",
        }
    }

    /// Bytes of so many tokens of a dimension, the header of 8 apart.
    #[must_use]
    pub fn bytes(self, tokens: usize, dimension: usize) -> usize {
        tokens
            * match self {
                Self::F32 => 4 * dimension,
                Self::F16 => 2 * dimension,
                Self::Int8 => dimension + 4,
            }
    }
}

/// The token vectors of one document, padding not among them.
///
/// Memory: [`Precision::bytes`].
///
/// ```
/// use cornu_rerank::{Precision, TokenMatrix};
///
/// // Two tokens, and a row of padding that a batch left behind.
/// let batch = ndarray::arr2(&[[0.6, 0.8], [1.0, 0.0], [0.0, 0.0]]);
/// let tokens = TokenMatrix::masked(batch.view(), &[true, true, false], Precision::F16)?;
/// assert_eq!((tokens.len(), tokens.dimension()), (2, 2));
/// assert_eq!(TokenMatrix::from_bytes(&tokens.to_bytes())?, tokens);
/// # Ok::<(), cornu_rerank::TokensError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TokenMatrix {
    pub(super) dimension: usize,
    pub(super) values: Values,
}

/// Row after row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values {
    F32(Vec<f32>),
    F16(Vec<f16>),
    Int8 { codes: Vec<i8>, scales: Vec<f32> },
}

impl Default for TokenMatrix {
    fn default() -> Self {
        Self {
            dimension: 0,
            values: Values::F32(Vec::new()),
        }
    }
}

impl TokenMatrix {
    /// The rows of a matrix of shape (T, d), all of which are tokens.
    ///
    /// # Errors
    /// [`TokensError::NotFinite`], also for a component above 65504; [`TokensError::TooLarge`] for
    /// more than 65535 dimensions or 2³² − 1 tokens.
    #[expect(clippy::needless_pass_by_value, reason = "a view is a reference")]
    pub fn new(rows: ArrayView2<'_, f32>, precision: Precision) -> Result<Self, TokensError> {
        let all = vec![true; rows.nrows()];
        Self::masked(rows, &all, precision)
    }

    /// The rows of a matrix of shape (T, d) whose place in `keep` is true: padding, and whatever
    /// else must not be counted, is left out here and is not there afterwards.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`TokensError::Mask`].
    #[expect(clippy::needless_pass_by_value, reason = "a view is a reference")]
    pub fn masked(
        rows: ArrayView2<'_, f32>,
        keep: &[bool],
        precision: Precision,
    ) -> Result<Self, TokensError> {
        let (tokens, dimension) = rows.dim();
        if u16::try_from(dimension).is_err() || u32::try_from(tokens).is_err() {
            return Err(TokensError::TooLarge { tokens, dimension });
        }
        if keep.len() != tokens {
            return Err(TokensError::Mask {
                mask: keep.len(),
                tokens,
            });
        }
        let mut kept = Vec::with_capacity(keep.iter().filter(|kept| **kept).count() * dimension);
        for (token, (row, _)) in rows
            .rows()
            .into_iter()
            .zip(keep)
            .enumerate()
            .filter(|(_, (_, kept))| **kept)
        {
            if !row.iter().all(|x| x.abs() <= LARGEST) {
                return Err(TokensError::NotFinite {
                    token,
                    precision: precision.name(),
                });
            }
            kept.extend(row.iter());
        }
        Ok(Self::of(kept, dimension, precision))
    }

    /// The same tokens in another precision. From a coarser one nothing is gained.
    #[must_use]
    pub fn to_precision(&self, precision: Precision) -> Self {
        let mut values = vec![0.0; self.len() * self.dimension];
        self.read(0, &mut values);
        Self::of(values, self.dimension, precision)
    }

    /// How many tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        let values = match &self.values {
            Values::F32(values) => values.len(),
            Values::F16(values) => values.len(),
            Values::Int8 { codes, .. } => codes.len(),
        };
        values.checked_div(self.dimension).unwrap_or(0)
    }

    /// Whether there is no token.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The length of each vector.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How the vectors are kept.
    #[must_use]
    pub fn precision(&self) -> Precision {
        match &self.values {
            Values::F32(_) => Precision::F32,
            Values::F16(_) => Precision::F16,
            Values::Int8 { .. } => Precision::Int8,
        }
    }

    fn of(values: Vec<f32>, dimension: usize, precision: Precision) -> Self {
        let values = match precision {
            Precision::F32 => Values::F32(values),
            Precision::F16 => Values::F16(values.into_iter().map(f16::from_f32).collect()),
            Precision::Int8 => {
                let mut codes = Vec::with_capacity(values.len());
                let mut scales = Vec::with_capacity(values.len() / dimension.max(1));
                for row in values.chunks_exact(dimension.max(1)) {
                    let largest = row.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
                    let scale = largest / 127.0;
                    let one = if scale > 0.0 {
                        1.0 / f64::from(scale)
                    } else {
                        0.0
                    };
                    // At most 127 in size: `as` rounds nothing away.
                    codes.extend(row.iter().map(|&x| (f64::from(x) * one).round() as i8));
                    scales.push(scale);
                }
                Values::Int8 { codes, scales }
            }
        };
        Self { dimension, values }
    }

    /// Writes rows from `first` on as f32 into `out`, as many as fit.
    #[inline(always)]
    pub(super) fn read(&self, first: usize, out: &mut [f32]) {
        let from = first * self.dimension;
        match &self.values {
            Values::F32(values) => {
                let values = values.get(from..).unwrap_or_default();
                out.iter_mut().zip(values).for_each(|(out, x)| *out = *x);
            }
            Values::F16(values) => {
                let values = values.get(from..).unwrap_or_default();
                let count = values.len().min(out.len());
                if let (Some(values), Some(out)) = (values.get(..count), out.get_mut(..count)) {
                    values.convert_to_f32_slice(out);
                }
            }
            Values::Int8 { codes, scales } => {
                let codes = codes.get(from..).unwrap_or_default();
                let scales = scales.get(first..).unwrap_or_default();
                let width = self.dimension.max(1);
                let rows = out
                    .chunks_mut(width)
                    .zip(codes.chunks_exact(width))
                    .zip(scales);
                for ((out, codes), scale) in rows {
                    for (out, code) in out.iter_mut().zip(codes) {
                        *out = f32::from(*code) * scale;
                    }
                }
            }
        }
    }
}

/// Whether a component may be in a matrix.
pub(super) fn is_usable(x: f32) -> bool {
    x.abs() <= LARGEST
}
