//! Inner products of many rows in f32, as fast as the rows can be read.

/// Partial sums of a product; they are added to one another at the end, in order.
pub(crate) const LANES: usize = 16;

/// The inner product of each row with the query, within [`scan_error`](crate::score::scan_error).
/// `rows` holds `query.len()` values for each score.
///
/// The last bits depend on the processor: where it can, a product and its addition are rounded
/// once. So these numbers choose candidates and are never given to anybody.
pub(crate) fn products(rows: &[f32], query: &[f32], scores: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        #[expect(
            unsafe_code,
            reason = "code for a processor's extensions is called in no other way"
        )]
        // SAFETY: the function asks for nothing but these two extensions, which were just found.
        return unsafe { fused(rows, query, scores) };
    }
    each_row(rows, query, scores, |sum, x, q| sum + x * q);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fused(rows: &[f32], query: &[f32], scores: &mut [f32]) {
    each_row(rows, query, scores, |sum, x, q| x.mul_add(q, sum));
}

#[inline(always)]
fn each_row(
    rows: &[f32],
    query: &[f32],
    scores: &mut [f32],
    add: impl Fn(f32, f32, f32) -> f32 + Copy,
) {
    let (queries, query_rest) = query.as_chunks::<LANES>();
    for (row, score) in rows.chunks_exact(query.len().max(1)).zip(scores) {
        let mut lanes = [0.0; LANES];
        let (chunks, row_rest) = row.as_chunks::<LANES>();
        for (xs, qs) in chunks.iter().zip(queries) {
            for ((lane, x), q) in lanes.iter_mut().zip(xs).zip(qs) {
                *lane = add(*lane, *x, *q);
            }
        }
        let mut rest = 0.0;
        for (x, q) in row_rest.iter().zip(query_rest) {
            rest = add(rest, *x, *q);
        }
        *score = lanes.iter().sum::<f32>() + rest;
    }
}
