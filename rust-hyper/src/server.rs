//! The runtime, the listening socket, the connections and the orderly end.

use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::net::Ipv4Addr;
use std::pin::pin;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{sleep, timeout};

use crate::config::Config;
use crate::handlers::App;
use crate::lingering::Lingering;

/// A burst of clients waits here. The kernel's own limit is 4096 unless it is told otherwise.
const BACKLOG: u32 = 4096;
const HEAD_LIMIT: usize = 64 * 1024;
/// hyper counts from the end of the last answer, so this is also how long a connection may idle.
const HEAD_TIMEOUT: Duration = Duration::from_secs(75);
/// How long requests that are under way may take after the signal to stop: the longest delay of
/// `/work` and a second more.
const DRAIN: Duration = Duration::from_secs(11);

/// Serves until the signal to stop.
pub(crate) fn run(config: &Config) -> io::Result<()> {
    // Each connection is an open file; the soft limit is often 1024.
    if let Err(error) = rlimit::increase_nofile_limit(u64::MAX) {
        tracing::warn!("the limit of open files stays: {error}");
    }
    let runtime = runtime(config)?;
    let served = runtime.block_on(serve(config));
    // What still runs in a blocking thread must not keep the process.
    runtime.shutdown_background();
    served
}

/// One worker is a runtime without worker threads: everything runs on this thread.
fn runtime(config: &Config) -> io::Result<Runtime> {
    let workers = match config.workers {
        Some(workers) => workers,
        None => available_parallelism()?.get(),
    };
    let mut builder = match workers {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder
        .worker_threads(workers)
        .max_blocking_threads(config.threads)
        .enable_all()
        .build()
}

async fn serve(config: &Config) -> io::Result<()> {
    let mut stop = pin!(stop_signal()?);
    let app = Arc::new(App::new(config));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_header_size(HEAD_LIMIT);
    let connections = GracefulShutdown::new();
    let listener = listen(config.port)?;
    tracing::info!("listening on port {}", config.port);

    loop {
        let stream = tokio::select! {
            stream = accept(&listener) => stream,
            () = &mut stop => break,
        };
        let app = Arc::clone(&app);
        let service = service_fn(move |request| {
            let app = Arc::clone(&app);
            async move { Ok::<_, Infallible>(app.serve(Lingering::wrap(request)).await) }
        });
        let connection = http.serve_connection(TokioIo::new(stream), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!("connection ended: {error}");
            }
        });
    }

    drop(listener);
    if timeout(DRAIN, connections.shutdown()).await.is_err() {
        tracing::warn!("stopped with connections still open");
    }
    Ok(())
}

fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind((Ipv4Addr::UNSPECIFIED, port).into())?;
    socket.listen(BACKLOG)
}

/// The next client. Clients that are gone again are skipped.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Small answers must not wait for the client's acknowledgement.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!("no TCP_NODELAY: {error}");
                }
                return stream;
            }
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
            Err(error) => {
                // Most likely there are no more files to open: until some are closed, trying
                // again at once would only burn the CPU.
                tracing::error!("cannot accept: {error}");
                sleep(Duration::from_millis(100)).await;
            }
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
