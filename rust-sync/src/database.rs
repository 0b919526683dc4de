//! Connections: opened, handed out, reset and thrown away.

use std::fmt::{self, Debug, Formatter};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use postgres::Row;
use postgres::types::ToSql;
use r2d2::{HandleError, ManageConnection, Pool, PooledConnection};

use crate::config::{Config, TimeZone};
use crate::connection::Connection;
use crate::errors::Error;
use crate::pool_use::{Counters, PoolUse};
use crate::queries::Query;

/// Waiting for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_millis(1500);
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(2);
const KEEPALIVE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Database {
    source: Source,
    reset: bool,
    time_zone: TimeZone,
    /// How many connections may turn out to be lost before a request gives up.
    attempts: u32,
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
        let manager = Manager {
            config: bounded(&config.database_url),
            prepare: config.db_prepare,
        };
        let counters = Counters::default();
        let source = match config.db_persistent {
            true => Source::Pool(
                Pool::builder()
                    .max_size(config.db_pool_max)
                    .connection_timeout(ACQUIRE_TIMEOUT)
                    // The pool has a fixed size, so an idle connection would only be replaced.
                    .idle_timeout(None)
                    // A ping at each checkout would be a ninth round trip; see `begin`.
                    .test_on_check_out(false)
                    .error_handler(Box::new(LogErrors))
                    .event_handler(Box::new(counters.clone()))
                    .build_unchecked(manager),
                counters,
            ),
            false => {
                let places = Places::new(config.db_pool_max);
                Source::Single(Box::new(manager), Arc::new(places))
            }
        };
        Self {
            source,
            reset: config.db_reset && config.db_persistent,
            time_zone: config.db_time_zone,
            attempts: config.db_pool_max,
        }
    }

    /// None where there is no pool.
    pub(crate) fn pool_use(&self) -> Option<PoolUse> {
        match &self.source {
            Source::Pool(_, counters) => Some(counters.read()),
            Source::Single(..) => None,
        }
    }

    /// A connection, and what its first statement gives, which has to be one that may run twice.
    /// The time zone is set before if that is for each request to do.
    ///
    /// A blocking client does not look at a connection while that is idle. So it is the first
    /// statement that finds it closed, and that is then sent on the next one.
    pub(crate) fn begin(
        &self,
        query: Query,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<(Lease, Vec<Row>), Error> {
        let deadline = Instant::now() + ACQUIRE_TIMEOUT;
        let mut attempts = self.attempts;
        loop {
            let mut lease = self.acquire(deadline)?;
            let zone = match self.time_zone {
                TimeZone::Connection => Ok(()),
                TimeZone::Request => lease.set_time_zone(),
            };
            match zone.and_then(|()| lease.query(query, parameters)) {
                Ok(rows) => return Ok((lease, rows)),
                Err(error) if lease.is_lost() && attempts > 0 && Instant::now() < deadline => {
                    tracing::debug!("trying another connection: {}", error.chain());
                    attempts -= 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn acquire(&self, deadline: Instant) -> Result<Lease, Error> {
        match &self.source {
            Source::Pool(pool, _) => {
                let remaining = deadline.saturating_duration_since(Instant::now());
                let mut connection = pool.get_timeout(remaining).map_err(Error::unavailable)?;
                connection.idle = false;
                Ok(Lease::Pooled(connection))
            }
            Source::Single(manager, places) => {
                let place = places.take(deadline)?;
                let connection = manager.connect().map_err(Error::unavailable)?;
                Ok(Lease::Single {
                    connection,
                    _place: place,
                })
            }
        }
    }

    /// Resets the session if that is asked for. A connection that never gets here, because its
    /// handler panicked, is not used again.
    pub(crate) fn release(&self, mut lease: Lease) {
        if self.reset
            && !lease.has_failed()
            && let Err(error) = lease.reset()
        {
            tracing::warn!("{}", error.chain());
        }
        lease.idle = !lease.has_failed();
    }
}

/// The same database, with limits to how long a peer that is gone can keep a thread.
fn bounded(url: &postgres::Config) -> postgres::Config {
    let mut config = url.clone();
    let timeout = format!("-c statement_timeout={}", STATEMENT_TIMEOUT.as_millis());
    let options = match url.get_options() {
        Some(options) => format!("{options} {timeout}"),
        None => timeout,
    };
    config
        .options(&options)
        .connect_timeout(ACQUIRE_TIMEOUT)
        .tcp_user_timeout(STATEMENT_TIMEOUT)
        .keepalives_idle(KEEPALIVE)
        .keepalives_interval(KEEPALIVE);
    config
}

/// A connection that one request has for itself.
pub(crate) enum Lease {
    Pooled(PooledConnection<Manager>),
    Single {
        // Closed before its place is free.
        connection: Connection,
        _place: Place,
    },
}

impl Deref for Lease {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        match self {
            Self::Pooled(connection) => connection,
            Self::Single { connection, .. } => connection,
        }
    }
}

impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut Connection {
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
pub(crate) struct Manager {
    config: postgres::Config,
    prepare: bool,
}

impl ManageConnection for Manager {
    type Connection = Connection;
    type Error = postgres::Error;

    fn connect(&self) -> Result<Connection, postgres::Error> {
        Connection::open(&self.config, self.prepare)
    }

    fn is_valid(&self, connection: &mut Connection) -> Result<(), postgres::Error> {
        connection.ping()
    }

    fn has_broken(&self, connection: &mut Connection) -> bool {
        !connection.idle
    }
}

impl Debug for Manager {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Manager").finish_non_exhaustive()
    }
}

/// The pool opens connections in the background, where nobody would see an error.
#[derive(Debug)]
struct LogErrors;

impl HandleError<postgres::Error> for LogErrors {
    fn handle_error(&self, error: postgres::Error) {
        tracing::warn!("{}", Error::from(error).chain());
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
                .take(Instant::now() + Duration::from_millis(5))
                .is_err()
        );
        drop(place);
        assert!(places.take(Instant::now()).is_ok());
    }

    #[test]
    fn options_of_the_url_are_kept() {
        let url = "postgresql://app@db/tandem?options=-c%20work_mem%3D8MB";
        let config = bounded(&url.parse().unwrap());
        let expected = "-c work_mem=8MB -c statement_timeout=2000";
        assert_eq!(config.get_options(), Some(expected));
    }
}
