//! The scenarios without a database. Configured by the environment alone (`--help` lists it).
//!
//! - `GET /null/{bytes}`: so many bytes and nothing else, to find the ceiling of what surrounds it
//! - `GET /healthz`: alive
//! - `GET /`: a fixed page
//! - `POST /user/`, `GET PUT DELETE /user/{id}`, `GET /users/`: a table in memory
//! - `POST /work`: adds numbers, then waits

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod config;
mod handlers;
mod query;
mod routes;

use std::convert::Infallible;
use std::process::ExitCode;
use std::sync::Arc;

use common::server::{self, Threads};
use common::{logging, settings};
use hyper::service::service_fn;

use crate::config::Config;
use crate::handlers::App;

fn main() -> ExitCode {
    let config: Config = settings::load();
    logging::init(&config.server);
    let threads = Threads {
        workers: config.runtime.workers,
        blocking: config.runtime.threads,
    };
    let served = server::run(config.server.port, threads, || {
        let app = Arc::new(App::new(config.runtime.offload, config.server.access_log));
        service_fn(move |request| {
            let app = Arc::clone(&app);
            async move { Ok::<_, Infallible>(app.serve(request).await) }
        })
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}
