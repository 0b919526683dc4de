//! The scenarios without a database. Configured by the environment alone (`--help` lists it).
//!
//! - `GET /null/{bytes}`: so many bytes and nothing else, to find the ceiling of what surrounds it
//! - `GET /healthz`: alive
//! - `GET /`: a fixed page
//! - `POST /user/`, `GET PUT DELETE /user/{id}`, `GET /users/`: a table in memory
//! - `POST /work`: adds numbers, then waits

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod bodies;
mod errors;
mod handlers;
mod json;
mod query;
mod routes;
mod server;
mod work;

use std::convert::Infallible;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use common::logging;
use common::settings::{self, ServerSettings};
use hyper::service::service_fn;

use crate::handlers::{ACCESS_LOG, App};
use crate::work::Offload;

/// The settings of the contract.
#[derive(Debug, Parser)]
struct Config {
    #[command(flatten)]
    server: ServerSettings,

    /// CPU work that leaves the event loop
    #[arg(long, env, default_value = "none")]
    offload: Offload,
}

fn main() -> ExitCode {
    let config: Config = settings::load();
    logging::init(&config.server, ACCESS_LOG);
    let app = Arc::new(App::new(config.offload, config.server.access_log));
    let service = service_fn(move |request| {
        let app = Arc::clone(&app);
        async move { Ok::<_, Infallible>(app.serve(request).await) }
    });
    let served = server::run(&config.server, service);
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}
