//! How many searches there are at the same time.

use std::sync::atomic::{AtomicIsize, Ordering};

/// Of all stores of this process: they share its threads.
static UNDER_WAY: AtomicIsize = AtomicIsize::new(0);

/// Somebody reads the facts of a store, whatever of them: one who ranks words now keeps a core as
/// busy as one who scans vectors.
pub(crate) struct UnderWay;

/// One of them waits for something else meanwhile.
pub(crate) struct Waiting;

// Relaxed: the number guards nothing; one that is a moment old costs a little time.
impl UnderWay {
    pub(crate) fn begin() -> Self {
        UNDER_WAY.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Waiting {
    pub(crate) fn begin() -> Self {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        UNDER_WAY.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whether there are not even two of rayon's threads for each of them. Then handing a scan to them
/// wins nothing: they are busy with the others, and each hand-over is a sleep and a wake.
pub(super) fn is_crowded() -> bool {
    let searches = UNDER_WAY.load(Ordering::Relaxed).max(0).unsigned_abs();
    2 * searches > rayon::current_num_threads()
}
