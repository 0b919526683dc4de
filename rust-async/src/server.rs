//! The runtime, the listening socket and the orderly end.

use std::io;
use std::net::Ipv4Addr;
use std::thread::available_parallelism;
use std::time::Duration;

use axum::serve::ListenerExt;
use futures_util::FutureExt;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

use crate::config::Config;
use crate::repository::Repository;
use crate::routes;

/// How long requests that are under way may take after the signal to stop.
const DRAIN: Duration = Duration::from_secs(8);

pub(crate) fn run(config: &Config) -> io::Result<()> {
    let runtime = runtime(config)?;
    let served = runtime.block_on(serve(config));
    // A name lookup that hangs in a blocking thread must not keep the process.
    runtime.shutdown_background();
    served
}

/// One worker is a runtime without worker threads: everything runs on this thread.
fn runtime(config: &Config) -> io::Result<Runtime> {
    let workers = match config.workers {
        Some(workers) => workers,
        None => available_parallelism()?.get(),
    };
    match workers {
        1 => Builder::new_current_thread().enable_all().build(),
        _ => Builder::new_multi_thread()
            .worker_threads(workers)
            .enable_all()
            .build(),
    }
}

async fn serve(config: &Config) -> io::Result<()> {
    let stop = stop_signal()?.shared();
    let router = routes::router(Repository::new(config), config.access_log);
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, config.port)).await?;
    tracing::info!("listening on port {}", config.port);
    // Small answers must not wait for the client's acknowledgement.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::warn!("no TCP_NODELAY: {error}");
        }
    });

    tokio::select! {
        served = axum::serve(listener, router).with_graceful_shutdown(stop.clone()) => served,
        () = stop.then(|()| sleep(DRAIN)) => {
            tracing::warn!("stopped with connections still open");
            Ok(())
        }
    }
}

/// Listens for the signals from now on, and resolves at the first.
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping");
    })
}
