//! The statistics of views that are kept, through changes that do not concern these views.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cornu_core::View;

use super::{SegmentView, ViewStats, lock};
use crate::bits::Bits;

/// Statistics by the digest of the view, within a byte bound; the least recently used go first.
///
/// What is kept serves a view that has the same digest and whose documents stood in the state in
/// which it was made or last used. Both views' documents are then in that one state, where a name
/// belongs to one document: the same names are the same ordinals. The digest alone does not tell: a
/// document that was removed and added again has its name and its source, and another ordinal,
/// whose rows are others, and the index may hold both.
#[derive(Debug)]
pub(crate) struct StatsCache {
    bound: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_view: BTreeMap<[u8; 32], Entry>,
    bytes: usize,
    uses: u64,
}

#[derive(Debug)]
struct Entry {
    /// The state of the index in which it was made or last used: the documents stood in it. The
    /// last one is the best: a view that stands in the next one and in an earlier one stood in
    /// between.
    epoch: u64,
    base: Arc<SegmentView>,
    /// None after a change, until the next use.
    delta: Option<Arc<SegmentView>>,
    used: u64,
}

impl StatsCache {
    pub(crate) fn new(bound: usize) -> Self {
        Self {
            bound,
            kept: Mutex::default(),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        lock(&self.kept).bytes
    }

    /// The statistics of a view whose documents stand in the index's state `epoch`. Makes what is
    /// not kept: both parts, or the delta's alone.
    pub(crate) fn get(
        &self,
        view: &View,
        epoch: u64,
        make_base: impl FnOnce() -> SegmentView,
        make_delta: impl FnOnce() -> SegmentView,
    ) -> ViewStats {
        let base = {
            let mut kept = lock(&self.kept);
            kept.uses += 1;
            let now = kept.uses;
            let entry = kept.by_view.get_mut(view.digest());
            match entry.filter(|entry| view.stood_at(entry.epoch)) {
                Some(entry) => {
                    (entry.used, entry.epoch) = (now, epoch);
                    let base = Arc::clone(&entry.base);
                    if let Some(delta) = entry.delta.clone() {
                        return ViewStats { base, delta };
                    }
                    Some(base)
                }
                None => None,
            }
        };
        // Without the lock: others need not wait.
        let stats = ViewStats {
            base: base.unwrap_or_else(|| Arc::new(make_base())),
            delta: Arc::new(make_delta()),
        };
        lock(&self.kept).put(*view.digest(), epoch, &stats, self.bound);
        stats
    }

    /// After a change that leaves the base as it is, and after which these of its rows are `dead`.
    /// Base parts stay, for they are the rows of the view's documents that are not dead; where one
    /// of these has died, its view's statistics go.
    ///
    /// That a view whose documents all stand has no row that dies is not to be relied on: whoever
    /// owns the index may drop a document that no asker wants at present, and write it again for
    /// one who comes back.
    pub(crate) fn change(&mut self, dead: &Bits) {
        let kept = self.kept_mut();
        kept.by_view.retain(|_, entry| {
            entry.delta = None;
            !entry.base.visible.meets(dead)
        });
        kept.bytes = kept.counted();
    }

    pub(crate) fn clear(&mut self) {
        *self.kept_mut() = Kept::default();
    }

    fn kept_mut(&mut self) -> &mut Kept {
        self.kept.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn put(&mut self, digest: [u8; 32], epoch: u64, stats: &ViewStats, bound: usize) {
        self.take(&digest);
        let entry = Entry {
            epoch,
            base: Arc::clone(&stats.base),
            delta: Some(Arc::clone(&stats.delta)),
            used: self.uses,
        };
        let bytes = entry.bytes();
        if bytes > bound {
            return;
        }
        while self.bytes + bytes > bound {
            let oldest = self.by_view.iter().min_by_key(|(_, entry)| entry.used);
            let Some(oldest) = oldest.map(|(digest, _)| *digest) else {
                break;
            };
            self.take(&oldest);
        }
        self.bytes += bytes;
        self.by_view.insert(digest, entry);
        debug_assert_eq!(self.bytes, self.counted());
    }

    fn counted(&self) -> usize {
        self.by_view.values().map(Entry::bytes).sum()
    }

    fn take(&mut self, digest: &[u8; 32]) {
        if let Some(entry) = self.by_view.remove(digest) {
            self.bytes -= entry.bytes();
        }
    }
}

impl Entry {
    fn bytes(&self) -> usize {
        let delta = self.delta.as_ref().map_or(0, |delta| delta.bytes());
        size_of::<Self>() + self.base.bytes() + delta
    }
}
