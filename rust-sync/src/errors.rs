//! Everything that can end a request early, and the answer it becomes.

use std::error::Error as StdError;
use std::{io, iter};

use hyper::StatusCode;
use hyper::header::{ALLOW, HeaderValue};

use crate::responses::{self, Response};

pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// What is displayed is what the client is told; the cause goes to the log.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
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
    pub(crate) fn unavailable(cause: impl Into<BoxError>) -> Self {
        Self::Unavailable(cause.into())
    }

    /// The error and its causes on one line, for the log.
    pub(crate) fn chain(&self) -> String {
        let errors = iter::successors(Some(self as &dyn StdError), |&error| error.source());
        errors
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(": ")
    }

    /// The answer that the client gets.
    pub(crate) fn into_response(self) -> Response {
        let status = match &self {
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Unavailable(_) => {
                tracing::warn!("{}", self.chain());
                StatusCode::SERVICE_UNAVAILABLE
            }
            Self::Unexpected(_) => {
                tracing::error!("{}", self.chain());
                StatusCode::SERVICE_UNAVAILABLE
            }
        };
        let mut response = responses::json(status, format!(r#"{{"error":"{self}"}}"#));
        if let Self::MethodNotAllowed(methods) = self {
            let methods = HeaderValue::from_static(methods);
            response.headers_mut().insert(ALLOW, methods);
        }
        response
    }
}

/// Tells a database that is away from a statement that is wrong.
impl From<postgres::Error> for Error {
    fn from(error: postgres::Error) -> Self {
        let away = match error.code().and_then(|state| state.code().get(..2)) {
            // Classes of https://www.postgresql.org/docs/17/errcodes-appendix.html: connection (and
            // PgBouncer's own errors), no such database, resources, operator; 0A and 26 get here
            // when a statement is lost although it was just prepared again.
            Some(class) => matches!(class, "08" | "0A" | "26" | "3D" | "53" | "57"),
            None => {
                error.is_closed() || error.source().is_some_and(|cause| cause.is::<io::Error>())
            }
        };
        match away {
            true => Self::Unavailable(error.into()),
            false => Self::Unexpected(error.into()),
        }
    }
}
