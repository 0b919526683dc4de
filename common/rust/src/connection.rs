//! A connection to the database: what it has prepared, and whether it may be used again.

use std::mem;
use std::pin::Pin;
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::{Instant, Sleep, sleep, timeout};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Row, Statement};

use crate::database::Prepare;
use crate::errors::Error;
use crate::queries::Query;

/// Waiting for a connection, including the time to open one.
pub const ACQUIRE_TIMEOUT: Duration = Duration::from_millis(1500);
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(2);

pub type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// By the number of their query.
type Statements = [Option<Statement>; Query::ALL.len()];
const NOTHING_PREPARED: Statements = [const { None }; Query::ALL.len()];

/// The client, and what it has prepared.
struct Session {
    // Dropped before the statements, which then have nobody left to send their `Close` to.
    client: Client,
    statements: Statements,
    prepare: Prepare,
}

/// A session, and whether it may be used again.
#[expect(
    missing_debug_implementations,
    reason = "tokio-postgres' statements have none"
)]
pub struct Connection {
    session: Session,
    driver: AbortHandle,
    /// The limit of the statement that is under way. One timer for all of them: to put one off costs
    /// less than to set up another.
    limit: Pin<Box<Sleep>>,
    /// The session is still to be reset.
    dirty: bool,
    /// In a transaction, or an answer is outstanding: the request was cancelled there, or the time
    /// for a statement was up.
    unfinished: bool,
}

impl Session {
    /// Prepares again what is stale, except in a transaction, which is lost with it.
    async fn query(
        &mut self,
        query: Query,
        parameters: Parameters<'_>,
        in_transaction: bool,
    ) -> Result<Vec<Row>, Error> {
        let mut result = self.execute(query, parameters).await;
        // The database was replaced, or its tables were: what was prepared is gone.
        if self.prepare == Prepare::Once && !in_transaction && result.as_ref().is_err_and(is_stale)
        {
            self.statements = NOTHING_PREPARED;
            result = self.execute(query, parameters).await;
        }
        if self.prepare == Prepare::EachTime {
            self.statements[query as usize] = None;
        }
        Ok(result?)
    }

    async fn execute(
        &mut self,
        query: Query,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
        let types = query.parameter_types();
        if self.prepare == Prepare::Never {
            let types = types.iter().cloned();
            let typed: Vec<_> = parameters.iter().copied().zip(types).collect();
            return self.client.query_typed(query.sql(), &typed).await;
        }
        let statement = match &mut self.statements[query as usize] {
            Some(statement) => statement,
            none => none.insert(self.client.prepare_typed(query.sql(), types).await?),
        };
        self.client.query(statement, parameters).await
    }
}

impl Connection {
    /// Its driver is a task of the runtime that this is awaited on.
    pub async fn open(config: &tokio_postgres::Config, prepare: Prepare) -> Result<Self, Error> {
        let (client, driver) = within(ACQUIRE_TIMEOUT, async {
            config.connect(NoTls).await.map_err(Error::unavailable)
        })
        .await?;
        let driver = tokio::spawn(async move {
            if let Err(error) = driver.await {
                tracing::debug!("connection lost: {error}");
            }
        });
        let session = Session {
            client,
            statements: NOTHING_PREPARED,
            prepare,
        };
        Ok(Self {
            session,
            driver: driver.abort_handle(),
            limit: Box::pin(sleep(STATEMENT_TIMEOUT)),
            dirty: false,
            unfinished: false,
        })
    }

    /// Whether it may be used again.
    pub fn is_in_order(&self) -> bool {
        !self.dirty && !self.unfinished && self.is_open()
    }

    pub fn is_open(&self) -> bool {
        !self.session.client.is_closed()
    }

    /// Begins the use of a connection whose session is reset after it if `reset` says so. Where that
    /// does not happen, because its request was cancelled, nobody else uses it.
    pub fn lend(&mut self, reset: bool) {
        self.dirty = reset;
    }

    /// Resets the session if that is asked for.
    pub async fn give_back(&mut self) {
        if self.dirty
            && !self.unfinished
            && let Err(error) = self.reset().await
        {
            tracing::warn!("not reset: {}", error.chain());
        }
    }

    /// One statement; one round trip, and another when it is prepared.
    pub async fn query(
        &mut self,
        query: Query,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, Error> {
        let before = self.start();
        let session = &mut self.session;
        let result = limited(
            self.limit.as_mut(),
            session.query(query, parameters, before),
        )
        .await;
        self.finish(before, result)
    }

    pub async fn begin(&mut self) -> Result<(), Error> {
        self.command("BEGIN").await?;
        self.unfinished = true;
        Ok(())
    }

    /// Commits if all went well, rolls back if not.
    pub async fn end<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        let command = match result {
            Ok(_) => "COMMIT",
            // The connection is thrown away.
            Err(Error::Unavailable(_)) => return result,
            Err(_) => "ROLLBACK",
        };
        self.command(command).await?;
        self.unfinished = false;
        result
    }

