//! Connections: opened, prepared, handed out, reset and thrown away.

use std::time::Duration;

use bb8::{ErrorSink, ManageConnection, Pool, PooledConnection, RunError};
use futures_util::future::try_join_all;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Row, Statement};

use crate::config::Config;
use crate::errors::Error;
use crate::queries::Query;

/// Waiting for a connection, including the time to open one.
const ACQUIRE_TIMEOUT: Duration = Duration::from_millis(1500);
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) type Lease<'a> = PooledConnection<'a, Manager>;

#[derive(Clone, Debug)]
pub(crate) struct Database {
    pool: Pool<Manager>,
    reset: bool,
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
        }
    }

    /// Dead connections go back, where they are thrown away, until there is a live one.
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
                if !connection.client.is_closed() {
                    connection.dirty = self.reset;
                    return Ok(connection);
                }
            }
        })
        .await
    }

    /// Resets the session if that is asked for. A connection that never gets here, because its
    /// request was cancelled, stays dirty, so that nobody else uses it.
    pub(crate) async fn release(&self, mut connection: Lease<'_>) {
        if connection.dirty && !connection.failed {
            match within(STATEMENT_TIMEOUT, connection.reset()).await {
                Ok(()) => connection.dirty = false,
                Err(error) => connection.fail(&error),
            }
        }
    }
}

/// The client, what it has prepared, and whether it may be used again.
pub(crate) struct Connection {
    // Dropped before the statements, which then have nobody left to send their `Close` to.
    client: Client,
    statements: Option<Vec<Statement>>,
    driver: AbortHandle,
    dirty: bool,
    failed: bool,
}

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
                Err(error) if self.statements.is_some() && is_stale(&error) => {
                    self.statements = Some(prepare(&self.client).await?);
                    Ok(self.execute(query, parameters).await?)
                }
                result => Ok(result?),
            }
        })
        .await;
        if let Err(error @ Error::Unavailable(_)) = &result {
            self.fail(error);
        }
        result
    }

    async fn execute(
        &self,
        query: Query,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
        match &self.statements {
            Some(statements) => {
                self.client
                    .query(&statements[query as usize], parameters)
                    .await
            }
            None => {
                let types = query.parameter_types().iter().cloned();
                let typed: Vec<_> = parameters.iter().copied().zip(types).collect();
                self.client.query_typed(query.sql(), &typed).await
            }
        }
    }

    /// DISCARD ALL takes the prepared statements with it, so they are prepared anew.
    async fn reset(&mut self) -> Result<(), Error> {
        let prepared = self.statements.take().is_some();
        self.client.batch_execute("DISCARD ALL").await?;
        if prepared {
            self.statements = Some(prepare(&self.client).await?);
        }
        Ok(())
    }

    /// Closes the socket at once: the driver would first wait for answers that are outstanding.
    fn fail(&mut self, error: &Error) {
        tracing::debug!("closing a connection: {}", error.chain());
        self.failed = true;
        self.driver.abort();
    }
}

/// All statements in about one round trip: the requests are sent before the first answer is read.
async fn prepare(client: &Client) -> Result<Vec<Statement>, tokio_postgres::Error> {
    let statements =
        Query::ALL.map(|query| client.prepare_typed(query.sql(), query.parameter_types()));
    try_join_all(statements).await
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

/// Opens connections for the pool, and says which of them it may keep.
#[derive(Debug)]
pub(crate) struct Manager {
    config: tokio_postgres::Config,
    prepare: bool,
    persistent: bool,
}

impl ManageConnection for Manager {
    type Connection = Connection;
    type Error = Error;

    async fn connect(&self) -> Result<Connection, Error> {
        within(ACQUIRE_TIMEOUT, async {
            let (client, driver) = self
                .config
                .connect(NoTls)
                .await
                .map_err(Error::unavailable)?;
            let driver = tokio::spawn(async move {
                if let Err(error) = driver.await {
                    tracing::debug!("connection lost: {error}");
                }
            });
            let statements = match self.prepare {
                true => Some(prepare(&client).await?),
                false => None,
            };
            Ok(Connection {
                client,
                statements,
                driver: driver.abort_handle(),
                dirty: false,
                failed: false,
            })
        })
        .await
    }

    async fn is_valid(&self, connection: &mut Connection) -> Result<(), Error> {
        Ok(connection.client.check_connection().await?)
    }

    fn has_broken(&self, connection: &mut Connection) -> bool {
        !self.persistent || connection.dirty || connection.failed || connection.client.is_closed()
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
