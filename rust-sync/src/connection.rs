//! One connection: its statements and its transactions. The calling thread blocks until the answer is there.

use std::error::Error as _;
use std::io;

use postgres::error::SqlState;
use postgres::types::ToSql;
use postgres::{Client, GenericClient, NoTls, Row, Statement};

use crate::errors::Error;
use crate::queries::Query;

type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// What is prepared so far, by query.
type Statements = [Option<Statement>; Query::ALL.len()];

/// The client, what it has prepared, and whether it may be used again.
pub(crate) struct Connection {
    // Dropped before the statements, which then have nobody left to send their `Close` to.
    client: Client,
    statements: Option<Statements>,
    /// Nobody has it, or whoever had it gave it back in good order.
    pub(crate) idle: bool,
    failed: bool,
    lost: bool,
}

impl Connection {
    /// `prepare` says whether statements are prepared when they are used first.
    pub(crate) fn open(config: &postgres::Config, prepare: bool) -> Result<Self, postgres::Error> {
        Ok(Self {
            statements: prepare.then(Statements::default),
            client: config.connect(NoTls)?,
            idle: true,
            failed: false,
            lost: false,
        })
    }

    /// A statement went wrong.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    /// The last statement found the connection broken.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// One statement; one round trip, and another when it is prepared.
    pub(crate) fn query(
        &mut self,
        query: Query,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, Error> {
        let result = match run(
            &mut self.client,
            self.statements.as_mut(),
            query,
            parameters,
        ) {
            // The database was replaced, or its tables were: what was prepared is gone.
            Err(error) if self.statements.is_some() && is_stale(&error) => {
                self.statements = Some(Statements::default());
                run(
                    &mut self.client,
                    self.statements.as_mut(),
                    query,
                    parameters,
                )
            }
            result => result,
        };
        result.map_err(|error| self.fail(error))
    }

    /// Commits if the work succeeds; all of it is rolled back otherwise.
    pub(crate) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let result = transact(&mut self.client, self.statements.as_mut(), work);
        if let Err(Error::Unavailable(_) | Error::Unexpected(_)) = result {
            self.failed = true;
        }
        result
    }

    /// DISCARD ALL takes the prepared statements with it, so they are prepared anew when they are used.
    pub(crate) fn reset(&mut self) -> Result<(), Error> {
        self.statements = self.statements.take().map(|_| Statements::default());
        self.client
            .batch_execute("DISCARD ALL")
            .map_err(|error| self.fail(error))
    }

    /// As a simple query: one round trip, and nothing to prepare.
    pub(crate) fn set_time_zone(&mut self) -> Result<(), Error> {
        self.client
            .batch_execute("SET TIME ZONE 'UTC'")
            .map_err(|error| self.fail(error))
    }

    /// An empty statement, for those who want to know.
    pub(crate) fn ping(&mut self) -> Result<(), postgres::Error> {
        self.client.batch_execute("")
    }

    fn fail(&mut self, error: postgres::Error) -> Error {
        self.failed = true;
        self.lost = is_lost(&error);
        error.into()
    }
}

/// The statements between BEGIN and COMMIT.
pub(crate) struct Transaction<'a> {
    inner: postgres::Transaction<'a>,
    statements: Option<&'a mut Statements>,
}

impl Transaction<'_> {
    /// One statement. It is not repeated if it was lost: the transaction is over then.
    pub(crate) fn query(
        &mut self,
        query: Query,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, Error> {
        Ok(run(
            &mut self.inner,
            self.statements.as_deref_mut(),
            query,
            parameters,
        )?)
    }
}

fn transact<'a, T>(
    client: &'a mut Client,
    statements: Option<&'a mut Statements>,
    work: impl FnOnce(&mut Transaction<'a>) -> Result<T, Error>,
) -> Result<T, Error> {
    let inner = client.transaction()?;
    let mut transaction = Transaction { inner, statements };
    match work(&mut transaction) {
        Ok(value) => {
            transaction.inner.commit()?;
            Ok(value)
        }
        Err(error) => {
            transaction.inner.rollback()?;
            Err(error)
        }
    }
}

fn run(
    client: &mut impl GenericClient,
    statements: Option<&mut Statements>,
    query: Query,
    parameters: Parameters<'_>,
) -> Result<Vec<Row>, postgres::Error> {
    let types = query.parameter_types();
    let Some(statements) = statements else {
        let typed: Vec<_> = parameters
            .iter()
            .copied()
            .zip(types.iter().cloned())
            .collect();
        return client.query_typed(query.sql(), &typed);
    };
    let statement = match &mut statements[query as usize] {
        Some(statement) => statement,
        none => none.insert(client.prepare_typed(query.sql(), types)?),
    };
    client.query(statement, parameters)
}

/// "Prepared statement does not exist", "cached plan must not change result type".
fn is_stale(error: &postgres::Error) -> bool {
    matches!(
        error.code(),
        Some(&SqlState::INVALID_SQL_STATEMENT_NAME | &SqlState::FEATURE_NOT_SUPPORTED)
    )
}

/// The socket is closed, or the server said so before it closed it (classes 08 and 57P).
fn is_lost(error: &postgres::Error) -> bool {
    match error.code() {
        Some(state) => state.code().starts_with("08") || state.code().starts_with("57P"),
        None => error.is_closed() || error.source().is_some_and(|cause| cause.is::<io::Error>()),
    }
}
