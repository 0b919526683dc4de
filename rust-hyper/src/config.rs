//! The settings of the contract, read from the environment.

use clap::Parser;
use common::settings::{RuntimeSettings, ServerSettings};

/// The scenarios without a database, on hyper alone.
#[derive(Debug, Parser)]
pub(crate) struct Config {
    #[command(flatten)]
    pub(crate) server: ServerSettings,

    #[command(flatten)]
    pub(crate) runtime: RuntimeSettings,
}
