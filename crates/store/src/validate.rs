//! What may enter: checked before anything is written.

use std::collections::BTreeSet;

use cornu_core::DocumentFacts;
use ndarray::ArrayView1;

use crate::error::StoreError;
use crate::terms::TermCounts;

/// By how much the L2 norm of a stored vector may differ from 1.
///
/// A vector of dimension D that was divided by its norm in f32 is within about √D · 2⁻²⁴ of a unit
/// vector: 1.2e-6 at worst for 384, 1e-7 in practice.
pub const UNIT_TOLERANCE: f64 = 1e-6;

/// Everything that makes facts acceptable. O(chunks · D).
pub(crate) fn facts(
    facts: &DocumentFacts,
    terms: Option<&[TermCounts]>,
    dimension: usize,
) -> Result<(), StoreError> {
    let (rows, columns) = facts.vectors.dim();
    if columns != dimension {
        return Err(StoreError::WrongDimension {
            what: format!("the vectors of {}", facts.doc),
            expected: dimension,
            found: columns,
        });
    }
    let indexed = facts.indexed().count();
    let counted = terms.map_or(indexed, <[TermCounts]>::len);
    for (what, found) in [("vectors", rows), ("lists of terms", counted)] {
        if found != indexed {
            return Err(StoreError::RowCount {
                doc: facts.doc.clone(),
                what,
                expected: indexed,
                found,
            });
        }
    }
    for (row, vector) in facts.vectors.rows().into_iter().enumerate() {
        unit(&vector, || format!("vector {row} of {}", facts.doc))?;
    }
    let mut ids = BTreeSet::new();
    for chunk in &facts.chunks {
        let problem = if chunk.doc != facts.doc {
            "names another document"
        } else if !ids.insert(chunk.id) {
            "comes twice"
        } else {
            continue;
        };
        return Err(StoreError::ForeignChunk {
            doc: facts.doc.clone(),
            chunk: chunk.id,
            problem,
        });
    }
    Ok(())
}

/// A vector with finite components and norm 1.
pub(crate) fn unit(
    vector: &ArrayView1<'_, f32>,
    what: impl Fn() -> String,
) -> Result<(), StoreError> {
    let norm = direction(vector, &what)?;
    if (norm - 1.0).abs() <= UNIT_TOLERANCE {
        return Ok(());
    }
    Err(StoreError::NotUnit {
        what: what(),
        norm,
        tolerance: UNIT_TOLERANCE,
    })
}

/// The norm, in f64, of a vector with finite components that are not all zero.
pub(crate) fn direction(
    vector: &ArrayView1<'_, f32>,
    what: impl Fn() -> String,
) -> Result<f64, StoreError> {
    let mut sum = 0.0;
    for (component, &value) in vector.iter().enumerate() {
        if !value.is_finite() {
            return Err(StoreError::NotFinite {
                what: what(),
                component,
                value,
            });
        }
        sum += f64::from(value) * f64::from(value);
    }
    if sum == 0.0 {
        return Err(StoreError::ZeroVector { what: what() });
    }
    Ok(sum.sqrt())
}
