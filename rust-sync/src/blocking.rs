//! A connection whose caller blocks until the answer is there: what `postgres` is to tokio-postgres,
//! but with a limit to how long. <https://docs.rs/postgres/0.19/postgres/> has none.

use std::io;

use common::connection::{Connection, Parameters};
use common::database::Prepare;
use common::errors::Error;
use common::queries::Query;
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tokio_postgres::Row;

pub(crate) struct Blocking {
    // Dropped before its driver.
    connection: Connection,
    driver: Driver,
}

impl Blocking {
    pub(crate) fn open(config: &tokio_postgres::Config, prepare: Prepare) -> Result<Self, Error> {
        let driver = Driver::new().map_err(Error::unavailable)?;
        let connection = driver.0.block_on(Connection::open(config, prepare))?;
        Ok(Self { connection, driver })
    }

    /// Whether the other side has not closed it, as far as is known without asking.
    pub(crate) fn is_open(&self) -> bool {
        self.driver.catch_up();
        self.connection.is_open()
    }

    pub(crate) fn is_in_order(&self) -> bool {
        self.connection.is_in_order()
    }

    pub(crate) fn lend(&mut self, reset: bool) {
        self.connection.lend(reset);
    }

    pub(crate) fn give_back(&mut self) {
        self.driver.0.block_on(self.connection.give_back());
    }

    pub(crate) fn query(
        &mut self,
        query: Query,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, Error> {
        let answer = self.connection.query(query, parameters);
        self.driver.0.block_on(answer)
    }

    pub(crate) fn set_time_zone(&mut self) -> Result<(), Error> {
        self.driver.0.block_on(self.connection.set_time_zone())
    }

    /// Commits if the work succeeds; all of it is rolled back otherwise.
    pub(crate) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.driver.0.block_on(self.connection.begin())?;
        let result = work(self);
        self.driver.0.block_on(self.connection.end(result))
    }
}

/// The runtime of one connection. It runs only while a thread waits for it.
struct Driver(Runtime);

impl Driver {
    fn new() -> io::Result<Self> {
        Builder::new_current_thread().enable_all().build().map(Self)
    }

    /// Acts on what has happened since, and does not wait: once around to hear of it, once to act.
    fn catch_up(&self) {
        self.0.block_on(async {
            yield_now().await;
            yield_now().await;
        });
    }
}

impl Drop for Driver {
    /// The connection has gone, and its task says so to the server.
    fn drop(&mut self) {
        self.catch_up();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    /// `AuthenticationOk` and `ReadyForQuery`.
    const LOGGED_IN: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";

    /// A connection to a server that logs in whoever comes, and says nothing more until `life` is over.
    fn silent(life: Duration) -> (Blocking, thread::JoinHandle<Vec<u8>>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
            stream.write_all(LOGGED_IN).unwrap();
            stream.set_read_timeout(Some(life)).unwrap();
            let mut heard = Vec::new();
            let _ = stream.read_to_end(&mut heard);
            heard
        });
        let url = format!("postgresql://app@127.0.0.1:{port}/tandem?sslmode=disable");
        let connection = Blocking::open(&url.parse().unwrap(), Prepare::Once).unwrap();
        assert!(connection.is_open() && connection.is_in_order());
        (connection, server)
    }

    #[test]
    fn a_server_that_says_nothing_keeps_no_thread() {
        let (mut connection, server) = silent(Duration::from_secs(60));
        let began = Instant::now();
        let answer = connection.query(Query::Session, &[&"key"]);
        assert!(matches!(answer, Err(Error::Unavailable(_))));
        let took = began.elapsed();
        assert!((2..4).contains(&took.as_secs()), "{took:?}");
        assert!(!connection.is_in_order());
        drop(connection);
        server.join().unwrap();
        assert!(began.elapsed().as_secs() < 5, "the socket is still open");
    }

    #[test]
    fn a_connection_that_was_closed_meanwhile_is_seen_without_asking() {
        let (connection, server) = silent(Duration::from_millis(10));
        server.join().unwrap();
        assert!(!connection.is_open());
    }

    #[test]
    fn it_says_goodbye() {
        let (connection, server) = silent(Duration::from_secs(60));
        drop(connection);
        assert_eq!(server.join().unwrap(), b"X\0\0\0\x04");
    }
}
