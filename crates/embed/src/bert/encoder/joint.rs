//! The upper layers of a split cross-encoder: query and document read together.
//!
//! The lower layers read query and document apart, each as the base model was trained to read a
//! text; so a query's lower states are computed once for all its documents. The upper layers read
//! the rows of both. Attention between the two sides has a bias for each head and direction, a
//! *gate*: far below zero at first, so that training starts from the base model's own states and
//! opens what helps.
//!
//! The score is 20 · (m₀ · cos(q̄, d̄) + m₁ · mean over query rows of the largest cosine with a
//! document row) + w · gelu(W · f), where q̄ and d̄ are means of rows and f is made of the query's
//! first row, q̄ ⊙ d̄ and |q̄ − d̄|. The last term starts at zero.

use tch::{Kind, TchError, Tensor};

/// What cosines are multiplied with, so that their differences reach the size of logits.
const SCALE: f64 = 20.0;

/// Tokens of a pair's two sides.
pub(crate) type Pair = (usize, usize);

/// The tensors of the head, read only.
pub(crate) struct HeadParts<'a> {
    /// (2): m₀, m₁.
    pub(crate) mix: &'a Tensor,
    /// (3 · hidden, inner).
    pub(crate) inner: &'a Tensor,
    /// (inner).
    pub(crate) inner_bias: &'a Tensor,
    /// (inner, 1).
    pub(crate) outer: &'a Tensor,
}

/// Rows (query, document) of each pair with the vectors of their sides, (2, hidden), added.
pub(crate) fn mark(states: &Tensor, pairs: &[Pair], sides: &Tensor) -> Result<Tensor, TchError> {
    let sides_of = pairs
        .iter()
        .flat_map(|&(query, document)| {
            std::iter::repeat_n(0_i64, query).chain(std::iter::repeat_n(1, document))
        })
        .collect::<Vec<_>>();
    let sides_of = Tensor::f_from_slice(&sides_of)?;
    states.f_add(&sides.f_index_select(0, &sides_of)?)
}

/// softmax(Q · Kᵀ / √d + gates) · V within each pair, from rows of (Q, K, V). `gates` is (heads, 2):
/// what a query row adds for document rows, and the reverse.
///
/// Pairs are computed one by one, so that a pair's shapes depend on itself alone.
pub(crate) fn attention(
    heads: i64,
    projected: &Tensor,
    pairs: &[Pair],
    gates: &Tensor,
) -> Result<Tensor, TchError> {
    let width = projected.size().last().copied().unwrap_or(0) / 3;
    let size = width / heads;
    let mut parts = Vec::with_capacity(pairs.len());
    let mut start = 0;
    for &(query, document) in pairs {
        let (query, document) = (query as i64, document as i64);
        let rows = query + document;
        let part = projected
            .f_narrow(0, start, rows)?
            .f_view([rows, 3, heads, size])?
            .f_permute([1, 2, 0, 3])?;
        let [q, k, v] = [
            part.f_select(0, 0)?,
            part.f_select(0, 1)?,
            part.f_select(0, 2)?,
        ];
        let logits = q
            .f_matmul(&k.f_transpose(1, 2)?)?
            .f_mul_scalar(1.0 / (size as f64).sqrt())?;
        let bias = bias(heads, query, document, gates)?;
        let weights = logits.f_add(&bias)?.f_softmax(-1, Kind::Float)?;
        let context = weights.f_matmul(&v)?;
        parts.push(context.f_transpose(0, 1)?.f_reshape([rows, width])?);
        start += rows;
    }
    Tensor::f_cat(&parts, 0)
}

/// (heads, rows, rows): 0 within a side, the gates across.
fn bias(heads: i64, query: i64, document: i64, gates: &Tensor) -> Result<Tensor, TchError> {
    let options = (Kind::Float, gates.device());
    let gate = |direction: i64, rows: i64, columns: i64| {
        gates
            .f_select(1, direction)?
            .f_view([heads, 1, 1])?
            .f_expand([heads, rows, columns], false)
    };
    let within = |rows: i64| Tensor::f_zeros([heads, rows, rows], options);
    let of_query = Tensor::f_cat(&[within(query)?, gate(0, query, document)?], 2)?;
    let of_document = Tensor::f_cat(&[gate(1, document, query)?, within(document)?], 2)?;
    Tensor::f_cat(&[of_query, of_document], 1)
}

/// The score of one pair from its last states, (query + document, hidden): a scalar.
pub(crate) fn score(
    states: &Tensor,
    (query, document): Pair,
    head: &HeadParts<'_>,
) -> Result<Tensor, TchError> {
    let query_rows = states.f_narrow(0, 0, query as i64)?;
    let document_rows = states.f_narrow(0, query as i64, document as i64)?;
    let mean = |rows: &Tensor| rows.f_mean_dim(0_i64, false, Kind::Float);
    let (query_mean, document_mean) = (mean(&query_rows)?, mean(&document_rows)?);
    let (query_unit, document_unit) = (unit(&query_mean)?, unit(&document_mean)?);
    let product = query_unit.f_mul(&document_unit)?;
    let cosine = product.f_sum(Kind::Float)?;
    let nearest = unit(&query_rows)?
        .f_matmul(&unit(&document_rows)?.f_transpose(0, 1)?)?
        .f_amax(1, false)?
        .f_mean(Kind::Float)?;
    let similar = Tensor::f_stack(&[cosine, nearest], 0)?
        .f_mul(head.mix)?
        .f_sum(Kind::Float)?
        .f_mul_scalar(SCALE)?;
    let width = (product.size().first().copied().unwrap_or(1) as f64).sqrt();
    let features = Tensor::f_cat(
        &[
            query_rows.f_select(0, 0)?,
            product.f_mul_scalar(width)?,
            query_mean.f_sub(&document_mean)?.f_abs()?,
        ],
        0,
    )?
    .f_view([1, -1])?;
    let inner = head
        .inner_bias
        .f_addmm(&features, head.inner)?
        .f_gelu("none")?;
    similar.f_add(&inner.f_matmul(head.outer)?.f_view([])?)
}

/// Rows (or one vector) of norm 1.
pub(crate) fn unit(rows: &Tensor) -> Result<Tensor, TchError> {
    let squares = rows
        .f_mul(rows)?
        .f_sum_dim_intlist(-1_i64, true, Kind::Float)?;
    rows.f_div(&squares.f_clamp_min(1e-24)?.f_sqrt()?)
}
