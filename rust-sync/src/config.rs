//! The settings of the contract, read from the environment.

use clap::Parser;
use common::database::{DatabaseSettings, Prepare, prepare};
use common::settings::{ServerSettings, threads};

/// The application on blocking threads behind an async front, with axum, tokio-postgres and r2d2.
#[derive(Debug, Parser)]
pub(crate) struct Config {
    #[command(flatten)]
    pub(crate) server: ServerSettings,

    /// Threads that accept, read and write
    #[arg(long, env, default_value = "1", value_parser = threads)]
    pub(crate) workers: usize,

    /// Threads that run handlers
    #[arg(long, env, default_value = "32", value_parser = threads)]
    pub(crate) threads: usize,

    #[command(flatten)]
    pub(crate) database: DatabaseSettings,

    /// 1 prepares each statement once per connection, 0 sends the text every time
    #[arg(long, env, default_value = "1", value_parser = prepare)]
    pub(crate) db_prepare: Prepare,
}
