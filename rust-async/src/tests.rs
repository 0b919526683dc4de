//! Requests to the whole application, without a socket and without a database.

use std::convert::identity;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request};
use clap::Parser;
use common::routes::router;
use futures_util::stream;
use tower::ServiceExt;

use crate::config::Config;
use crate::repository::Repository;

fn app() -> Router {
    app_with("--db-persistent=1")
}

/// The database is a Unix socket that does not exist.
fn app_with(setting: &str) -> Router {
    let config = Config::parse_from([
        "rust-async",
        "--database-url=postgresql://app@%2Fnonexistent/tandem?sslmode=disable",
        setting,
    ]);
    router(Repository::new(&config), identity, true)
}

async fn send(router: &Router, request: &str, body: Body) -> (u16, HeaderMap, String) {
    let (method, path) = request.split_once(' ').unwrap();
    let mut request = Request::builder().method(method);
    let mut path = path;
    if let Some((only, key)) = path.split_once(" as ") {
        path = only;
        request = request.header("cookie", format!("sessionid={key}"));
    }
    let request = request.uri(path).body(body).unwrap();
    let (parts, body) = router.clone().oneshot(request).await.unwrap().into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
    let body = String::from_utf8(body).unwrap();
    (parts.status.as_u16(), parts.headers, body)
}

async fn get(request: &str) -> (u16, HeaderMap, String) {
    send(&app(), request, Body::empty()).await
}

