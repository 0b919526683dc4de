//! Everything that can end a request early, and the answer it becomes.

use hyper::StatusCode;
use hyper::header::{self, HeaderValue};
use serde_json::json;

use crate::handlers::{Answer, answer};

/// What is displayed is what the client is told.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub(crate) enum Error {
    /// 400: a parameter that is none, or a body that is not JSON.
    #[error("bad request")]
    BadRequest,

    /// 404: no such path or user.
    #[error("not found")]
    NotFound,

    /// 405: the path exists, for these other methods.
    #[error("method not allowed")]
    MethodNotAllowed(&'static str),

    /// 413: the body is longer than this server takes.
    #[error("payload too large")]
    TooLarge,

    /// 422: the body is JSON, but not of the shape that is wanted.
    #[error("unprocessable content")]
    Unprocessable,
}

impl Error {
    fn status(self) -> StatusCode {
        match self {
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
        }
    }
}

impl From<Error> for Answer {
    fn from(error: Error) -> Self {
        let body = json!({ "error": error.to_string() }).to_string();
        let mut response = answer("application/json", body);
        *response.status_mut() = error.status();
        if let Error::MethodNotAllowed(methods) = error {
            let methods = HeaderValue::from_static(methods);
            response.headers_mut().insert(header::ALLOW, methods);
        }
        response
    }
}
