//! Bodies that are refused before they are read.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::{Request, header};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How long what is still arriving after the answer is read and thrown away.
const LINGER: Duration = Duration::from_secs(2);

/// The body of a request. What is left of it when it is dropped is read to its end: hyper would
/// close the connection instead, and the answer, or the client's next request, could be lost.
pub(crate) struct Lingering<B: Body<Data = Bytes> + Send + Unpin + 'static> {
    /// `None` where nothing has to be thrown away.
    body: Option<B>,
    /// Whoever waits for `100 Continue` has not begun to send.
    waits: bool,
}

impl<B: Body<Data = Bytes> + Send + Unpin + 'static> Lingering<B> {
    /// Wraps the body of a request.
    pub(crate) fn wrap(request: Request<B>) -> Request<Self> {
        let waits = request.headers().contains_key(header::EXPECT);
        request.map(|body| Self {
            body: (!body.is_end_stream()).then_some(body),
            waits,
        })
    }
}

impl<B: Body<Data = Bytes> + Send + Unpin + 'static> Body for Lingering<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let frame = Pin::new(body).poll_frame(context);
        if !matches!(frame, Poll::Pending | Poll::Ready(Some(Ok(_)))) {
            self.body = None;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl<B: Body<Data = Bytes> + Send + Unpin + 'static> Drop for Lingering<B> {
    fn drop(&mut self) {
        let rest = self.body.take().filter(|body| !body.is_end_stream());
        if let (Some(mut body), false, Ok(runtime)) = (rest, self.waits, Handle::try_current()) {
            runtime.spawn(timeout(LINGER, async move {
                while let Some(Ok(_)) = body.frame().await {}
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Four frames; counts those that were read.
    struct Frames(Arc<AtomicUsize>);

    impl Body for Frames {
        type Data = Bytes;
        type Error = std::convert::Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
            let read = self.0.fetch_add(1, Ordering::SeqCst);
            Poll::Ready((read < 4).then(|| Ok(Frame::data(Bytes::from_static(b"x")))))
        }
    }

    async fn read_after_drop(request: hyper::http::request::Builder, before: usize) -> usize {
        let read = Arc::new(AtomicUsize::new(0));
        let request = request.body(Frames(Arc::clone(&read))).unwrap();
        let mut body = Lingering::wrap(request).into_body();
        for _ in 0..before {
            body.frame().await;
        }
        drop(body);
        tokio::task::yield_now().await;
        read.load(Ordering::SeqCst)
    }

    #[tokio::test]
    async fn what_is_left_is_read_to_its_end() {
        assert_eq!(read_after_drop(Request::builder(), 0).await, 5);
        assert_eq!(read_after_drop(Request::builder(), 2).await, 5);
        assert_eq!(read_after_drop(Request::builder(), 5).await, 5);
    }

    #[tokio::test]
    async fn nobody_waits_for_what_was_never_sent() {
        let request = Request::builder().header("expect", "100-continue");
        assert_eq!(read_after_drop(request, 0).await, 0);
    }
}
