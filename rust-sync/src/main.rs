//! The application, sync. Configured by the environment alone (`--help` lists it).
//! Its paths are those of `common::routes`.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod blocking;
mod config;
mod database;
mod executor;
mod front;
mod pool_use;
mod repository;
#[cfg(test)]
mod tests;

use std::io;
use std::process::ExitCode;

use common::server::{self, Threads};
use common::{logging, settings};

use crate::config::Config;
use crate::front::Front;

fn main() -> ExitCode {
    let config: Config = settings::load();
    logging::init(&config.server);
    match serve(&config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(config: &Config) -> io::Result<()> {
    let front = Front::start(config)?;
    let threads = Threads {
        workers: Some(config.workers),
        // For name lookups alone, of which there are none here.
        blocking: 1,
    };
    server::run(config.server.port, threads, || front)
}
