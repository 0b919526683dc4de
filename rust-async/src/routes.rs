//! Paths and methods. https://docs.rs/axum/0.8/axum/struct.Router.html

use std::time::Instant;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::get;

use crate::handlers;
use crate::repository::Repository;

/// The log target of the access log.
pub(crate) const ACCESS_LOG: &str = "access";

/// `get` serves HEAD, too.
pub(crate) fn router(repository: Repository, access_log: bool) -> Router {
    let router = Router::new()
        .route("/healthz", get(handlers::healthz))
        .route("/api/v1/recipes", get(handlers::random_recipe))
        .route("/api/v1/recipes/{id}", get(handlers::recipe))
        .fallback(handlers::not_found)
        .method_not_allowed_fallback(handlers::method_not_allowed)
        .with_state(repository);
    match access_log {
        true => router.layer(middleware::from_fn(log_access)),
        false => router,
    }
}

async fn log_access(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let uri = request.uri().clone();
    let response = next.run(request).await;
    tracing::info!(
        target: ACCESS_LOG,
        "{method} {uri} {} {} us",
        response.status().as_u16(),
        started.elapsed().as_micros()
    );
    response
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::http::{HeaderMap, StatusCode};
    use clap::Parser;
    use tower::ServiceExt;

    use super::*;
    use crate::config::Config;

    /// The database is a Unix socket that does not exist.
    async fn send(
        method: &str,
        path: &str,
        cookie: Option<&str>,
    ) -> (StatusCode, HeaderMap, String) {
        let config = Config::parse_from([
            "rust-async",
            "--database-url=postgresql://app@%2Fnonexistent/tandem?sslmode=disable",
        ]);
        let mut request = Request::builder().method(method).uri(path);
        if let Some(cookie) = cookie {
            request = request.header("cookie", cookie);
        }
        let response = router(Repository::new(&config), true)
            .oneshot(request.body(Body::empty()).unwrap())
            .await
            .unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
        (
            parts.status,
            parts.headers,
            String::from_utf8(body).unwrap(),
        )
    }

    #[tokio::test]
    async fn health_does_not_need_the_database() {
        let (status, headers, body) = send("GET", "/healthz", None).await;
        assert_eq!(
            (status.as_u16(), body.as_str()),
            (200, r#"{"status":"ok"}"#)
        );
        assert_eq!(headers["content-type"], "application/json");
    }

    #[tokio::test]
    async fn errors_are_json_and_checked_in_order() {
        for (method, path, status, error) in [
            ("GET", "/", 404, "not found"),
            ("POST", "/api/v1/recipes/", 404, "not found"),
            ("GET", "/api/v1/recipes/1/", 404, "not found"),
            ("POST", "/api/v1/recipes/x", 405, "method not allowed"),
            ("DELETE", "/healthz", 405, "method not allowed"),
            ("GET", "/api/v1/recipes/x", 400, "bad request"),
            ("GET", "/api/v1/recipes/%FF", 400, "bad request"),
            ("GET", "/api/v1/recipes/2147483648", 400, "bad request"),
            ("GET", "/api/v1/recipes/1", 401, "unauthorized"),
            ("GET", "/api/v1/recipes", 401, "unauthorized"),
        ] {
            let (code, headers, body) = send(method, path, None).await;
            assert_eq!(code.as_u16(), status, "{method} {path}");
            assert_eq!(body, format!(r#"{{"error":"{error}"}}"#), "{method} {path}");
            assert_eq!(headers["content-type"], "application/json");
            let allow = headers.get("allow").map(|value| value.to_str().unwrap());
            assert_eq!(allow, (status == 405).then_some("GET, HEAD"));
        }
    }

    #[tokio::test]
    async fn head_is_get_without_the_body() {
        let (status, headers, body) = send("HEAD", "/healthz", None).await;
        assert_eq!((status.as_u16(), body.as_str()), (200, ""));
        assert_eq!(headers["content-length"], "15");
    }

    #[tokio::test(start_paused = true)]
    async fn a_database_that_is_away_is_503() {
        let (status, _, body) = send("GET", "/api/v1/recipes/1", Some("sessionid=k")).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(body, r#"{"error":"database unavailable"}"#);
    }
}