#[tokio::test]
async fn health_does_not_need_the_database() {
    let (status, headers, body) = get("GET /healthz").await;
    assert_eq!((status, body.as_str()), (200, r#"{"status":"ok"}"#));
    assert_eq!(headers["content-type"], "application/json");
}

#[tokio::test]
async fn the_index_has_three_paths() {
    for path in ["/", "/index.html", "/index.htm"] {
        let (status, headers, body) = get(&format!("GET {path}")).await;
        assert_eq!(status, 200);
        assert!(body.starts_with("<!doctype html>\n"));
        assert_eq!(headers["content-type"], "text/html; charset=utf-8");
    }
}

#[tokio::test]
async fn errors_are_json_and_checked_in_order() {
    for (request, status, error) in [
        ("GET /other", 404, "not found"),
        ("POST /api/v1/recipes/", 404, "not found"),
        ("GET /api/v1/recipes/1/", 404, "not found"),
        ("GET /api/v1/recipes/x", 400, "bad request"),
        ("GET /api/v1/recipes/%FF", 400, "bad request"),
        ("GET /api/v1/recipes/2147483648", 400, "bad request"),
        ("GET /api/v1/recipes/1", 401, "unauthorized"),
        ("GET /api/v1/recipes", 401, "unauthorized"),
        ("GET /api/v1/dashboard", 401, "unauthorized"),
        ("POST /api/v1/recipes/x/notes", 400, "bad request"),
        ("POST /api/v1/recipes/1/notes", 401, "unauthorized"),
        ("POST /api/v1/recipes/1/notes as k", 400, "bad request"),
        ("PATCH /user/abc", 404, "not found"),
        ("GET /user/-1", 404, "not found"),
        ("GET /user/%FF", 404, "not found"),
        ("GET /user/0", 404, "not found"),
        ("PUT /user/99999999999999999999", 404, "not found"),
        ("POST /user/99999999999999999999", 400, "bad request"),
        ("POST /user/0/", 400, "bad request"),
        ("POST /work", 400, "bad request"),
    ] {
        let (code, headers, body) = get(request).await;
        assert_eq!(code, status, "{request}");
        assert_eq!(body, format!(r#"{{"error":"{error}"}}"#), "{request}");
        assert_eq!(headers["content-type"], "application/json");
        assert!(!headers.contains_key("allow"), "{request}");
    }
}

#[tokio::test]
async fn other_methods_are_told_which_are_allowed() {
    for (request, allowed) in [
        ("DELETE /healthz", "GET, HEAD"),
        ("POST /index.html", "GET, HEAD"),
        ("POST /pool", "GET, HEAD"),
        ("GET /user", "POST"),
        ("HEAD /user/", "POST"),
        ("PATCH /user/7/", "GET, HEAD, PUT, DELETE"),
        ("POST /users", "GET, HEAD"),
        ("GET /work?delay_ms=x", "POST"),
        ("POST /api/v1/recipes/x", "GET, HEAD"),
        ("GET /api/v1/recipes/x/notes", "POST"),
        ("OPTIONS /api/v1/dashboard", "GET, HEAD"),
    ] {
        let (status, headers, _) = get(request).await;
        assert_eq!((status, headers["allow"].to_str().unwrap()), (405, allowed));
    }
}

#[tokio::test]
async fn users_live_until_they_are_deleted() {
    let app = app();
    for (request, status, body) in [
        ("GET /users/", 200, ""),
        ("POST /user/", 200, "0"),
        ("POST /user", 200, "1"),
        ("GET /user/1", 200, "{}"),
        ("PUT /user/1/", 200, ""),
        ("GET /users", 200, "0,1"),
        ("DELETE /user/0", 200, ""),
        ("GET /users/", 200, "1"),
    ] {
        let answer = send(&app, request, Body::from("ignored")).await;
        assert_eq!((answer.0, answer.2.as_str()), (status, body), "{request}");
    }
}

#[tokio::test(start_paused = true)]
async fn work_adds_and_waits() {
    let started = tokio::time::Instant::now();
    let (_, headers, body) = send(&app(), "POST /work?a=b&delay_ms=2000", "[1,2]".into()).await;
    assert_eq!(body, "Sum: 3");
    assert_eq!(headers["content-type"], "text/plain; charset=utf-8");
    assert!(started.elapsed().as_millis() >= 2000);
    for query in ["", "=", "=x", "=10001", "=%2B1", "=1&delay_ms=1"] {
        let request = format!("POST /work?delay_ms{query}");
        let (status, ..) = send(&app(), &request, "[".into()).await;
        assert_eq!(status, 400, "{query}");
    }
}

#[tokio::test]
async fn bodies_have_a_limit_with_and_without_an_announced_length() {
    for (length, status) in [(1 << 20, 200), ((1 << 20) + 1, 413)] {
        let body = "x".repeat(length);
        let chunks: Vec<_> = body.as_bytes().chunks(4096).map(<[u8]>::to_vec).collect();
        let chunked = stream::iter(chunks.into_iter().map(Ok::<_, std::io::Error>));
        for body in [Body::from(body), Body::from_stream(chunked)] {
            let (code, ..) = send(&app(), "POST /user/", body).await;
            assert_eq!(code, status);
        }
    }
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let (status, headers, body) = get("HEAD /healthz").await;
    assert_eq!((status, body.as_str()), (200, ""));
    assert_eq!(headers["content-length"], "15");
}

#[tokio::test]
async fn the_pool_tells_where_it_keeps_connections() {
    let (status, headers, body) = get("GET /pool").await;
    assert_eq!(
        (status, body.as_str()),
        (200, r#"{"checkouts":0,"wait_us":0}"#)
    );
    assert_eq!(headers["content-type"], "application/json");
    for request in ["GET /pool", "POST /pool"] {
        let (status, ..) = send(&app_with("--db-persistent=0"), request, Body::empty()).await;
        assert_eq!(status, 404, "{request}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_in_vain_is_told_as_well() {
    let app = app();
    let (status, ..) = send(&app, "GET /api/v1/recipes as k", Body::empty()).await;
    assert_eq!(status, 503);
    let (_, _, body) = send(&app, "GET /pool", Body::empty()).await;
    assert!(body.starts_with(r#"{"checkouts":1,"wait_us":"#), "{body}");
}

#[tokio::test(start_paused = true)]
async fn a_database_that_is_away_is_503() {
    for request in [
        "GET /api/v1/recipes/1 as k",
        "GET /api/v1/recipes as k",
        "GET /api/v1/dashboard as k",
        "POST /api/v1/recipes/1/notes as k",
    ] {
        let (status, _, body) = send(&app(), request, r#"{"text":"a"}"#.into()).await;
        assert_eq!(status, 503, "{request}");
        assert_eq!(body, r#"{"error":"database unavailable"}"#);
    }
}
