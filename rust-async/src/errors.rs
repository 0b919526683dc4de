//! What can end a request early, and the answer that it becomes.

use std::error::Error as StdError;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{BoxError, Json};
use serde_json::json;

/// The client is told what is displayed; the cause goes to the log.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("bad request")]
    BadRequest,
    #[error("unauthorized")]
    Unauthorized,
    #[error("not found")]
    NotFound,
    #[error("method not allowed")]
    MethodNotAllowed,
    #[error("unprocessable content")]
    Unprocessable,
    /// The database cannot be reached, or does not answer in time.
    #[error("database unavailable")]
    Unavailable(#[source] BoxError),
    /// A bug.
    #[error("internal server error")]
    Internal(#[source] BoxError),
}

impl Error {
    pub(crate) fn unavailable(cause: impl Into<BoxError>) -> Self {
        Self::Unavailable(cause.into())
    }

    pub(crate) fn internal(cause: impl Into<BoxError>) -> Self {
        Self::Internal(cause.into())
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if status.is_server_error() {
            tracing::error!(error = self.source(), "{self}");
        }
        (status, Json(json!({ "error": self.to_string() }))).into_response()
    }
}

/// What is no JSON is a bad request; JSON of another shape cannot be processed.
impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        match error.is_data() {
            true => Self::Unprocessable,
            false => Self::BadRequest,
        }
    }
}

/// Tells an outage from a bug, such as a mistake in a statement.
impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        let outage = match error.code().and_then(|state| state.code().get(..2)) {
            // Classes of https://www.postgresql.org/docs/17/errcodes-appendix.html: connection (and PgBouncer's own errors),
            // no such database, resources, operator; 0A and 26 are statements that were prepared before the tables changed.
            Some(class) => matches!(class, "08" | "0A" | "26" | "3D" | "53" | "57"),
            None => error.is_closed() || error.source().is_some_and(|cause| cause.is::<std::io::Error>()),
        };
        match outage {
            true => Self::unavailable(error),
            false => Self::internal(error),
        }
    }
}