    /// As a simple query: one round trip, and nothing to prepare.
    pub async fn set_time_zone(&mut self) -> Result<(), Error> {
        self.command("SET TIME ZONE 'UTC'").await
    }

    /// DISCARD ALL takes the prepared statements with it, so they are prepared anew when they are used.
    async fn reset(&mut self) -> Result<(), Error> {
        self.session.statements = NOTHING_PREPARED;
        self.command("DISCARD ALL").await?;
        self.dirty = false;
        Ok(())
    }

    async fn command(&mut self, sql: &str) -> Result<(), Error> {
        let before = self.start();
        let client = &self.session.client;
        let command = async { Ok(client.batch_execute(sql).await?) };
        let result = limited(self.limit.as_mut(), command).await;
        self.finish(before, result)
    }

    /// From here to `finish` an answer is outstanding. A request that is cancelled never gets there.
    fn start(&mut self) -> bool {
        mem::replace(&mut self.unfinished, true)
    }

    fn finish<T>(&mut self, before: bool, result: Result<T, Error>) -> Result<T, Error> {
        self.unfinished = before || matches!(result, Err(Error::Unavailable(_)));
        result
    }
}

impl Drop for Connection {
    /// The driver of a client that has gone would wait for its answers first, for as long as it takes.
    fn drop(&mut self) {
        if self.unfinished {
            self.driver.abort();
        }
    }
}

/// "Prepared statement does not exist", "cached plan must not change result type".
fn is_stale(error: &tokio_postgres::Error) -> bool {
    matches!(
        error.code(),
        Some(&SqlState::INVALID_SQL_STATEMENT_NAME | &SqlState::FEATURE_NOT_SUPPORTED)
    )
}

/// The result of the statement, or 503 where that takes too long. The connection is not used again then.
async fn limited<T>(
    mut limit: Pin<&mut Sleep>,
    statement: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    limit.as_mut().reset(Instant::now() + STATEMENT_TIMEOUT);
    tokio::select! {
        biased;
        result = statement => result,
        () = limit => Err(late(STATEMENT_TIMEOUT)),
    }
}

/// The result of the work, or 503 where that takes too long.
pub async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    match timeout(limit, work).await {
        Ok(result) => result,
        Err(_) => Err(late(limit)),
    }
}

fn late(limit: Duration) -> Error {
    Error::unavailable(format!("no answer within {limit:?}"))
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    /// `AuthenticationOk` and `ReadyForQuery`.
    const LOGGED_IN: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
    const GIVES_UP: Duration = Duration::from_millis(200);

    /// A connection to a server that has stopped after the login, and the server's end of it.
    async fn silent() -> (Connection, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = format!("postgresql://app@127.0.0.1:{port}/tandem?sslmode=disable");
        let config = url.parse().unwrap();
        let server = async {
            let mut stream = listener.accept().await.unwrap().0;
            stream.read_buf(&mut Vec::new()).await.unwrap();
            stream.write_all(LOGGED_IN).await.unwrap();
            stream
        };
        let (connection, stream) = tokio::join!(Connection::open(&config, Prepare::Once), server);
        let connection = connection.unwrap();
        assert!(connection.is_in_order());
        (connection, stream)
    }

    /// The client closes it although its answer never came.
    async fn assert_closed(connection: Connection, mut server: TcpStream) {
        drop(connection);
        let mut heard = Vec::new();
        let closed = timeout(GIVES_UP, server.read_to_end(&mut heard)).await;
        assert!(closed.is_ok(), "the socket is still open");
    }

    #[tokio::test]
    async fn a_statement_that_is_given_up_leaves_nothing_to_use_again() {
        let (mut connection, server) = silent().await;
        let asked = connection.query(Query::Session, &[&"key"]);
        assert!(timeout(GIVES_UP, asked).await.is_err());
        assert!(!connection.is_in_order());
        assert_closed(connection, server).await;
    }

    #[tokio::test]
    async fn so_does_a_command() {
        for step in ["begin", "time zone", "reset"] {
            let (mut connection, server) = silent().await;
            connection.lend(true);
            let gone = match step {
                "begin" => timeout(GIVES_UP, connection.begin()).await.is_err(),
                "reset" => timeout(GIVES_UP, connection.give_back()).await.is_err(),
                _ => timeout(GIVES_UP, connection.set_time_zone()).await.is_err(),
            };
            assert!(gone && !connection.is_in_order(), "{step}");
            assert_closed(connection, server).await;
        }
    }

    #[tokio::test]
    async fn a_server_that_says_nothing_is_given_up_after_two_seconds() {
        let (mut connection, server) = silent().await;
        let began = std::time::Instant::now();
        let answer = connection.query(Query::Session, &[&"key"]).await;
        assert!(matches!(answer, Err(Error::Unavailable(_))));
        let took = began.elapsed();
        assert!((2..4).contains(&took.as_secs()), "{took:?}");
        assert!(!connection.is_in_order());
        assert_closed(connection, server).await;
    }
}
