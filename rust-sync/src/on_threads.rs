//! Around handlers that block: the async front reads the request whole and writes the answer, a
//! thread of a fixed number does what is between.

use std::convert::Infallible;
use std::future::ready;
use std::io;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::Route;
use common::bodies;
use futures_util::FutureExt;
use futures_util::stream::once;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Bytes, Frame};
use tower::{Layer, Service, ServiceExt};

use crate::executor::Executor;

/// Clones share the threads.
#[derive(Clone)]
pub(crate) struct OnThreads(Arc<Executor<(Route, Request), Option<Response>>>);

impl OnThreads {
    /// The threads start now and stay.
    pub(crate) fn start(threads: usize) -> io::Result<Self> {
        let executor = Executor::start(threads, |(handler, request): (Route, Request)| {
            // The body is there, and handlers block instead of waiting: this is ready at once.
            handler.oneshot(request).now_or_never()?.ok()
        })?;
        Ok(Self(Arc::new(executor)))
    }
}

impl Layer<Route> for OnThreads {
    type Service = OnThread;

    fn layer(&self, handler: Route) -> OnThread {
        OnThread {
            handler,
            threads: self.clone(),
        }
    }
}

/// A handler that blocks, to be awaited.
#[derive(Clone)]
pub(crate) struct OnThread {
    handler: Route,
    threads: OnThreads,
}

impl OnThread {
    async fn answer(self, request: Request) -> Result<Response, Infallible> {
        let (head, body) = request.into_parts();
        // axum puts an error of its own around those of a body.
        let body = match bodies::read(body.map_err(axum::Error::into_inner)).await {
            Ok(body) => Body::from(body),
            // The handler tells, for there may be another reason to refuse the request.
            Err(refused) => Body::new(StreamBody::new(once(ready(Err::<Frame<Bytes>, _>(
                refused,
            ))))),
        };
        let job = (self.handler, Request::from_parts(head, body));
        match self.threads.0.execute(job).await {
            Ok(Some(answer)) => Ok(answer),
            // As where handlers are awaited, it ends the connection without an answer.
            _ => resume_unwind(Box::new("the handler panicked")),
        }
    }
}

impl Service<Request> for OnThread {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        Box::pin(self.clone().answer(request))
    }
}
