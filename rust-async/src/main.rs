//! The application, async. Configured by the environment alone (`--help` lists it).
//!
//! - `GET /healthz`: alive; never touches the database
//! - `GET /pool`: how long its pool of database connections was waited for
//! - `GET /`: a fixed page
//! - `POST /user/`, `GET PUT DELETE /user/{id}`, `GET /users/`: a table in memory
//! - `POST /work`: adds numbers, then waits
//! - `GET /api/v1/recipes`: a random recipe that the session's user may see
//! - `GET /api/v1/recipes/{id}`: that recipe
//! - `POST /api/v1/recipes/{id}/notes`: a note on it
//! - `GET /api/v1/dashboard`: what is new for the session's user

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod config;
mod database;
mod errors;
mod extractors;
mod handlers;
mod json;
mod lingering;
mod models;
mod queries;
mod repository;
mod routes;
mod rows;
mod server;
mod users;
mod work;

use std::process::ExitCode;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

use crate::config::Config;

fn main() -> ExitCode {
    let config = Config::load();
    init_logging(&config);
    match server::run(&config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The access log has a switch of its own, so it does not depend on `LOG_LEVEL`.
fn init_logging(config: &Config) {
    let access = match config.access_log {
        true => LevelFilter::INFO,
        false => LevelFilter::OFF,
    };
    let filter = Targets::new()
        .with_default(config.log_level)
        .with_target(routes::ACCESS_LOG, access);
    tracing_subscriber::registry()
        .with(filter)
        .with(tracing_subscriber::fmt::layer().with_ansi(false))
        .init();
}
