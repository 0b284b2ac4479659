//! Inner products of many rows, as fast as the rows can be read: in f32, in 8 bits, in one bit.

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

/// The inner product of each row of 8-bit codes with a query in 16 bits. `rows` holds
/// `query.len()` codes for each sum.
///
/// Integers: the same on every processor. 127 · Σ|query| has to fit into an i32, which is for who
/// makes the query to see to.
pub(crate) fn code_products(rows: &[i8], query: &[i16], sums: &mut [i32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        #[expect(
            unsafe_code,
            reason = "code for a processor's extensions is called in no other way"
        )]
        // SAFETY: the function asks for nothing but this extension, which was just found.
        return unsafe { wide_code_products(rows, query, sums) };
    }
    each_code_row(rows, query, sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide_code_products(rows: &[i8], query: &[i16], sums: &mut [i32]) {
    each_code_row(rows, query, sums);
}

#[inline(always)]
fn each_code_row(rows: &[i8], query: &[i16], sums: &mut [i32]) {
    for (row, sum) in rows.chunks_exact(query.len().max(1)).zip(sums) {
        *sum = code_product(row, query);
    }
}

#[inline(always)]
fn code_product(row: &[i8], query: &[i16]) -> i32 {
    let products = row.iter().zip(query);
    products.map(|(x, q)| i32::from(*x) * i32::from(*q)).sum()
}

/// As [`code_products`], of the rows whose numbers are given. Numbers that no row has get the
/// least sum.
pub(crate) fn code_products_at(codes: &[i8], at: &[u32], query: &[i16], sums: &mut [i32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        #[expect(
            unsafe_code,
            reason = "code for a processor's extensions is called in no other way"
        )]
        // SAFETY: the function asks for nothing but this extension, which was just found.
        return unsafe { wide_code_products_at(codes, at, query, sums) };
    }
    each_code_row_at(codes, at, query, sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide_code_products_at(codes: &[i8], at: &[u32], query: &[i16], sums: &mut [i32]) {
    each_code_row_at(codes, at, query, sums);
}

/// Rows that are asked of memory before they are needed. They lie anywhere, so no processor can know
/// which is next.
const AHEAD: usize = 3;

#[inline(always)]
fn each_code_row_at(codes: &[i8], at: &[u32], query: &[i16], sums: &mut [i32]) {
    let row_of = |row: u32| {
        let start = (row as usize).saturating_mul(query.len());
        codes.get(start..start.saturating_add(query.len()))
    };
    let ask_for =
        |row: Option<&u32>| prefetch(row.and_then(|row| row_of(*row)).unwrap_or_default());
    (0..AHEAD).for_each(|place| ask_for(at.get(place)));
    for (place, (row, sum)) in at.iter().zip(sums).enumerate() {
        ask_for(at.get(place + AHEAD));
        *sum = row_of(*row).map_or(i32::MIN, |row| code_product(row, query));
    }
}

/// Asks memory for what will be read soon. Nothing is read, and nothing changes but how long it
/// takes.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..size_of_val(items)).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = items.as_ptr().cast::<i8>().wrapping_add(line);
        #[expect(unsafe_code, reason = "the instruction takes a pointer")]
        // SAFETY: the instruction is a part of every x86-64, it reads nothing that a program can
        // see, and no address makes it fail; this one lies within the slice.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(line);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = items;
}

/// Bits in which a query is taken to meet rows of one bit a component.
pub(crate) const QUERY_BITS: usize = 4;

/// For each row of bits: the number of its ones, and Σ uᵢ over its ones, where bit j of uᵢ is bit i
/// of `planes[j]`. `rows` holds as many words for each row as a plane has.
pub(crate) fn bit_products(rows: &[u64], planes: &[Vec<u64>; QUERY_BITS], out: &mut [(u32, u32)]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
        #[expect(
            unsafe_code,
            reason = "code for a processor's extensions is called in no other way"
        )]
        // SAFETY: the function asks for nothing but these two extensions, which were just found.
        return unsafe { counted_bit_products(rows, planes, out) };
    }
    each_bit_row(rows, planes, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn counted_bit_products(rows: &[u64], planes: &[Vec<u64>; QUERY_BITS], out: &mut [(u32, u32)]) {
    each_bit_row(rows, planes, out);
}

#[inline(always)]
fn each_bit_row(rows: &[u64], planes: &[Vec<u64>; QUERY_BITS], out: &mut [(u32, u32)]) {
    let [one, two, four, eight] = planes;
    for (row, out) in rows.chunks_exact(one.len().max(1)).zip(out) {
        let (mut ones, mut sum) = (0, 0);
        let planes = one.iter().zip(two).zip(four.iter().zip(eight));
        for (word, ((p1, p2), (p4, p8))) in row.iter().zip(planes) {
            ones += word.count_ones();
            sum += (word & p1).count_ones()
                + 2 * (word & p2).count_ones()
                + 4 * (word & p4).count_ones()
                + 8 * (word & p8).count_ones();
        }
        *out = (ones, sum);
    }
}
