//! Tables of vectors that are looked up by row.

use super::super::packed::{row_bytes, unpack};

/// Vectors by row. A table stored in 4 bits stays so and is unpacked row by row: for 250,000
/// words of 384 values 54 MB in place of 384 MB, at about 0.1 µs a token.
pub(crate) enum Table {
    Plain { values: Vec<f32>, width: usize },
    FourBit { blocks: Vec<u8>, width: usize },
}

impl Table {
    /// Writes row `at`; false when there is no such row.
    pub(super) fn write(&self, at: usize, row: &mut [f32]) -> bool {
        match self {
            Self::Plain { values, width } => {
                let from = range(at, *width).and_then(|range| values.get(range));
                from.is_some_and(|from| {
                    row.copy_from_slice(from);
                    true
                })
            }
            Self::FourBit { blocks, width } => {
                let from = row_bytes(*width)
                    .and_then(|bytes| range(at, bytes))
                    .and_then(|range| blocks.get(range));
                from.is_some_and(|from| {
                    unpack(from, row);
                    true
                })
            }
        }
    }

    /// Adds row `at`; false when there is no such row.
    pub(super) fn add(&self, at: usize, row: &mut [f32]) -> bool {
        let Self::Plain { values, width } = self else {
            let mut own = vec![0.0; row.len()];
            let known = self.write(at, &mut own);
            add(row, &own);
            return known;
        };
        let from = range(at, *width).and_then(|range| values.get(range));
        from.is_some_and(|from| {
            add(row, from);
            true
        })
    }
}

fn add(row: &mut [f32], from: &[f32]) {
    for (sum, value) in row.iter_mut().zip(from) {
        *sum += value;
    }
}

fn range(at: usize, width: usize) -> Option<std::ops::Range<usize>> {
    let start = at.checked_mul(width)?;
    Some(start..start.checked_add(width)?)
}
