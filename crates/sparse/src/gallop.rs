//! Finding a place further on in an ascending list.

/// The first index from `from` on whose value is at least `target`; the length when there is none.
/// O(log distance).
#[inline]
pub(crate) fn gallop(values: &[u32], from: usize, target: u32) -> usize {
    let below = |at: usize| values.get(at).is_some_and(|&value| value < target);
    if !below(from) {
        return from.min(values.len());
    }
    let (mut low, mut step) = (from, 1);
    while below(low + step) {
        low += step;
        step *= 2;
    }
    // values[low] is below, values[low + step] is not.
    let high = (low + step).min(values.len());
    let between = values.get(low + 1..high).unwrap_or_default();
    low + 1 + between.partition_point(|&value| value < target)
}

#[cfg(test)]
mod tests {
    use super::gallop;

    #[test]
    fn finds_what_a_scan_finds() {
        let values: Vec<u32> = (0..300).map(|at| at * at / 7).collect();
        for from in [0, 1, 5, 150, 299, 300] {
            for target in 0..13_000 {
                let scan = (from..values.len()).find(|&at| values[at] >= target);
                assert_eq!(gallop(&values, from, target), scan.unwrap_or(300));
            }
        }
    }
}
