//! The pool: connections are awaited, and no thread waits with them.

use bb8::{ErrorSink, ManageConnection, Pool, PooledConnection, QueueStrategy, RunError};
use common::connection::{ACQUIRE_TIMEOUT, Connection, within};
use common::database::{Prepare, TimeZone};
use common::errors::Error;
use common::models::PoolUse;

use crate::config::Config;

pub(crate) type Lease<'a> = PooledConnection<'a, Manager>;

#[derive(Clone, Debug)]
pub(crate) struct Database {
    pool: Pool<Manager>,
    persistent: bool,
    reset: bool,
    time_zone: TimeZone,
}

impl Database {
    /// Waits for nothing: the server starts, and answers, without a database.
    pub(crate) fn new(config: &Config) -> Self {
        let database = &config.database;
        let persistent = database.db_persistent;
        let pool = Pool::builder()
            .max_size(database.db_pool_max)
            .min_idle(persistent.then_some(database.db_pool_max))
            // The pool has a fixed size, so an idle connection would only be replaced.
            .idle_timeout(None)
            .queue_strategy(QueueStrategy::Lifo)
            .connection_timeout(ACQUIRE_TIMEOUT)
            // A ping at each checkout would be a ninth round trip; `acquire` looks at the socket.
            .test_on_check_out(false)
            .error_sink(Box::new(LogErrors))
            .build_unchecked(Manager {
                config: database.database_url.clone(),
                prepare: config.db_prepare,
                persistent,
            });
        Self {
            pool,
            persistent,
            reset: database.db_reset && persistent,
            time_zone: database.db_time_zone,
        }
    }

    /// What bb8 counts by itself. A wait that ended without a connection is one of them, too.
    pub(crate) fn pool_use(&self) -> Option<PoolUse> {
        let counted = self.pool.state().statistics;
        self.persistent.then(|| PoolUse {
            checkouts: counted.get_direct + counted.get_waited + counted.get_timed_out,
            wait_us: u64::try_from(counted.get_wait_time.as_micros()).unwrap_or(u64::MAX),
        })
    }

    /// The connection that a request begins with: its time zone may be for the request to set.
    pub(crate) async fn begin(&self) -> Result<Lease<'_>, Error> {
        let mut connection = self.acquire().await?;
        if self.time_zone == TimeZone::Request {
            connection.set_time_zone().await?;
        }
        Ok(connection)
    }

    /// An open connection. Others go back, where they are thrown away.
    pub(crate) async fn acquire(&self) -> Result<Lease<'_>, Error> {
        within(ACQUIRE_TIMEOUT, async {
            loop {
                let mut connection = match self.pool.get().await {
                    Ok(connection) => connection,
                    Err(RunError::User(error)) => return Err(error),
                    Err(RunError::TimedOut) => {
                        return Err(Error::unavailable("no connection in time"));
                    }
                };
                if connection.is_open() {
                    connection.lend(self.reset);
                    return Ok(connection);
                }
            }
        })
        .await
    }

    pub(crate) async fn release(&self, mut connection: Lease<'_>) {
        connection.give_back().await;
    }
}

/// Opens connections for the pool, and says which of them it may keep.
#[derive(Debug)]
pub(crate) struct Manager {
    config: tokio_postgres::Config,
    prepare: Prepare,
    persistent: bool,
}

impl ManageConnection for Manager {
    type Connection = Connection;
    type Error = Error;

    async fn connect(&self) -> Result<Connection, Error> {
        Connection::open(&self.config, self.prepare).await
    }

    /// Never asked: there is no test at a checkout.
    async fn is_valid(&self, _: &mut Connection) -> Result<(), Error> {
        Ok(())
    }

    fn has_broken(&self, connection: &mut Connection) -> bool {
        !self.persistent || !connection.is_in_order()
    }
}

/// Connections are opened in the background, where nobody would see an error.
#[derive(Clone, Debug)]
struct LogErrors;

impl ErrorSink<Error> for LogErrors {
    fn sink(&self, error: Error) {
        tracing::warn!("{}", error.chain());
    }

    fn boxed_clone(&self) -> Box<dyn ErrorSink<Error>> {
        Box::new(self.clone())
    }
}
