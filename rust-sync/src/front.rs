//! The async front: it reads requests whole and writes answers; threads do what is between.

use std::future::ready;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use common::bodies::{self, ClientBody};
use common::errors::BoxError;
use common::routes;
use futures_util::FutureExt;
use futures_util::stream::once;
use http_body_util::StreamBody;
use hyper::body::{Bytes, Frame, Incoming};
use hyper::service::Service;
use tower::ServiceExt;

use crate::config::Config;
use crate::executor::{Executor, Panicked};
use crate::repository::Repository;

/// Hands each request to a thread that may block.
#[derive(Clone)]
pub(crate) struct Front(Arc<Executor<Request, Option<Response>>>);

impl Front {
    pub(crate) fn start(config: &Config) -> io::Result<Self> {
        let router = routes::router(Repository::new(config), config.server.access_log);
        let handlers = Executor::start(config.threads, move |request| {
            // The body is there, and handlers block instead of waiting: this is ready at once.
            router.clone().oneshot(request).now_or_never()?.ok()
        })?;
        Ok(Self(Arc::new(handlers)))
    }

    /// A panic in a handler ends the connection, without an answer.
    pub(crate) async fn answer<B>(self, request: hyper::Request<B>) -> Result<Response, Panicked>
    where
        B: hyper::body::Body<Data = Bytes, Error: Into<BoxError>>,
    {
        let (head, body) = request.into_parts();
        let body = match bodies::read(body).await {
            Ok(body) => Body::from(body),
            // The handler tells, for there may be another reason to refuse the request.
            Err(refused) => Body::new(StreamBody::new(once(ready(Err::<Frame<Bytes>, _>(
                refused,
            ))))),
        };
        let answer = self.0.execute(Request::from_parts(head, body)).await?;
        answer.ok_or(Panicked)
    }
}

impl Service<hyper::Request<ClientBody<Incoming>>> for Front {
    type Response = Response;
    type Error = Panicked;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Panicked>> + Send>>;

    fn call(&self, request: hyper::Request<ClientBody<Incoming>>) -> Self::Future {
        Box::pin(self.clone().answer(request))
    }
}
