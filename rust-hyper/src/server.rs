//! The runtime, the listening socket, the connections and the orderly end.

use std::io::{self, ErrorKind};
use std::net::Ipv4Addr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use common::settings::ServerSettings;
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::bodies::ClientBody;
use crate::errors::BoxError;

/// A burst of clients waits here. The kernel's own limit is 4096 unless it is told otherwise.
const BACKLOG: u32 = 4096;
const HEAD_LIMIT: usize = 64 * 1024;
/// hyper counts from the end of the last answer, so this is also how long a connection may idle.
const HEAD_TIMEOUT: Duration = Duration::from_secs(75);
/// How long requests that are under way may take after the signal to stop: the longest delay of
/// `/work` and a second more.
const DRAIN: Duration = Duration::from_secs(11);
/// How long after the signal to stop a connection may take to its first request.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// Serves until the signal to stop.
pub(crate) fn run<S, B>(settings: &ServerSettings, service: S) -> io::Result<()>
where
    S: Service<Request<ClientBody<Incoming>>, Response = Response<B>>,
    S: Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
{
    // Each connection is an open file; the soft limit is often 1024.
    if let Err(error) = rlimit::increase_nofile_limit(u64::MAX) {
        tracing::warn!("the limit of open files stays: {error}");
    }
    let runtime = runtime(settings)?;
    let served = runtime.block_on(async {
        let stop = stop_signal()?;
        let listener = listen(settings.port.get())?;
        tracing::info!("listening on port {}", settings.port);
        serve(listener, service, stop).await;
        Ok(())
    });
    // What still runs in a blocking thread must not keep the process.
    runtime.shutdown_background();
    served
}

/// One worker is a runtime without worker threads: everything runs on the calling thread.
fn runtime(settings: &ServerSettings) -> io::Result<Runtime> {
    let workers = settings.workers.get();
    let mut builder = match workers {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder
        .worker_threads(workers)
        .max_blocking_threads(settings.threads.get())
        .enable_all()
        .build()
}

async fn serve<S, B>(listener: TcpListener, service: S, stop: impl Future<Output = ()>)
where
    S: Service<Request<ClientBody<Incoming>>, Response = Response<B>>,
    S: Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
{
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_header_size(HEAD_LIMIT);
    let connections = GracefulShutdown::new();
    let (stopping, _) = watch::channel(false);
    let mut stop = pin!(stop);

    loop {
        let stream = tokio::select! {
            stream = accept(&listener) => stream,
            () = &mut stop => break,
        };
        let asked = Arc::new(AtomicBool::new(false));
        let asks = Arc::clone(&asked);
        let service = service.clone();
        let service = service_fn(move |request| {
            asks.store(true, Relaxed);
            service.call(ClientBody::wrap(request))
        });
        let connection = http.serve_connection(TokioIo::new(stream), service);
        let connection = connections.watch(connection);
        let stopping = stopping.subscribe();
        tokio::spawn(async move {
            tokio::select! {
                ended = connection => if let Err(error) = ended {
                    tracing::debug!("connection ended: {error}");
                },
                () = given_up(stopping, &asked) => {}
            }
        });
    }

    drop(listener);
    stopping.send_replace(true);
    if timeout(DRAIN, connections.shutdown()).await.is_err() {
        tracing::warn!("stopped with connections still open");
    }
}

/// hyper closes idle connections when it is told to stop, but waits for the first request of one
/// that has sent a part of it.
async fn given_up(mut stopping: watch::Receiver<bool>, asked: &AtomicBool) {
    // An error would be a sender that is gone, with the server.
    let _ = stopping.wait_for(|&stopping| stopping).await;
    sleep(FIRST_REQUEST).await;
    if asked.load(Relaxed) {
        std::future::pending::<()>().await;
    }
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

#[cfg(test)]
mod tests {

    use http_body_util::{BodyExt, Full};
    use hyper::body::Bytes;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::oneshot;
    use tokio::task::JoinHandle;
    use tokio::time::Instant;

    use super::*;

    const REQUEST: &[u8] = b"POST /?wait HTTP/1.1\r\nHost: app\r\nContent-Length: 2\r\n\r\nab";

    const ARRIVES: Duration = Duration::from_millis(100);

    /// Answers with the request's body, after two seconds if the path says so.
    async fn echo(request: Request<ClientBody<Incoming>>) -> Result<Response<Full<Bytes>>, BoxError> {
        let wait = request.uri().query().is_some();
        let body = request.into_body().collect().await?.to_bytes();
        if wait {
            sleep(Duration::from_secs(2)).await;
        }
        Ok(Response::new(Full::new(body)))
    }

    /// A server, how to stop it, and a connection to it.
    async fn started() -> (JoinHandle<()>, oneshot::Sender<()>, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async { stopped.await.unwrap() };
        let server = tokio::spawn(serve(listener, service_fn(echo), stopped));
        let client = TcpStream::connect(address).await.unwrap();
        // The client is accepted when a second one has been answered.
        let mut other = TcpStream::connect(address).await.unwrap();
        let request = b"GET / HTTP/1.1\r\nHost: app\r\nConnection: close\r\n\r\n";
        other.write_all(request).await.unwrap();
        other.read_to_end(&mut Vec::new()).await.unwrap();
        (server, stop, client)
    }

    #[tokio::test]
    async fn who_never_asks_does_not_hold_the_end() {
        for sent in [&b""[..], &REQUEST[..30]] {
            let (server, stop, mut client) = started().await;
            client.write_all(sent).await.unwrap();
            sleep(ARRIVES).await;
            let began = Instant::now();
            stop.send(()).unwrap();
            server.await.unwrap();
            assert!(began.elapsed() < Duration::from_secs(3), "{sent:?}");
        }
    }

    #[tokio::test]
    async fn who_has_begun_to_ask_is_answered() {
        for cut in [30, REQUEST.len() - 1, REQUEST.len()] {
            let (server, stop, mut client) = started().await;
            client.write_all(&REQUEST[..cut]).await.unwrap();
            sleep(ARRIVES).await;
            stop.send(()).unwrap();
            sleep(ARRIVES).await;
            client.write_all(&REQUEST[cut..]).await.unwrap();
            let mut answer = String::new();
            client.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("\r\n\r\nab"));
            server.await.unwrap();
        }
    }
}
