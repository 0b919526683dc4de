//! The application, async. Configured by the environment alone (`--help` lists it).

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod database;
mod errors;
mod recipes;
#[cfg(test)]
mod tests;
mod users;
mod work;

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::extract::FromRef;
use axum::response::Html;
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use axum::{Json, Router};
use clap::Parser;
use common::logging;
use common::settings::{self, DatabaseSettings, ServerSettings};
use common::users::Users;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::trace::TraceLayer;

use crate::database::Database;
use crate::errors::Error;
use crate::work::Offload;

const INDEX: &str = include_str!("../../contract/golden/index.html");

/// The settings of the contract.
#[derive(Debug, Parser)]
struct Config {
    #[command(flatten)]
    server: ServerSettings,

    #[command(flatten)]
    database: DatabaseSettings,

    /// CPU work that leaves the event loop
    #[arg(long, env, default_value = "none")]
    offload: Offload,
}

/// What the handlers share.
#[derive(Clone, Debug, FromRef)]
struct App {
    database: Arc<Database>,
    users: Arc<Users>,
    offload: Offload,
}

fn main() -> io::Result<()> {
    let config: Config = settings::load();
    logging::init(&config.server, "tower_http");
    // Each connection is an open file; the soft limit is often 1024.
    rlimit::increase_nofile_limit(u64::MAX)?;
    let workers = config.server.workers.get();
    let mut runtime = match workers {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    runtime
        .worker_threads(workers)
        .max_blocking_threads(config.server.threads.get())
        .enable_all()
        .build()?
        .block_on(serve(config))
}

async fn serve(config: Config) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let address = (Ipv4Addr::UNSPECIFIED, config.server.port.get());
    let listener = TcpListener::bind(address).await?.tap_io(|stream| {
        // Small answers must not wait for the client's acknowledgement. It fails where the client has gone.
        let _ = stream.set_nodelay(true);
    });
    tracing::info!("listening on port {}", config.server.port);
    axum::serve(listener, router(&config))
        .with_graceful_shutdown(async move {
            terminate.recv().await;
        })
        .await
}

fn router(config: &Config) -> Router {
    let app = App {
        database: Arc::new(Database::new(&config.database)),
        users: Arc::default(),
        offload: config.offload,
    };
    let index = get(async || Html(INDEX));
    let router = Router::new()
        .route("/healthz", get(async || Json(json!({ "status": "ok" }))))
        .route("/", index.clone())
        .route("/index.html", index.clone())
        .route("/index.htm", index)
        .route("/work", post(work::work))
        .merge(users::routes())
        .merge(recipes::routes())
        .fallback(async || Error::NotFound)
        .method_not_allowed_fallback(async || Error::MethodNotAllowed)
        .with_state(app)
        .layer(CatchPanicLayer::new());
    match config.server.access_log {
        true => router.layer(TraceLayer::new_for_http().on_request(()).on_eos(()).on_failure(())),
        false => router,
    }
}
