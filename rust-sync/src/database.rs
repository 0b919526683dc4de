//! The pool: a thread waits until there is a connection.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Instant;

use common::connection::ACQUIRE_TIMEOUT;
use common::database::{Prepare, TimeZone};
use common::errors::Error;
use common::models::PoolUse;
use parking_lot::{Condvar, Mutex};
use r2d2::{HandleError, ManageConnection, Pool, PooledConnection};

use crate::blocking::Blocking;
use crate::config::Config;
use crate::pool_use::Counters;

#[derive(Debug)]
pub(crate) struct Database {
    source: Source,
    reset: bool,
    time_zone: TimeZone,
}

#[derive(Debug)]
enum Source {
    Pool(Pool<Manager>, Counters),
    /// For `DB_PERSISTENT=0`, which r2d2 does not know: opened by the thread that needs it.
    Single(Box<Manager>, Arc<Places>),
}

impl Database {
    /// Waits for nothing: the server starts, and answers, without a database.
    pub(crate) fn new(config: &Config) -> Self {
        let database = &config.database;
        let manager = Manager {
            config: database.database_url.clone(),
            prepare: config.db_prepare,
        };
        let counters = Counters::default();
        let source = match database.db_persistent {
            true => Source::Pool(
                Pool::builder()
                    .max_size(database.db_pool_max)
                    .connection_timeout(ACQUIRE_TIMEOUT)
                    // The pool has a fixed size, so an idle connection would only be replaced.
                    .idle_timeout(None)
                    // A ping at each checkout would be a ninth round trip; `acquire` looks at the socket.
                    .test_on_check_out(false)
                    .error_handler(Box::new(LogErrors))
                    .event_handler(Box::new(counters.clone()))
                    .build_unchecked(manager),
                counters,
            ),
            false => {
                let places = Places::new(database.db_pool_max);
                Source::Single(Box::new(manager), Arc::new(places))
            }
        };
        Self {
            source,
            reset: database.db_reset && database.db_persistent,
            time_zone: database.db_time_zone,
        }
    }

    /// None where there is no pool.
    pub(crate) fn pool_use(&self) -> Option<PoolUse> {
        match &self.source {
            Source::Pool(_, counters) => Some(counters.read()),
            Source::Single(..) => None,
        }
    }

    /// The connection that a request begins with: its time zone may be for the request to set.
    pub(crate) fn begin(&self) -> Result<Lease, Error> {
        let mut connection = self.acquire()?;
        if self.time_zone == TimeZone::Request {
            connection.set_time_zone()?;
        }
        Ok(connection)
    }

    /// An open connection. Others go back, where they are thrown away.
    fn acquire(&self) -> Result<Lease, Error> {
        let deadline = Instant::now() + ACQUIRE_TIMEOUT;
        loop {
            let mut lease = self.lease(deadline)?;
            if lease.is_open() {
                lease.lend(self.reset);
                return Ok(lease);
            }
        }
    }

    fn lease(&self, deadline: Instant) -> Result<Lease, Error> {
        match &self.source {
            Source::Pool(pool, _) => {
                let remaining = deadline.saturating_duration_since(Instant::now());
                let connection = pool.get_timeout(remaining).map_err(Error::unavailable)?;
                Ok(Lease::Pooled(connection))
            }
            Source::Single(manager, places) => {
                let place = places.take(deadline)?;
                let connection = manager.connect()?;
                Ok(Lease::Single {
                    connection,
                    _place: place,
                })
            }
        }
    }

    pub(crate) fn release(&self, mut connection: Lease) {
        connection.give_back();
    }
}

/// A connection that one request has for itself.
pub(crate) enum Lease {
    Pooled(PooledConnection<Manager>),
    Single {
        // Closed before its place is free.
        connection: Blocking,
        _place: Place,
    },
}

impl Deref for Lease {
    type Target = Blocking;

    fn deref(&self) -> &Blocking {
        match self {
            Self::Pooled(connection) => connection,
            Self::Single { connection, .. } => connection,
        }
    }
}

impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut Blocking {
        match self {
            Self::Pooled(connection) => connection,
            Self::Single { connection, .. } => connection,
        }
    }
}

/// How many connections may still be opened.
#[derive(Debug)]
struct Places {
    free: Mutex<u32>,
    freed: Condvar,
}

/// The right to have one connection.
pub(crate) struct Place(Arc<Places>);

impl Places {
    fn new(number: u32) -> Self {
        Self {
            free: Mutex::new(number),
            freed: Condvar::new(),
        }
    }

    fn take(self: &Arc<Self>, deadline: Instant) -> Result<Place, Error> {
        let mut free = self.free.lock();
        self.freed
            .wait_while_until(&mut free, |free| *free == 0, deadline);
        *free = free
            .checked_sub(1)
            .ok_or_else(|| Error::unavailable("no connection in time"))?;
        Ok(Place(Arc::clone(self)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *self.0.free.lock() += 1;
        self.0.freed.notify_one();
    }
}

/// Opens connections for the pool, on its own threads, and says which of them it may keep.
#[derive(Debug)]
pub(crate) struct Manager {
    config: tokio_postgres::Config,
    prepare: Prepare,
}

impl ManageConnection for Manager {
    type Connection = Blocking;
    type Error = Error;

    fn connect(&self) -> Result<Blocking, Error> {
        Blocking::open(&self.config, self.prepare)
    }

    /// Never asked: there is no test at a checkout.
    fn is_valid(&self, _: &mut Blocking) -> Result<(), Error> {
        Ok(())
    }

    fn has_broken(&self, connection: &mut Blocking) -> bool {
        !connection.is_in_order()
    }
}

/// The pool opens connections in the background, where nobody would see an error.
#[derive(Debug)]
struct LogErrors;

impl HandleError<Error> for LogErrors {
    fn handle_error(&self, error: Error) {
        tracing::warn!("{}", error.chain());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_places_as_connections_and_each_comes_back() {
        let places = Arc::new(Places::new(1));
        let place = places.take(Instant::now()).ok().unwrap();
        assert!(
            places
                .take(Instant::now() + std::time::Duration::from_millis(5))
                .is_err()
        );
        drop(place);
        assert!(places.take(Instant::now()).is_ok());
    }
}
