//! The kinds of answers.

use http_body_util::Full;
use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};

/// An answer with a body that is complete; hyper adds its length and the date.
pub(crate) type Response = hyper::Response<Full<Bytes>>;

/// 200 without a body.
pub(crate) fn empty() -> Response {
    Response::default()
}

/// 200 with text.
pub(crate) fn text(body: impl Into<Bytes>) -> Response {
    response(StatusCode::OK, "text/plain; charset=utf-8", body)
}

/// 200 with a page.
pub(crate) fn html(body: impl Into<Bytes>) -> Response {
    response(StatusCode::OK, "text/html; charset=utf-8", body)
}

/// JSON that is written already.
pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Response {
    response(status, "application/json", body)
}

fn response(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let content_type = HeaderValue::from_static(content_type);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}
