//! Requests to the whole application, without a socket and without a database.

use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use clap::Parser;
use futures_util::stream::{iter, pending};
use tower::ServiceExt;

use crate::config::Config;
use crate::router;

/// The database is a Unix socket that does not exist.
fn app(setting: &str) -> Router {
    let config = Config::parse_from([
        "rust-sync",
        setting,
        "--db-pool-max=1",
        "--database-url=postgresql://app@%2Fnonexistent/tandem?sslmode=disable",
    ]);
    router(&config).unwrap()
}

async fn send(app: &Router, request: &str, body: impl Into<Body>) -> (u16, String) {
    let (method, path) = request.split_once(' ').unwrap();
    let (path, key) = path.split_once(" as ").unwrap_or((path, "none"));
    let request = Request::builder().method(method).uri(path);
    let request = match key {
        "none" => request,
        key => request.header("cookie", format!("sessionid={key}")),
    };
    let request = request.body(body.into()).unwrap();
    let (head, body) = app.clone().oneshot(request).await.unwrap().into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
    (head.status.as_u16(), String::from_utf8(body).unwrap())
}

#[tokio::test]
async fn handlers_run_on_threads() {
    let app = app("--threads=2");
    let began = Instant::now();
    let one = || send(&app, "POST /work?delay_ms=100", "[2147483647, 1]");
    for (status, body) in <[_; 4]>::from(tokio::join!(one(), one(), one(), one())) {
        assert_eq!((status, body.as_str()), (200, "Sum: 2147483648"));
    }
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(200), "{took:?}");
}

#[tokio::test]
async fn what_does_not_block_is_answered_while_all_threads_are_busy() {
    let app = app("--threads=1");
    let began = Instant::now();
    let prompt = async {
        for request in [
            "GET /healthz",
            "GET /",
            "POST /user/",
            "GET /users/",
            "GET /pool",
        ] {
            assert_eq!(send(&app, request, "").await.0, 200, "{request}");
        }
        began.elapsed()
    };
    let (busy, took) = tokio::join!(send(&app, "POST /work?delay_ms=500", "[1]"), prompt);
    assert_eq!(busy.0, 200);
    assert!(took < Duration::from_millis(400), "{took:?}");
}

#[tokio::test]
async fn a_body_that_is_refused_is_told_in_the_order_of_refusals() {
    let app = app("--threads=1");
    let large = || "x".repeat((1 << 20) + 1);
    for (request, status) in [
        ("POST /other", 404),
        ("GET /work", 405),
        ("POST /work?delay_ms=x", 400),
        ("POST /api/v1/recipes/1/notes", 401),
        ("POST /api/v1/recipes/1/notes as k", 413),
        ("POST /work", 413),
        ("POST /user/", 413),
    ] {
        assert_eq!(send(&app, request, large()).await.0, status, "{request}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_takes_no_thread() {
    let app = app("--threads=1");
    let slow = Body::from_stream(pending::<Result<Vec<u8>, std::io::Error>>());
    let slow = send(&app, "POST /work", slow);
    let ended = tokio::time::timeout(Duration::from_millis(50), slow).await;
    assert!(ended.is_err());
    assert_eq!(send(&app, "POST /work", "[1]").await.0, 200);
    let broken = iter([Ok(vec![b'[']), Err(std::io::Error::other("gone"))]);
    let broken = Body::from_stream(broken);
    assert_eq!(send(&app, "POST /work", broken).await.0, 400);
}

#[tokio::test]
async fn the_pool_tells_where_there_is_one() {
    let told = send(&app("--db-persistent=1"), "GET /pool", "").await;
    assert_eq!(told, (200, r#"{"checkouts":0,"wait_us":0}"#.to_owned()));
    let told = send(&app("--db-persistent=0"), "GET /pool", "").await;
    assert_eq!(told.0, 404);
}

#[tokio::test]
async fn a_database_that_is_away_is_503_within_two_seconds() {
    for setting in ["--db-persistent=1", "--db-persistent=0"] {
        let began = Instant::now();
        let (status, body) = send(&app(setting), "GET /api/v1/recipes/1 as k", "").await;
        assert_eq!(status, 503);
        assert_eq!(body, r#"{"error":"database unavailable"}"#);
        assert!(began.elapsed() < Duration::from_secs(2));
    }
}
