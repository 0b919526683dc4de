//! The pool of connections, and the statements that each connection has prepared.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::time::Duration;

use bb8::{ManageConnection, Pool, QueueStrategy};
use bb8_postgres::PostgresConnectionManager;
use common::queries::Query;
use common::settings::{DatabaseSettings, Prepare, TimeZone};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, GenericClient, NoTls, Row, Statement};

use crate::errors::Error;

type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// How long a request waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_millis(1500);
/// How long a request has its connection: PostgreSQL ends a statement after 2 s, PgBouncer one of a database that hangs after 3 s.
const WORK_TIMEOUT: Duration = Duration::from_secs(4);

#[derive(Debug)]
pub(crate) struct Database {
    pool: Pool<Manager>,
    /// The queue for a connection. In bb8's own, newcomers overtake.
    places: Semaphore,
    settings: DatabaseSettings,
}

impl Database {
    /// The pool opens its connections in the background: the server starts, and answers, without a database.
    pub(crate) fn new(settings: &DatabaseSettings) -> Self {
        let size = settings.db_pool_max.get();
        let pool = Pool::builder()
            .max_size(size.into())
            .min_idle(settings.db_persistent.then_some(size.into()))
            .idle_timeout(None)
            .queue_strategy(QueueStrategy::Lifo)
            .connection_timeout(ACQUIRE_TIMEOUT)
            .build_unchecked(Manager {
                opener: PostgresConnectionManager::new(settings.database_url.clone(), NoTls),
                settings: settings.clone(),
            });
        Self {
            pool,
            places: Semaphore::new(size.into()),
            settings: settings.clone(),
        }
    }

    /// Lends a connection to the work of a request.
    pub(crate) async fn lend<T>(
        &self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let place = timeout(ACQUIRE_TIMEOUT, self.places.acquire());
        // The connection goes back before its place is free.
        let _place = place.await.map_err(Error::unavailable)?;
        let mut connection = self.pool.get().await.map_err(Error::unavailable)?;
        connection.in_use = true;
        let result = timeout(WORK_TIMEOUT, work(&mut connection));
        let result = result.await.map_err(Error::unavailable)?;
        if self.settings.db_reset {
            connection.reset().await?;
        }
        connection.in_use = matches!(result, Err(Error::Unavailable(_) | Error::Internal(_)));
        result
    }
}

/// A connection, and what it has prepared.
pub(crate) struct Connection {
    // Dropped before its statements, which then have nobody left to close them.
    pub(crate) client: Client,
    pub(crate) statements: Statements,
    time_zone: TimeZone,
    /// Still true when it comes back: its request failed or was cancelled, and an answer may be outstanding.
    in_use: bool,
}

impl Connection {
    pub(crate) async fn query(&mut self, query: &Query, parameters: Parameters<'_>) -> Result<Vec<Row>, Error> {
        self.statements.query(&self.client, query, parameters).await
    }

    /// Where it is for each request to set.
    pub(crate) async fn set_time_zone(&self) -> Result<(), Error> {
        if self.time_zone == TimeZone::Request {
            self.client.batch_execute("SET TIME ZONE 'UTC'").await?;
        }
        Ok(())
    }

    /// The session loses its prepared statements: they are prepared again when they are used.
    async fn reset(&mut self) -> Result<(), Error> {
        self.statements.prepared.clear();
        Ok(self.client.batch_execute("DISCARD ALL").await?)
    }
}

/// The statements that a connection has prepared, by name.
pub(crate) struct Statements {
    prepared: HashMap<&'static str, Statement>,
    prepare: Prepare,
}

impl Statements {
    /// Runs a statement on a connection, or in a transaction, and prepares it first if that is due.
    pub(crate) async fn query(
        &mut self,
        client: &impl GenericClient,
        query: &Query,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, Error> {
        if self.prepare == Prepare::Never {
            let types = query.types.iter().cloned();
            let typed: Vec<_> = parameters.iter().copied().zip(types).collect();
            return Ok(client.query_typed(query.sql, &typed).await?);
        }
        let statement = match self.prepared.get(query.name) {
            Some(statement) => statement.clone(),
            None => client.prepare_typed(query.sql, query.types).await?,
        };
        if self.prepare == Prepare::Once {
            self.prepared.insert(query.name, statement.clone());
        }
        Ok(client.query(&statement, parameters).await?)
    }
}

/// Opens connections for the pool, and says which of them it may keep.
#[derive(Debug)]
pub(crate) struct Manager {
    opener: PostgresConnectionManager<NoTls>,
    settings: DatabaseSettings,
}

impl ManageConnection for Manager {
    type Connection = Connection;
    type Error = Error;

    async fn connect(&self) -> Result<Connection, Error> {
        let client = timeout(ACQUIRE_TIMEOUT, self.opener.connect());
        let client = client.await.map_err(Error::unavailable)?;
        Ok(Connection {
            client: client.inspect_err(|error| tracing::warn!(error = error as &dyn StdError, "no connection"))?,
            statements: Statements {
                prepared: HashMap::new(),
                prepare: self.settings.db_prepare,
            },
            time_zone: self.settings.db_time_zone,
            in_use: false,
        })
    }

    /// Asked at each checkout. A ping would be a ninth round trip, and a socket that was closed is noticed without one.
    async fn is_valid(&self, connection: &mut Connection) -> Result<(), Error> {
        match connection.client.is_closed() {
            true => Err(Error::unavailable("the connection was closed")),
            false => Ok(()),
        }
    }

    fn has_broken(&self, connection: &mut Connection) -> bool {
        connection.in_use || connection.client.is_closed() || !self.settings.db_persistent
    }
}
