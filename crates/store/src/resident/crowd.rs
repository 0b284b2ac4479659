//! How many scans there are at the same time.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Of all stores of this process: they share its threads.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// A scan under way.
pub(super) struct UnderWay {
    /// This one included, when it began.
    together: usize,
}

impl UnderWay {
    pub(super) fn begin() -> Self {
        // Relaxed: the number guards nothing; one that is a moment old costs a little time.
        let before = UNDER_WAY.fetch_add(1, Ordering::Relaxed);
        Self {
            together: before + 1,
        }
    }

    /// Whether there are not even two of rayon's threads for each scan. Then handing a scan to them
    /// wins nothing: they are busy with the others, and each hand-over is a sleep and a wake.
    pub(super) fn is_crowded(&self) -> bool {
        2 * self.together > rayon::current_num_threads()
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
}
