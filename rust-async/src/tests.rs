//! Requests to the whole application, without a socket and without a database, or with one that says little.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request};
use clap::Parser;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tower::ServiceExt;

use crate::{Config, router};

/// A Unix socket that does not exist.
const NOWHERE: &str = "postgresql://app@%2Fnonexistent/tandem?sslmode=disable";
const RECIPE: &str = "GET /api/v1/recipes/1 as k";
const UNAVAILABLE: &str = r#"{"error":"database unavailable"}"#;

fn app(url: &str, setting: &str) -> Router {
    let url = format!("--database-url={url}");
    router(&Config::parse_from(["rust-async", &url, setting]))
}

async fn send(app: &Router, request: &str, body: &str) -> (u16, HeaderMap, String) {
    let (method, path) = request.split_once(' ').unwrap();
    let (path, key) = path.split_once(" as ").unwrap_or((path, ""));
    let mut request = Request::builder().method(method).uri(path);
    if !key.is_empty() {
        request = request.header("cookie", format!("a=b; sessionid={key}"));
    }
    if !body.is_empty() {
        request = request.header("content-type", "application/json");
    }
    let request = request.body(Body::from(body.to_owned())).unwrap();
    let (head, body) = app.clone().oneshot(request).await.unwrap().into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
    (head.status.as_u16(), head.headers, String::from_utf8(body).unwrap())
}

