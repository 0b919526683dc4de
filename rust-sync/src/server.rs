//! The async front: it accepts, reads requests whole and writes answers; threads do what is between.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::header::EXPECT;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use crate::config::Config;
use crate::errors::Error;
use crate::executor::{Executor, Panicked};
use crate::input::Request;
use crate::responses::Response;
use crate::routes::Application;

/// How long requests that are under way may take after the signal to stop.
const DRAIN: Duration = Duration::from_secs(11);
/// From the end of an answer, or the start of a connection, to the end of the next head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(75);
const HEAD_LIMIT: usize = 64 * 1024;
const BODY_LIMIT: usize = 1 << 20;
/// How long what is still arriving after a 413 is read and thrown away.
const LINGER: Duration = Duration::from_secs(2);
/// Connections that the kernel has accepted and this process has not.
const BACKLOG: u32 = 4096;
/// Open files that are no client: the runtime's own, and a few for each database connection.
const OTHER_FILES: usize = 64;
const FILES_PER_DATABASE_CONNECTION: usize = 5;

type Handlers = Executor<(Request, Instant), Response>;

pub(crate) fn run(config: &Config) -> io::Result<()> {
    let files = rlimit::increase_nofile_limit(u64::MAX)?;
    let application = Application::new(config);
    let handlers = Executor::start(config.threads, move |(request, arrived)| {
        application.respond(request, arrived)
    })?;
    let runtime = runtime(config.workers)?;
    runtime.block_on(serve(
        config,
        handlers,
        connections(files, config.db_pool_max),
    ))
}

/// One worker is a runtime without worker threads: everything runs on this thread.
fn runtime(workers: usize) -> io::Result<Runtime> {
    match workers {
        1 => Builder::new_current_thread().enable_all().build(),
        _ => Builder::new_multi_thread()
            .worker_threads(workers)
            .enable_all()
            .build(),
    }
}

/// How many clients the limit of open files leaves room for.
fn connections(files: u64, db_pool_max: u32) -> usize {
    let others = OTHER_FILES + FILES_PER_DATABASE_CONNECTION * db_pool_max as usize;
    usize::try_from(files)
        .unwrap_or(usize::MAX)
        .saturating_sub(others)
        .clamp(1, Semaphore::MAX_PERMITS)
}

async fn serve(config: &Config, handlers: Handlers, connections: usize) -> io::Result<()> {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_header_size(HEAD_LIMIT);
    let handlers = Arc::new(handlers);
    let places = Arc::new(Semaphore::new(connections));
    let open = GracefulShutdown::new();
    let mut stop = Box::pin(stop_signal()?);
    let listener = listen(config.port)?;
    tracing::info!("listening on port {}", config.port);

    loop {
        let (stream, place) = tokio::select! {
            accepted = accept(&listener, &places) => accepted,
            () = &mut stop => break,
        };
        let handlers = Arc::clone(&handlers);
        let service = service_fn(move |request| answer(Arc::clone(&handlers), request));
        let connection = open.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!("connection ended: {error}");
            }
            drop(place);
        });
    }

    drop(listener);
    if timeout(DRAIN, open.shutdown()).await.is_err() {
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

/// The next connection, once there is a place for one more.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (TcpStream, OwnedSemaphorePermit) {
    loop {
        let place = Arc::clone(places).acquire_owned().await;
        match (place, listener.accept().await) {
            (Ok(place), Ok((stream, _))) => {
                // Small answers must not wait for the client's acknowledgement.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!("no TCP_NODELAY: {error}");
                }
                return (stream, place);
            }
            (_, Err(error)) => {
                // Most are of one connection that is gone again; the others take a while to pass.
                tracing::warn!("cannot accept: {error}");
                sleep(Duration::from_millis(10)).await;
            }
            (Err(_), Ok(_)) => {}
        }
    }
}

/// A panic in a handler ends the connection, without an answer.
async fn answer(
    handlers: Arc<Handlers>,
    request: hyper::Request<Incoming>,
) -> Result<Response, Panicked> {
    let (head, body) = request.into_parts();
    // Whoever waits for `100 Continue` has not begun to send.
    let body = read(body, head.headers.contains_key(EXPECT)).await;
    let request = Request::from_parts(head, body);
    handlers.execute((request, Instant::now())).await
}

/// The whole body, unless it is announced to be, or becomes, too large. Copied together, as the
/// parts of a body in tiny chunks take many times its size.
async fn read(mut body: Incoming, waits: bool) -> Result<Vec<u8>, Error> {
    let announced = body.size_hint().lower();
    if announced > BODY_LIMIT as u64 {
        if !waits {
            discard(body);
        }
        return Err(Error::TooLarge);
    }
    let mut bytes = Vec::with_capacity(announced as usize);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Error::BadRequest)?.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > BODY_LIMIT {
            discard(body);
            return Err(Error::TooLarge);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Closing a socket while the client still sends resets it, and the answer may be lost with it.
fn discard(mut body: Incoming) {
    tokio::spawn(timeout(LINGER, async move {
        while let Some(Ok(_)) = body.frame().await {}
    }));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_files_are_kept_for_the_database() {
        assert_eq!(connections(20_000, 20), 19_836);
        assert_eq!(connections(64, 20), 1);
        assert_eq!(connections(u64::MAX, 1), Semaphore::MAX_PERMITS);
    }
}
