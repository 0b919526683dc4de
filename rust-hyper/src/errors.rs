//! Everything that can end a request early, and the answer it becomes.

use std::error::Error as StdError;

use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};

pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// The client is told what is displayed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// 400: a number of bytes or a delay that is none, or a body that is not JSON.
    #[error("bad request")]
    BadRequest,

    /// 404: no such path or user.
    #[error("not found")]
    NotFound,

    /// 405: the path exists, for these other methods.
    #[error("method not allowed")]
    MethodNotAllowed(&'static str),

    /// 408: the body does not come to its end.
    #[error("request timeout")]
    TooSlow,

    /// 413: the body is longer than this server takes.
    #[error("payload too large")]
    TooLarge,

    /// 422: the body is JSON, but not of the shape that is wanted.
    #[error("unprocessable content")]
    Unprocessable,
}

impl Error {
    fn status(&self) -> StatusCode {
        match self {
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
        }
    }

    /// The answer that the client gets.
    pub(crate) fn into_answer<B: From<String>>(self) -> Response<B> {
        let mut answer = Response::new(format!(r#"{{"error":"{self}"}}"#).into());
        *answer.status_mut() = self.status();
        let json = HeaderValue::from_static("application/json");
        answer.headers_mut().insert(header::CONTENT_TYPE, json);
        if let Self::MethodNotAllowed(methods) = self {
            let methods = HeaderValue::from_static(methods);
            answer.headers_mut().insert(header::ALLOW, methods);
        }
        answer
    }
}
