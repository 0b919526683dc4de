//! The application, sync. Configured by the environment alone (`--help` lists it).
//! Its paths are those of `common::routes`.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod blocking;
mod config;
mod database;
mod executor;
mod on_threads;
mod pool_use;
mod repository;
#[cfg(test)]
mod tests;

use std::io;
use std::process::ExitCode;

use axum::Router;
use common::server::{self, Threads};
use common::{logging, routes, settings};
use hyper_util::service::TowerToHyperService;

use crate::config::Config;
use crate::on_threads::OnThreads;
use crate::repository::Repository;

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
    let router = router(config)?;
    let threads = Threads {
        workers: Some(config.workers),
        // For name lookups alone, of which there are none here.
        blocking: 1,
    };
    // A connection to the database blocks while it closes, which nothing may do within the runtime: the last of the
    // router's owners is here.
    let service = TowerToHyperService::new(router.clone());
    let served = server::run(config.server.port, threads, || service);
    drop(router);
    served
}

/// What may block has a thread; the rest is answered where it was read, however busy those are.
fn router(config: &Config) -> io::Result<Router> {
    let threads = OnThreads::start(config.threads)?;
    Ok(routes::router(
        Repository::new(config),
        |handler| handler.route_layer(threads.clone()),
        config.server.access_log,
    ))
}
