use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use hyper::header::HeaderMap;

use super::*;

fn app() -> App {
    App::new(Offload::None, true)
}

async fn send(app: &App, request: &str, body: impl RequestBody) -> (u16, HeaderMap, String) {
    let (method, path) = request.split_once(' ').unwrap();
    let request = Request::builder().method(method).uri(path);
    let answer = app.serve(request.body(body).unwrap()).await;
    let (parts, body) = answer.into_parts();
    let body = body.collect().await.unwrap().to_bytes().to_vec();
    let body = String::from_utf8(body).unwrap();
    (parts.status.as_u16(), parts.headers, body)
}

async fn get(request: &str) -> (u16, HeaderMap, String) {
    send(&app(), request, Full::<Bytes>::default()).await
}

#[tokio::test]
async fn fixed_answers_have_a_type() {
    for (request, content_type, start) in [
        ("GET /healthz", "application/json", r#"{"status":"ok"}"#),
        ("GET /", "text/html; charset=utf-8", "<!doctype html>\n"),
        ("GET /null/3", "text/plain; charset=utf-8", "xxx"),
    ] {
        let (status, headers, body) = get(request).await;
        assert_eq!((status, headers["content-type"].to_str().unwrap()), (200, content_type));
        assert!(body.starts_with(start));
    }
    assert_eq!(get("GET /null/0").await.2, "");
    assert_eq!(get("GET /null/1048576").await.2.len(), 1 << 20);
}

#[tokio::test]
async fn errors_are_json_and_checked_in_order() {
    for (request, status, error) in [
        ("GET /api/v1/recipes", 404, "not found"),
        ("PATCH /user/abc", 404, "not found"),
        ("GET /user/0", 404, "not found"),
        ("PUT /user/99999999999999999999", 404, "not found"),
        ("POST /user/99999999999999999999", 400, "bad request"),
        ("POST /user/0/", 400, "bad request"),
        ("POST /work?delay_ms=x", 400, "bad request"),
        ("POST /work", 400, "bad request"),
        ("GET /null/1048577", 400, "bad request"),
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
        ("POST /null/1", "GET, HEAD"),
        ("GET /user", "POST"),
        ("HEAD /user/", "POST"),
        ("PATCH /user/7/", "GET, HEAD, PUT, DELETE"),
        ("POST /users", "GET, HEAD"),
        ("GET /work?delay_ms=x", "POST"),
    ] {
        let (status, headers, _) = get(request).await;
        assert_eq!((status, headers["allow"].to_str().unwrap()), (405, allowed));
    }
}

#[tokio::test]
async fn users_live_until_they_are_deleted() {
    let app = app();
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
        let answer = send(&app, request, Full::from("ignored")).await;
        assert_eq!((answer.0, answer.2.as_str()), (200, body), "{request}");
    }
}

#[tokio::test(start_paused = true)]
async fn work_adds_and_waits() {
    let started = tokio::time::Instant::now();
    let body = Full::from("[1,2]");
    let (_, headers, body) = send(&app(), "POST /work?delay_ms=2000", body).await;
    assert_eq!(body, "Sum: 3");
    assert_eq!(headers["content-type"], "text/plain; charset=utf-8");
    assert!(started.elapsed().as_millis() >= 2000);
}

#[tokio::test]
async fn bodies_have_a_limit_with_and_without_an_announced_length() {
    for (length, status) in [(1 << 20, 200), ((1 << 20) + 1, 413)] {
        let body = Bytes::from(vec![b'x'; length]);
        let (code, ..) = send(&app(), "POST /user/", Full::new(body.clone())).await;
        assert_eq!(code, status);

        let frame = Ok::<_, std::io::Error>(Frame::data(body));
        let stream = futures_util::stream::iter([frame]);
        let (code, ..) = send(&app(), "POST /user/", StreamBody::new(stream)).await;
        assert_eq!(code, status);
    }
}
