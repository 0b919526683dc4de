//! Connections: prepared, handed out, reset and thrown away.

mod manager;

use std::mem;
use std::time::Duration;

use bb8::{Pool, PooledConnection, RunError};
use futures_util::future::try_join_all;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

use self::manager::{LogErrors, Manager};
use crate::config::{Config, Prepare, TimeZone};
use crate::errors::Error;
use crate::models::PoolUse;
use crate::queries::Query;

/// Waiting for a connection, including the time to open one.
const ACQUIRE_TIMEOUT: Duration = Duration::from_millis(1500);
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) type Lease<'a> = PooledConnection<'a, Manager>;

#[derive(Clone, Debug)]
pub(crate) struct Database {
    pool: Pool<Manager>,
    reset: bool,
    time_zone: TimeZone,
}

impl Database {
    /// Opens nothing yet: the server starts, and answers, without a database.
    pub(crate) fn new(config: &Config) -> Self {
        let pool = Pool::builder()
            .max_size(config.db_pool_max)
            .connection_timeout(ACQUIRE_TIMEOUT)
            // A ping at each checkout would be a ninth round trip; `acquire` looks at the socket.
            .test_on_check_out(false)
            .error_sink(Box::new(LogErrors))
            .build_unchecked(Manager {
                config: config.database_url.clone(),
                prepare: config.db_prepare,
                persistent: config.db_persistent,
            });
        Self {
            pool,
            reset: config.db_reset && config.db_persistent,
            time_zone: config.db_time_zone,
        }
    }

    /// What bb8 counts by itself. A wait that ended without a connection is one of them, too.
    pub(crate) fn pool_use(&self) -> PoolUse {
        let counted = self.pool.state().statistics;
        PoolUse {
            checkouts: counted.get_direct + counted.get_waited + counted.get_timed_out,
            wait_us: counted.get_wait_time.as_micros(),
        }
    }

    /// The connection that a request begins with: its time zone may be for the request to set.
    pub(crate) async fn begin(&self, queries: &[Query]) -> Result<Lease<'_>, Error> {
        let mut connection = self.acquire(queries).await?;
        if self.time_zone == TimeZone::Request {
            connection.command("SET TIME ZONE 'UTC'").await?;
        }
        Ok(connection)
    }

    /// A live connection on which these statements are prepared. Dead ones go back, where they are
    /// thrown away.
    pub(crate) async fn acquire(&self, queries: &[Query]) -> Result<Lease<'_>, Error> {
        within(ACQUIRE_TIMEOUT, async {
            loop {
                let mut connection = match self.pool.get().await {
                    Ok(connection) => connection,
                    Err(RunError::User(error)) => return Err(error),
                    Err(RunError::TimedOut) => {
                        return Err(Error::unavailable("no connection in time"));
                    }
                };
                if !connection.client.is_closed() {
                    connection.dirty = self.reset;
                    connection.prepare(queries).await?;
                    return Ok(connection);
                }
            }
        })
        .await
    }

    /// Resets the session if that is asked for. A connection that never gets here, because its
    /// request was cancelled, stays dirty, so that nobody else uses it.
    pub(crate) async fn release(&self, mut connection: Lease<'_>) {
        if connection.dirty
            && !connection.failed
            && let Err(error) = connection.reset().await
        {
            tracing::warn!("not reset: {}", error.chain());
        }
    }
}

/// The client, what it has prepared, and whether it may be used again.
pub(crate) struct Connection {
    // Dropped before the statements, which then have nobody left to send their `Close` to.
    client: Client,
    statements: Statements,
    prepares: Prepare,
    driver: AbortHandle,
    /// The session is still to be reset.
    dirty: bool,
    /// In a transaction, or in the middle of preparing.
    busy: bool,
    failed: bool,
}

/// By the number of their query.
type Statements = [Option<Statement>; Query::ALL.len()];
const NOTHING_PREPARED: Statements = [const { None }; Query::ALL.len()];