#[tokio::test]
async fn fixed_answers_have_a_type() {
    let app = app(NOWHERE, "--access-log=1");
    for (path, kind, start) in [
        ("/healthz", "application/json", r#"{"status":"ok"}"#),
        ("/", "text/html; charset=utf-8", "<!doctype html>\n"),
        ("/index.html", "text/html; charset=utf-8", "<!doctype html>\n"),
        ("/index.htm", "text/html; charset=utf-8", "<!doctype html>\n"),
    ] {
        let (status, headers, body) = send(&app, &format!("GET {path}"), "").await;
        assert_eq!((status, headers["content-type"].to_str().unwrap()), (200, kind));
        assert!(body.starts_with(start), "{path}");
        let (status, _, body) = send(&app, &format!("HEAD {path}"), "").await;
        assert_eq!((status, body.as_str()), (200, ""));
    }
}

#[tokio::test]
async fn refusals_of_ours_are_json() {
    let app = app(NOWHERE, "--db-persistent=0");
    for (request, status, error) in [
        ("GET /other", 404, "not found"),
        ("GET /user/7", 404, "not found"),
        ("DELETE /healthz", 405, "method not allowed"),
        ("GET /api/v1/recipes/1", 401, "unauthorized"),
        ("GET /api/v1/recipes", 401, "unauthorized"),
        ("GET /api/v1/dashboard", 401, "unauthorized"),
        ("POST /work?delay_ms=10001", 400, "bad request"),
    ] {
        let (code, headers, told) = send(&app, request, "[1]").await;
        assert_eq!((code, told), (status, format!(r#"{{"error":"{error}"}}"#)), "{request}");
        assert_eq!(headers["content-type"], "application/json");
    }
    for (request, body, status) in [
        ("GET /api/v1/recipes/x", "", 400),
        ("GET /api/v1/recipes/0 as k", "", 400),
        ("POST /api/v1/recipes/1/notes as k", "{", 400),
        ("POST /api/v1/recipes/1/notes as k", "{}", 422),
        ("POST /work", "[1,", 400),
        ("POST /work", "[1.5]", 422),
        ("POST /work?delay_ms=-1", "[1]", 400),
    ] {
        assert_eq!(send(&app, request, body).await.0, status, "{request} {body}");
    }
}

#[tokio::test]
async fn users_live_until_they_are_deleted() {
    let app = app(NOWHERE, "--workers=1");
    for (request, body) in [
        ("GET /users/", ""),
        ("POST /user/", "0"),
        ("POST /user", "1"),
        ("GET /user/1", "{}"),
        ("PUT /user/1/", ""),
        ("GET /users", "0,1"),
        ("DELETE /user/0", ""),
        ("GET /users/", "1"),
    ] {
        let answer = send(&app, request, "ignored").await;
        assert_eq!((answer.0, answer.2.as_str()), (200, body), "{request}");
    }
}

#[tokio::test(start_paused = true)]
async fn work_adds_wherever_it_is_done_and_waits() {
    for offload in ["none", "sum", "parse+sum"] {
        let app = app(NOWHERE, &format!("--offload={offload}"));
        let began = tokio::time::Instant::now();
        let (_, headers, body) = send(&app, "POST /work?a=b&delay_ms=2000", "[2147483647, 1]").await;
        assert_eq!(body, "Sum: 2147483648");
        assert_eq!(headers["content-type"], "text/plain; charset=utf-8");
        assert!(began.elapsed().as_millis() >= 2000);
        assert_eq!(send(&app, "POST /work", "{}").await.0, 422);
    }
}

#[tokio::test(start_paused = true)]
async fn a_database_that_is_away_is_503() {
    let app = app(NOWHERE, "--db-pool-max=2");
    for request in [
        RECIPE,
        "GET /api/v1/recipes as k",
        "GET /api/v1/dashboard as k",
        "POST /api/v1/recipes/1/notes as k",
    ] {
        let (status, _, body) = send(&app, request, r#"{"text":"a"}"#).await;
        assert_eq!((status, body.as_str()), (503, UNAVAILABLE), "{request}");
    }
}

/// The address of a database that logs in whoever comes and answers what is asked for then with `answer`, if at all; and how
/// many have logged in.
async fn database(answer: Option<Vec<u8>>) -> (String, Arc<AtomicUsize>) {
    // `AuthenticationOk` and `ReadyForQuery`.
    const LOGGED_IN: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let logins = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&logins);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (answer, counted) = (answer.clone(), Arc::clone(&counted));
            tokio::spawn(async move {
                let mut next = Some(LOGGED_IN.to_vec());
                while stream.read(&mut [0; 4096]).await.unwrap_or(0) > 0 {
                    if let Some(next) = &next {
                        stream.write_all(next).await.unwrap();
                    }
                    if next.as_deref() == Some(LOGGED_IN) {
                        counted.fetch_add(1, Relaxed);
                        next.clone_from(&answer);
                    }
                }
            });
        }
    });
    let url = format!("postgresql://app@127.0.0.1:{port}/tandem?sslmode=disable");
    (url, logins)
}

/// `ErrorResponse` with this SQLSTATE, and `ReadyForQuery`.
fn error_response(state: &str) -> Vec<u8> {
    let fields = format!("SERROR\0VERROR\0C{state}\0Mno\0\0");
    let length = u32::try_from(fields.len() + 4).unwrap().to_be_bytes();
    [b"E", &length[..], fields.as_bytes(), b"Z\0\0\0\x05I"].concat()
}

#[tokio::test]
async fn a_mistake_in_a_statement_is_500_and_an_outage_503() {
    for (state, status) in [("42703", 500), ("42P01", 500), ("57P01", 503), ("08P01", 503)] {
        let (url, _) = database(Some(error_response(state))).await;
        let app = app(&url, "--db-pool-max=1");
        assert_eq!(send(&app, RECIPE, "").await.0, status, "{state}");
    }
}

#[tokio::test]
async fn a_request_that_is_given_up_leaves_no_connection_that_waits() {
    let (url, logins) = database(None).await;
    let app = app(&url, "--db-pool-max=1");
    for expected in [1, 2] {
        let request = timeout(Duration::from_millis(500), send(&app, RECIPE, ""));
        assert!(request.await.is_err());
        assert_eq!(logins.load(Relaxed), expected);
    }
}

#[tokio::test]
async fn who_waits_longest_for_a_connection_has_the_next_one() {
    const CLIENTS: usize = 50;
    let (url, _) = database(Some(error_response("57014"))).await;
    let app = app(&url, "--db-pool-max=1");
    let done = Arc::new(AtomicUsize::new(0));
    let clients = (0..CLIENTS).map(|number| {
        let (app, done) = (app.clone(), Arc::clone(&done));
        tokio::spawn(async move {
            send(&app, RECIPE, "").await;
            (number, done.fetch_add(1, Relaxed))
        })
    });
    for client in clients.collect::<Vec<_>>() {
        let (number, turn) = client.await.unwrap();
        assert!(number.abs_diff(turn) <= 1, "client {number} was number {turn}");
    }
}
