//! Locks: those of `parking_lot`, or those of a model checker that tries every order of steps
//! (`RUSTFLAGS="--cfg loom" cargo test -p cornu-pool --lib`).

#[cfg(not(loom))]
pub(crate) use parking_lot::{Condvar, Mutex};

#[cfg(loom)]
pub(crate) use model::{Condvar, Mutex};

#[cfg(loom)]
mod model {
    use std::ops::{Deref, DerefMut};
    use std::time::Instant;

    /// As `parking_lot` has it: without poison.
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    pub(crate) struct Guard<'a, T>(Option<loom::sync::MutexGuard<'a, T>>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> Guard<'_, T> {
            Guard(self.0.lock().ok())
        }
    }

    impl<T> Deref for Guard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            match &self.0 {
                Some(guard) => guard,
                None => unreachable!("models do not panic while they hold a lock"),
            }
        }
    }

    impl<T> DerefMut for Guard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            match &mut self.0 {
                Some(guard) => guard,
                None => unreachable!("models do not panic while they hold a lock"),
            }
        }
    }

    pub(crate) struct Condvar(loom::sync::Condvar);

    /// Time stands still in a model.
    pub(crate) struct Never;

    impl Never {
        pub(crate) fn timed_out(&self) -> bool {
            false
        }
    }

    impl Condvar {
        pub(crate) fn new() -> Self {
            Self(loom::sync::Condvar::new())
        }

        pub(crate) fn wait<T>(&self, guard: &mut Guard<'_, T>) {
            if let Some(held) = guard.0.take() {
                guard.0 = self.0.wait(held).ok();
            }
        }

        pub(crate) fn wait_until<T>(&self, guard: &mut Guard<'_, T>, _: Instant) -> Never {
            self.wait(guard);
            Never
        }

        pub(crate) fn notify_one(&self) {
            self.0.notify_one();
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}
