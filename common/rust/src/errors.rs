//! Everything that can end a request early, and the answer it becomes.

use std::error::Error as StdError;
use std::iter;

use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};

pub type BoxError = Box<dyn StdError + Send + Sync>;

/// What is displayed is what the client is told; the cause goes to the log.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// 400: an id or a parameter that is none, or a body that is not JSON.
    #[error("bad request")]
    BadRequest,

    /// 401: no session, or one that is unknown or expired.
    #[error("unauthorized")]
    Unauthorized,

    /// 404: no such path, user or recipe, or none that this session may see.
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

    /// 503: the database cannot be reached or did not answer in time.
    #[error("database unavailable")]
    Unavailable(#[source] BoxError),

    /// 503: the database answered with what this program does not understand.
    #[error("database unavailable")]
    Unexpected(#[source] BoxError),
}

impl Error {
    pub fn unavailable(cause: impl Into<BoxError>) -> Self {
        Self::Unavailable(cause.into())
    }

    /// The error and its causes on one line, for the log.
    pub fn chain(&self) -> String {
        let errors = iter::successors(Some(self as &dyn StdError), |&error| error.source());
        errors
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(": ")
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Unavailable(_) | Self::Unexpected(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The answer that the client gets.
    pub fn into_answer<B: From<String>>(self) -> Response<B> {
        match &self {
            Self::Unavailable(_) => tracing::warn!("{}", self.chain()),
            Self::Unexpected(_) => tracing::error!("{}", self.chain()),
            _ => {}
        }
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

#[cfg(feature = "application")]
impl axum::response::IntoResponse for Error {
    fn into_response(self) -> axum::response::Response {
        self.into_answer()
    }
}

#[cfg(feature = "application")]
/// Tells a database that is away from a statement that is wrong.
impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        let away = match error.code().and_then(|state| state.code().get(..2)) {
            // Classes of https://www.postgresql.org/docs/17/errcodes-appendix.html: connection (and
            // PgBouncer's own errors), no such database, resources, operator; 0A and 26 get here
            // when a statement is lost although it was just prepared again.
            Some(class) => matches!(class, "08" | "0A" | "26" | "3D" | "53" | "57"),
            None => {
                error.is_closed()
                    || error
                        .source()
                        .is_some_and(|cause| cause.is::<std::io::Error>())
            }
        };
        match away {
            true => Self::Unavailable(error.into()),
            false => Self::Unexpected(error.into()),
        }
    }
}
