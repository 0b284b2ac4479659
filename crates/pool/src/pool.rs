//! The pool and what it hands out.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

use crate::error::{PoolError, SizeError};
use crate::lane::{Lane, Manners, Missed};
use crate::metrics::Metrics;

/// What a connection is for.
///
/// ```
/// assert_eq!(cornu_pool::Role::Writer.to_string(), "writer");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// One of many.
    Reader,
    /// The only one.
    Writer,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reader => "reader",
            Self::Writer => "writer",
        })
    }
}

/// Opens connections, and says which may be used again.
///
/// See the [`crate`] for an example.
pub trait Manager: Send + Sync {
    /// What is pooled.
    type Connection: Send;
    /// Why one could not be opened.
    type Error;

    /// Opens a connection with all the settings it needs: the pool adds none.
    ///
    /// # Errors
    /// Whatever keeps it from being opened; the caller of the pool gets it.
    fn open(&self, role: Role) -> Result<Self::Connection, Self::Error>;

    /// Brings a returned connection into the state of a new one (an open transaction rolled
    /// back); `false` when that failed, and the connection is thrown away.
    fn recycle(&self, connection: &mut Self::Connection) -> bool;
}

/// The most readers of a pool. A place is made for each.
pub const MAX_READERS: usize = 1 << 16;

/// How many readers a pool has.
///
/// ```
/// assert_eq!(cornu_pool::Size::readers(4)?.get(), 4);
/// # Ok::<(), cornu_pool::SizeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(usize);

impl Size {
    /// This many.
    ///
    /// # Errors
    /// [`SizeError`] for 0 and for more than [`MAX_READERS`].
    pub fn readers(count: usize) -> Result<Self, SizeError> {
        match count {
            1..=MAX_READERS => Ok(Self(count)),
            _ => Err(SizeError),
        }
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> usize {
        self.0
    }
}

/// A number of readers and one writer, for threads that may block.
///
/// - Connections are opened when they are first needed and kept: nothing is closed for being idle.
/// - Who waits is served in order of arrival, by deadline or not at all: a connection that comes back
///   is kept for the first in the queue, who is woken. Only where the system does not let them run for
///   100 µs does it go to a thread that does run, and for no longer than 200 µs: who finds `n` in the
///   queue waits for at most `n + 1` times that and the longest loan.
/// - A connection whose holder panicked, that was [marked](Guard::mark_broken), or that the
///   manager cannot recycle is dropped; the next holder of its place opens another.
/// - There are no threads of the pool's own.
///
/// Cost: a lock held for nanoseconds at each taking and returning.
///
/// See the [`crate`] for an example.
pub struct ThreadSafeVecPool<M: Manager> {
    name: String,
    manager: M,
    readers: Lane<M::Connection>,
    writer: Lane<M::Connection>,
}

impl<M: Manager> ThreadSafeVecPool<M> {
    /// A pool without open connections. `name` stands in errors.
    pub fn new(name: impl Into<String>, manager: M, size: Size) -> Self {
        Self {
            name: name.into(),
            manager,
            readers: Lane::new(size.get(), Manners::default()),
            writer: Lane::new(1, Manners::default()),
        }
    }

    /// A reader, waiting for at most `timeout`.
    ///
    /// A thread that holds a connection and asks for another may wait for itself; the timeout
    /// ends that.
    ///
    /// # Errors
    /// [`PoolError`].
    pub fn reader(&self, timeout: Duration) -> Result<Guard<'_, M>, PoolError<M::Error>> {
        self.take(Role::Reader, timeout)
    }

