//! Requests to the whole application, without a socket and without a database.

use std::time::{Duration, Instant};

use clap::Parser;
use http_body_util::BodyExt;
use hyper::header::{ALLOW, CONTENT_TYPE, COOKIE};

use super::*;

fn application() -> Application {
    application_with("--db-persistent=1")
}

/// The database is a Unix socket that does not exist.
fn application_with(setting: &str) -> Application {
    Application::new(&Config::parse_from([
        "rust-sync",
        setting,
        "--db-pool-max=1",
        "--database-url=postgresql://app@%2Fnonexistent/tandem?sslmode=disable",
    ]))
}

fn request(method: &str, path: &str, cookie: Option<&str>, body: Result<&str, Error>) -> Request {
    let mut request = hyper::Request::builder().method(method).uri(path);
    if let Some(cookie) = cookie {
        request = request.header(COOKIE, cookie);
    }
    request.body(body.map(Vec::from)).unwrap()
}

#[tokio::main(flavor = "current_thread")]
async fn text(response: Response) -> String {
    let body = response.into_body().collect().await.unwrap();
    String::from_utf8(body.to_bytes().to_vec()).unwrap()
}

/// Status and body.
fn send(application: &Application, method: &str, path: &str, body: &str) -> (u16, String) {
    let request = request(method, path, None, Ok(body));
    let response = application.respond(request, Instant::now());
    (response.status().as_u16(), text(response))
}

fn ok(body: &str) -> (u16, String) {
    (200, body.to_owned())
}

#[test]
fn health_and_page_do_not_need_the_database() {
    let application = application();
    let sent = |path| application.respond(request("GET", path, None, Ok("")), Instant::now());
    let health = sent("/healthz");
    assert_eq!(health.headers()[CONTENT_TYPE], "application/json");
    assert_eq!(text(health), r#"{"status":"ok"}"#);
    for path in ["/", "/index.html", "/index.htm"] {
        let page = sent(path);
        assert_eq!(page.headers()[CONTENT_TYPE], "text/html; charset=utf-8");
        assert!(text(page).starts_with("<!"));
    }
}

#[test]
fn the_pool_tells_where_there_is_one() {
    let with = application();
    assert_eq!(
        send(&with, "GET", "/pool", ""),
        ok(r#"{"checkouts":0,"wait_us":0}"#)
    );
    assert_eq!(send(&with, "POST", "/pool", "").0, 405);
    let without = application_with("--db-persistent=0");
    for method in ["GET", "POST"] {
        assert_eq!(send(&without, method, "/pool", "").0, 404);
    }
}

#[test]
fn users_are_kept_in_memory() {
    let application = application();
    let send = |method, path| send(&application, method, path, "ignored");
    assert_eq!(send("GET", "/users/"), ok(""));
    assert_eq!(send("POST", "/user/"), ok("0"));
    assert_eq!(send("POST", "/user"), ok("1"));
    assert_eq!(send("GET", "/users"), ok("0,1"));
    assert_eq!(send("GET", "/user/1/"), ok("{}"));
    assert_eq!(send("PUT", "/user/1"), ok(""));
    assert_eq!(send("DELETE", "/user/0"), ok(""));
    assert_eq!(send("GET", "/users/"), ok("1"));
    for method in ["GET", "PUT", "DELETE"] {
        assert_eq!(send(method, "/user/0").0, 404);
        assert_eq!(send(method, "/user/99999999999999999999").0, 404);
    }
    for path in ["/user/0", "/user/1", "/user/99999999999999999999"] {
        assert_eq!(send("POST", path).0, 400);
    }
}

#[test]
fn work_adds_and_then_waits() {
    let application = application();
    let began = Instant::now();
    let answer = send(&application, "POST", "/work?delay_ms=30", "[2147483647, 1]");
    assert_eq!(answer, ok("Sum: 2147483648"));
    assert!(began.elapsed() >= Duration::from_millis(30));
    assert_eq!(send(&application, "POST", "/work", "[]"), ok("Sum: 0"));
    assert_eq!(send(&application, "POST", "/work?delay_ms=x", "[]").0, 400);
    assert_eq!(send(&application, "POST", "/work", "[1.5]").0, 422);
}

#[test]
fn errors_are_json_and_checked_in_order() {
    let application = application();
    for (method, path, status, error, allowed) in [
        ("GET", "/nothing", 404, "not found", None),
        ("GET", "/user/abc", 404, "not found", None),
        ("GET", "/work/", 404, "not found", None),
        ("POST", "/api/v1/recipes/", 404, "not found", None),
        ("GET", "/api/v1/recipes/1/", 404, "not found", None),
        (
            "POST",
            "/api/v1/recipes/x",
            405,
            "method not allowed",
            Some("GET, HEAD"),
        ),
        (
            "DELETE",
            "/healthz",
            405,
            "method not allowed",
            Some("GET, HEAD"),
        ),
        ("GET", "/work", 405, "method not allowed", Some("POST")),
        (
            "HEAD",
            "/api/v1/recipes/x/notes",
            405,
            "method not allowed",
            Some("POST"),
        ),
        (
            "PATCH",
            "/user/1",
            405,
            "method not allowed",
            Some("GET, HEAD, PUT, DELETE"),
        ),
        ("GET", "/api/v1/recipes/x", 400, "bad request", None),
        ("GET", "/api/v1/recipes/%FF", 400, "bad request", None),
        (
            "GET",
            "/api/v1/recipes/2147483648",
            400,
            "bad request",
            None,
        ),
        ("POST", "/api/v1/recipes/0/notes", 400, "bad request", None),
        ("POST", "/work?delay_ms=-1", 400, "bad request", None),
        ("GET", "/api/v1/recipes/1", 401, "unauthorized", None),
        ("GET", "/api/v1/recipes", 401, "unauthorized", None),
        ("GET", "/api/v1/dashboard", 401, "unauthorized", None),
        ("POST", "/api/v1/recipes/1/notes", 401, "unauthorized", None),
        ("POST", "/work", 413, "payload too large", None),
        ("POST", "/user/", 413, "payload too large", None),
    ] {
        let request = request(method, path, None, Err(Error::TooLarge));
        let response = application.respond(request, Instant::now());
        assert_eq!(response.status().as_u16(), status, "{method} {path}");
        assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
        let allow = response.headers().get(ALLOW);
        assert_eq!(
            allow.map(|value| value.to_str().unwrap()),
            allowed,
            "{method} {path}"
        );
        assert_eq!(text(response), format!(r#"{{"error":"{error}"}}"#));
    }
}

#[test]
fn a_note_is_checked_before_the_database_is_asked() {
    let application = application();
    for (body, status) in [
        (Err(Error::TooLarge), 413),
        (Ok("{"), 400),
        (Ok(r#"["a"]"#), 422),
        (Ok(r#"{"text":""}"#), 422),
    ] {
        let request = request("POST", "/api/v1/recipes/1/notes", Some("sessionid=k"), body);
        let response = application.respond(request, Instant::now());
        assert_eq!(response.status().as_u16(), status);
    }
}

#[test]
fn a_database_that_is_away_is_503_within_two_seconds() {
    let application = application();
    let began = Instant::now();
    let request = request("GET", "/api/v1/recipes/1", Some("sessionid=k"), Ok(""));
    let response = application.respond(request, began);
    assert_eq!(response.status().as_u16(), 503);
    assert_eq!(text(response), r#"{"error":"database unavailable"}"#);
    assert!(began.elapsed() < Duration::from_secs(2));
}
