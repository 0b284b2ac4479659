//! How many searches there are at the same time.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Of all stores of this process: they share its threads.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// Somebody reads the facts of a store, whatever of them: one who ranks words now keeps a core as
/// busy as one who scans vectors.
pub(crate) struct UnderWay;

impl UnderWay {
    pub(crate) fn begin() -> Self {
        // Relaxed: the number guards nothing; one that is a moment old costs a little time.
        UNDER_WAY.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

/// Whether there are not even two of rayon's threads for each of them. Then handing a scan to them
/// wins nothing: they are busy with the others, and each hand-over is a sleep and a wake.
pub(super) fn is_crowded() -> bool {
    2 * UNDER_WAY.load(Ordering::Relaxed) > rayon::current_num_threads()
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
}