impl Connection {
    /// One statement, one round trip.
    pub(crate) async fn query(
        &mut self,
        query: Query,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        let result = within(STATEMENT_TIMEOUT, async {
            match self.execute(query, parameters).await {
                // The database was replaced, or its tables were: what was prepared is gone.
                Err(error) if self.prepares == Prepare::Once && is_stale(&error) => {
                    self.statements = NOTHING_PREPARED;
                    self.prepare(&[query]).await?;
                    Ok(self.execute(query, parameters).await?)
                }
                result => Ok(result?),
            }
        })
        .await;
        self.keep_unless_away(result)
    }

    async fn execute(
        &self,
        query: Query,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
        match &self.statements[query as usize] {
            Some(statement) => self.client.query(statement, parameters).await,
            None if self.prepares == Prepare::EachTime => {
                let types = query.parameter_types();
                let statement = self.client.prepare_typed(query.sql(), types).await?;
                self.client.query(&statement, parameters).await
            }
            None => {
                let types = query.parameter_types().iter().cloned();
                let typed: Vec<_> = parameters.iter().copied().zip(types).collect();
                self.client.query_typed(query.sql(), &typed).await
            }
        }
    }

    /// What is missing, in one round trip: the requests are sent before the first answer is read.
    async fn prepare(&mut self, queries: &[Query]) -> Result<(), Error> {
        let missing = queries.iter().filter(|&&query| {
            self.prepares == Prepare::Once && self.statements[query as usize].is_none()
        });
        let missing: Vec<_> = missing.copied().collect();
        if missing.is_empty() {
            return Ok(());
        }
        let busy = mem::replace(&mut self.busy, true);
        let statements = missing.iter().map(|query| {
            self.client
                .prepare_typed(query.sql(), query.parameter_types())
        });
        let statements = try_join_all(statements).await?;
        for (query, statement) in missing.into_iter().zip(statements) {
            self.statements[query as usize] = Some(statement);
        }
        self.busy = busy;
        Ok(())
    }

    /// Opens a transaction. Should its request be cancelled before `end`, nobody else gets the
    /// connection.
    pub(crate) async fn begin(&mut self) -> Result<(), Error> {
        self.busy = true;
        self.command("BEGIN").await
    }

    /// Commits if all went well, rolls back if not.
    pub(crate) async fn end<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        if !self.failed {
            let command = if result.is_ok() { "COMMIT" } else { "ROLLBACK" };
            self.command(command).await?;
            self.busy = false;
        }
        result
    }

    /// DISCARD ALL takes the prepared statements with it.
    async fn reset(&mut self) -> Result<(), Error> {
        self.statements = NOTHING_PREPARED;
        self.command("DISCARD ALL").await?;
        self.dirty = false;
        Ok(())
    }

    async fn command(&mut self, sql: &str) -> Result<(), Error> {
        let result = within(STATEMENT_TIMEOUT, async {
            Ok(self.client.batch_execute(sql).await?)
        })
        .await;
        self.keep_unless_away(result)
    }

    fn keep_unless_away<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        if let Err(error @ Error::Unavailable(_)) = &result {
            self.fail(error);
        }
        result
    }

    /// Closes the socket at once: the driver would first wait for answers that are outstanding.
    fn fail(&mut self, error: &Error) {
        tracing::debug!("closing a connection: {}", error.chain());
        self.failed = true;
        self.driver.abort();
    }
}

/// "Prepared statement does not exist", "cached plan must not change result type".
fn is_stale(error: &tokio_postgres::Error) -> bool {
    matches!(
        error.code(),
        Some(&SqlState::INVALID_SQL_STATEMENT_NAME | &SqlState::FEATURE_NOT_SUPPORTED)
    )
}

async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    match timeout(limit, work).await {
        Ok(result) => result,
        Err(_) => Err(Error::unavailable(format!("no answer within {limit:?}"))),
    }
}
