//! The application, async. Configured by the environment alone (`--help` lists it).
//! Its paths are those of `common::routes`.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod config;
mod database;
mod repository;
#[cfg(test)]
mod tests;

use std::convert::identity;
use std::process::ExitCode;

use common::server::{self, Threads};
use common::{logging, routes, settings};
use hyper_util::service::TowerToHyperService;

use crate::config::Config;
use crate::repository::Repository;

fn main() -> ExitCode {
    let config: Config = settings::load();
    logging::init(&config.server);
    let threads = Threads {
        workers: config.runtime.workers,
        blocking: config.runtime.threads,
    };
    let served = server::run(config.server.port, threads, || {
        // Whoever awaits holds no thread.
        let router = routes::router(Repository::new(&config), identity, config.server.access_log);
        TowerToHyperService::new(router)
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}
