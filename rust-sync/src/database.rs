//! The pool of connections, and the statements that each connection has prepared.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use common::queries::Query;
use common::settings::{DatabaseSettings, Prepare, TimeZone};
use postgres::types::ToSql;
use postgres::{Client, Config, GenericClient, NoTls, Row, Statement};
use r2d2::{ManageConnection, Pool};
use r2d2_postgres::PostgresConnectionManager;
use scheduled_thread_pool::ScheduledThreadPool;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::errors::Error;

type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// How long a request waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_millis(1500);
/// When what was sent is not acknowledged for so long, the connection is lost.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(3);

pub(crate) struct Database {
    pool: Pool<Manager>,
    /// The queue for a connection. In r2d2's own, newcomers overtake.
    places: Arc<Semaphore>,
    reset: bool,
}

impl Database {
    /// The pool opens its connections in the background: the server starts, and answers, without a database.
    pub(crate) fn new(settings: &DatabaseSettings) -> Self {
        let size = settings.db_pool_max.get();
        let mut config = Config::from(settings.database_url.clone());
        config
            .connect_timeout(ACQUIRE_TIMEOUT)
            .tcp_user_timeout(TCP_USER_TIMEOUT);
        let pool = Pool::builder()
            .max_size(size.into())
            .min_idle(Some(if settings.db_persistent { size.into() } else { 0 }))
            .idle_timeout(None)
            .connection_timeout(ACQUIRE_TIMEOUT)
            // A ping at each checkout would be a ninth round trip.
            .test_on_check_out(false)
            .thread_pool(Arc::new(ScheduledThreadPool::new(size.into())))
            .build_unchecked(Manager {
                opener: PostgresConnectionManager::new(config, NoTls),
                settings: settings.clone(),
            });
        let places = Arc::new(Semaphore::new(size.into()));
        Self {
            pool,
            places,
            reset: settings.db_reset,
        }
    }

    /// Lends a connection to the work of a request, which blocks a thread.
    pub(crate) async fn lend<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&mut Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let place = timeout(ACQUIRE_TIMEOUT, Arc::clone(&self.places).acquire_owned()).await;
        let place = place.map_err(Error::unavailable)?;
        let result = spawn_blocking(move || {
            // The connection goes back before its place is free.
            let _place = place;
            let mut connection = self.pool.get().map_err(Error::unavailable)?;
            connection.in_use = true;
            let result = work(&mut connection);
            if self.reset {
                connection.reset()?;
            }
            connection.in_use = matches!(result, Err(Error::Unavailable(_) | Error::Internal(_)));
            result
        });
        result.await.map_err(Error::internal)?
    }
}

/// A connection, and what it has prepared.
pub(crate) struct Connection {
    // Dropped before its statements, which then have nobody left to close them.
    pub(crate) client: Client,
    pub(crate) statements: Statements,
    time_zone: TimeZone,
    /// Still true when it comes back: its request failed.
    in_use: bool,
}

impl Connection {
    pub(crate) fn query(&mut self, query: &Query, parameters: Parameters<'_>) -> Result<Vec<Row>, Error> {
        self.statements.query(&mut self.client, query, parameters)
    }

    /// Where it is for each request to set.
    pub(crate) fn set_time_zone(&mut self) -> Result<(), Error> {
        if self.time_zone == TimeZone::Request {
            self.client.batch_execute("SET TIME ZONE 'UTC'")?;
        }
        Ok(())
    }

    /// The session loses its prepared statements: they are prepared again when they are used.
    fn reset(&mut self) -> Result<(), Error> {
        self.statements.prepared.clear();
        Ok(self.client.batch_execute("DISCARD ALL")?)
    }
}

/// The statements that a connection has prepared, by name.
pub(crate) struct Statements {
    prepared: HashMap<&'static str, Statement>,
    prepare: Prepare,
}

impl Statements {
    /// Runs a statement on a connection, or in a transaction, and prepares it first if that is due.
    pub(crate) fn query(
        &mut self,
        client: &mut impl GenericClient,
        query: &Query,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, Error> {
        if self.prepare == Prepare::Never {
            let types = query.types.iter().cloned();
            let typed: Vec<_> = parameters.iter().copied().zip(types).collect();
            return Ok(client.query_typed(query.sql, &typed)?);
        }
        let statement = match self.prepared.get(query.name) {
            Some(statement) => statement.clone(),
            None => client.prepare_typed(query.sql, query.types)?,
        };
        if self.prepare == Prepare::Once {
            self.prepared.insert(query.name, statement.clone());
        }
        Ok(client.query(&statement, parameters)?)
    }
}

/// Opens connections for the pool, and says which of them it may keep.
struct Manager {
    opener: PostgresConnectionManager<NoTls>,
    settings: DatabaseSettings,
}

impl ManageConnection for Manager {
    type Connection = Connection;
    type Error = postgres::Error;

    fn connect(&self) -> Result<Connection, postgres::Error> {
        Ok(Connection {
            client: self.opener.connect()?,
            statements: Statements {
                prepared: HashMap::new(),
                prepare: self.settings.db_prepare,
            },
            time_zone: self.settings.db_time_zone,
            in_use: false,
        })
    }

    /// Never asked: there is no test at a checkout.
    fn is_valid(&self, _: &mut Connection) -> Result<(), postgres::Error> {
        Ok(())
    }

    fn has_broken(&self, connection: &mut Connection) -> bool {
        connection.in_use || connection.client.is_closed() || !self.settings.db_persistent
    }
}