    /// The writer, waiting for at most `timeout`.
    ///
    /// # Errors
    /// [`PoolError`].
    pub fn writer(&self, timeout: Duration) -> Result<Guard<'_, M>, PoolError<M::Error>> {
        self.take(Role::Writer, timeout)
    }

    /// Has another number of readers from now on. Who waits is served at once where there are more;
    /// where there are fewer, free connections are closed now and others when they come back.
    pub fn resize(&self, size: Size) {
        drop(self.readers.resize(size.get()));
    }

    /// Lends nothing any more ([`PoolError::Closed`], for those who wait, too), closes what is free,
    /// and waits for at most `patience` until what is out has come back. Gives how many connections
    /// had not; they are closed when they do.
    pub fn close(&self, patience: Duration) -> usize {
        let start = Instant::now();
        drop((self.readers.close(), self.writer.close()));
        let year = Duration::from_secs(365 * 24 * 3600);
        let deadline = start + patience.min(year);
        self.readers.wait_for_all(deadline) + self.writer.wait_for_all(deadline)
    }

    /// Who holds and who waits, at this moment.
    ///
    /// ```
    /// # use cornu_pool::*;
    /// # struct Units;
    /// # impl Manager for Units {
    /// #     type Connection = ();
    /// #     type Error = std::convert::Infallible;
    /// #     fn open(&self, _: Role) -> Result<(), Self::Error> { Ok(()) }
    /// #     fn recycle(&self, _: &mut ()) -> bool { true }
    /// # }
    /// let pool = ThreadSafeVecPool::new("example", Units, Size::readers(2)?);
    /// let writer = pool.writer(std::time::Duration::ZERO)?;
    /// assert_eq!(pool.metrics().writer.in_use, 1);
    /// assert_eq!(pool.metrics().readers.opened, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        Metrics {
            readers: self.readers.metrics(),
            writer: self.writer.metrics(),
        }
    }

    /// What opens the connections.
    #[must_use]
    pub fn manager(&self) -> &M {
        &self.manager
    }

    fn take(&self, role: Role, timeout: Duration) -> Result<Guard<'_, M>, PoolError<M::Error>> {
        let start = Instant::now();
        let place = self.lane(role).take(timeout).map_err(|missed| {
            let pool = self.name.clone();
            match missed {
                Missed::Closed => PoolError::Closed { pool },
                Missed::Late { in_use, waiting } => PoolError::Timeout {
                    pool,
                    role,
                    waited: start.elapsed(),
                    in_use,
                    waiting,
                },
            }
        })?;
        // From here on the guard owns the place and gives it back, whatever opening does.
        let mut guard = Guard {
            pool: self,
            role,
            connection: place,
            broken: false,
        };
        if guard.connection.is_none() {
            guard.connection = Some(self.manager.open(role).map_err(PoolError::Open)?);
            self.lane(role).count_opened();
        }
        Ok(guard)
    }

    fn lane(&self, role: Role) -> &Lane<M::Connection> {
        match role {
            Role::Reader => &self.readers,
            Role::Writer => &self.writer,
        }
    }
}

impl<M: Manager> fmt::Debug for ThreadSafeVecPool<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadSafeVecPool")
            .field("name", &self.name)
            .field("metrics", &self.metrics())
            .finish_non_exhaustive()
    }
}

/// A connection on loan; returned when dropped.
///
/// See the [`crate`] for an example.
pub struct Guard<'p, M: Manager> {
    pool: &'p ThreadSafeVecPool<M>,
    role: Role,
    /// `None` only while it is opened, and after it was returned.
    connection: Option<M::Connection>,
    broken: bool,
}

impl<M: Manager> Guard<'_, M> {
    /// Has the connection thrown away when it is returned.
    pub fn mark_broken(&mut self) {
        self.broken = true;
    }
}

impl<M: Manager> Deref for Guard<'_, M> {
    type Target = M::Connection;
    fn deref(&self) -> &M::Connection {
        match &self.connection {
            Some(connection) => connection,
            None => unreachable!("a guard that is handed out holds a connection"),
        }
    }
}

impl<M: Manager> DerefMut for Guard<'_, M> {
    fn deref_mut(&mut self) -> &mut M::Connection {
        match &mut self.connection {
            Some(connection) => connection,
            None => unreachable!("a guard that is handed out holds a connection"),
        }
    }
}

impl<M: Manager> fmt::Debug for Guard<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("pool", &self.pool.name)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

/// Gives the place back even when recycling or dropping a connection panics.
struct Return<'p, M: Manager> {
    lane: &'p Lane<M::Connection>,
    connection: Option<M::Connection>,
    kept: bool,
}

impl<M: Manager> Drop for Return<'_, M> {
    fn drop(&mut self) {
        drop(self.lane.put(self.connection.take(), self.kept));
    }
}

impl<M: Manager> Drop for Guard<'_, M> {
    fn drop(&mut self) {
        let mut place: Return<'_, M> = Return {
            lane: self.pool.lane(self.role),
            connection: None,
            kept: false,
        };
        let Some(mut connection) = self.connection.take() else {
            place.kept = true;
            return;
        };
        let usable =
            !self.broken && !std::thread::panicking() && self.pool.manager.recycle(&mut connection);
        if usable {
            place.connection = Some(connection);
            place.kept = true;
        }
    }
}
