//! One computation that several wait for.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::sync::{Condvar, Mutex};

// How many computations this thread leads. A model's threads are not the system's.
#[cfg(not(loom))]
thread_local! {
    static LEADING: Cell<usize> = const { Cell::new(0) };
}
#[cfg(loom)]
loom::thread_local! {
    static LEADING: Cell<usize> = Cell::new(0);
}

/// Whether this thread is in the middle of a computation that others may wait for. If it waited
/// itself, two such threads could wait for each other.
pub(crate) fn this_thread_leads() -> bool {
    LEADING.with(Cell::get) > 0
}

/// How a computation ended.
pub(crate) enum Landing<V> {
    /// With a value.
    Value(Arc<V>),
    /// With an error or a panic.
    Failed,
    /// It has not, in the time given.
    Late,
}

/// A computation under way.
pub(crate) struct Flight<V> {
    /// `None` while it runs, then how it ended.
    ended: Mutex<Option<Option<Arc<V>>>>,
    changed: Condvar,
}

impl<V> Flight<V> {
    pub(crate) fn new() -> Self {
        Self {
            ended: Mutex::new(None),
            changed: Condvar::new(),
        }
    }

    /// Waits for its end, for at most `patience`.
    pub(crate) fn wait(&self, patience: Duration) -> Landing<V> {
        let deadline = Instant::now().checked_add(patience);
        let mut ended = self.ended.lock();
        loop {
            match &*ended {
                Some(Some(value)) => return Landing::Value(Arc::clone(value)),
                Some(None) => return Landing::Failed,
                None => {}
            }
            match deadline {
                None => self.changed.wait(&mut ended),
                Some(deadline) => {
                    if self.changed.wait_until(&mut ended, deadline).timed_out() && ended.is_none()
                    {
                        return Landing::Late;
                    }
                }
            }
        }
    }

    pub(crate) fn end(&self, value: Option<Arc<V>>) {
        *self.ended.lock() = Some(value);
        self.changed.notify_all();
    }
}

/// Marks this thread as one that computes for others, until it goes.
pub(crate) struct Leading;

impl Leading {
    pub(crate) fn begin() -> Self {
        LEADING.with(|leading| leading.set(leading.get() + 1));
        Self
    }
}

impl Drop for Leading {
    fn drop(&mut self) {
        LEADING.with(|leading| leading.set(leading.get().saturating_sub(1)));
    }
}
