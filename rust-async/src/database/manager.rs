//! Opens connections, and says which of them may be used again.

use bb8::{ErrorSink, ManageConnection};
use tokio_postgres::NoTls;

use super::{ACQUIRE_TIMEOUT, Connection, NOTHING_PREPARED, within};
use crate::config::Prepare;
use crate::errors::Error;

/// Opens connections for the pool, and says which of them it may keep.
#[derive(Debug)]
pub(crate) struct Manager {
    pub(super) config: tokio_postgres::Config,
    pub(super) prepare: Prepare,
    pub(super) persistent: bool,
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
            Ok(Connection {
                client,
                statements: NOTHING_PREPARED,
                prepares: self.prepare,
                driver: driver.abort_handle(),
                dirty: false,
                busy: false,
                failed: false,
            })
        })
        .await
    }

    async fn is_valid(&self, connection: &mut Connection) -> Result<(), Error> {
        Ok(connection.client.check_connection().await?)
    }

    fn has_broken(&self, connection: &mut Connection) -> bool {
        !self.persistent
            || connection.dirty
            || connection.busy
            || connection.failed
            || connection.client.is_closed()
    }
}

/// Connections are opened in the background, where nobody would see an error.
#[derive(Clone, Debug)]
pub(super) struct LogErrors;

impl ErrorSink<Error> for LogErrors {
    fn sink(&self, error: Error) {
        tracing::warn!("{}", error.chain());
    }

    fn boxed_clone(&self) -> Box<dyn ErrorSink<Error>> {
        Box::new(self.clone())
    }
}
