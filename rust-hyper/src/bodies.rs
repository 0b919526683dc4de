//! The bodies of requests: how large, how slow, and what becomes of those that nobody reads.

use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::{Request, header};
use tokio::runtime::Handle;
use tokio::time::{Sleep, sleep, timeout};

use crate::errors::{BoxError, Error};

/// The longest body of a request, in bytes.
const LIMIT: usize = 1 << 20;
/// How long a body may take, from the first time that it is waited for.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long what is still arriving after the answer is read and thrown away.
const LINGER: Duration = Duration::from_secs(2);

/// The body of a request, as it comes from the client, for so long and no longer. What is left of
/// it when it is dropped is read to its end: hyper would close the connection instead, and the
/// answer, or the client's next request, could be lost.
#[derive(Debug)]
pub(crate) struct ClientBody<B: Body<Data = Bytes> + Send + Unpin + 'static> {
    /// `None` where nothing has to be thrown away.
    body: Option<B>,
    /// Whoever waits for `100 Continue` has not begun to send.
    waits: bool,
    /// Most bodies come with their head and need none.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<B: Body<Data = Bytes> + Send + Unpin + 'static> ClientBody<B> {
    /// Wraps the body of a request.
    pub(crate) fn wrap(request: Request<B>) -> Request<Self> {
        let waits = request.headers().contains_key(header::EXPECT);
        request.map(|body| Self {
            body: (!body.is_end_stream()).then_some(body),
            waits,
            deadline: None,
        })
    }
}

impl<B> Body for ClientBody<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        match Pin::new(body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => Poll::Ready(Some(Ok(frame))),
            Poll::Ready(end) => {
                self.body = None;
                Poll::Ready(end.map(|frame| frame.map_err(Into::into)))
            }
            Poll::Pending => {
                let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(TIMEOUT)));
                deadline
                    .as_mut()
                    .poll(context)
                    .map(|()| Some(Err(Error::TooSlow.into())))
            }
        }
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

impl<B: Body<Data = Bytes> + Send + Unpin + 'static> Drop for ClientBody<B> {
    fn drop(&mut self) {
        let rest = self.body.take().filter(|body| !body.is_end_stream());
        if let (Some(mut body), false, Ok(runtime)) = (rest, self.waits, Handle::try_current()) {
            runtime.spawn(timeout(
                LINGER,
                async move { while let Some(Ok(_)) = body.frame().await {} },
            ));
        }
    }
}

/// A body to its end. One that says it is too long is refused before it is read, which axum's own
/// limit does not do. Small parts are copied together: kept, they would take many times their size.
pub(crate) async fn read(body: impl Body<Data = Bytes, Error: Into<BoxError>>) -> Result<Bytes, Error> {
    let announced = body.size_hint().lower();
    if announced > LIMIT as u64 {
        return Err(Error::TooLarge);
    }
    let mut body = pin!(body);
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(refusal)?.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > LIMIT {
            return Err(Error::TooLarge);
        }
        if bytes.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        if bytes.is_empty() {
            bytes.reserve_exact(announced as usize);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.into())
}

/// This crate's own reason, or that of a client that broke off.
fn refusal(error: impl Into<BoxError>) -> Error {
    match error.into().downcast::<Error>() {
        Ok(own) => *own,
        Err(_) => Error::BadRequest,
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use http_body_util::Full;
    use tokio::time::{Instant, Interval, interval};

    use super::*;

    /// Four frames; counts those that were read.
    struct Frames(Arc<AtomicUsize>);

    impl Body for Frames {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
            let read = self.0.fetch_add(1, Ordering::SeqCst);
            Poll::Ready((read < 4).then(|| Ok(Frame::data(Bytes::from_static(b"x")))))
        }
    }

    async fn read_after_drop(request: hyper::http::request::Builder, before: usize) -> usize {
        let read = Arc::new(AtomicUsize::new(0));
        let request = request.body(Frames(Arc::clone(&read))).unwrap();
        let mut body = ClientBody::wrap(request).into_body();
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

    /// A byte for each tick, for ever.
    struct Trickle(Interval);

    impl Body for Trickle {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
            let tick = self.0.poll_tick(context);
            tick.map(|_| Some(Ok(Frame::data(Bytes::from_static(b" ")))))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_has_30_seconds_however_steadily_it_drips() {
        for period in [Duration::from_secs(1), Duration::from_secs(86_400)] {
            let began = Instant::now();
            let body = Request::new(Trickle(interval(period)));
            let body = read(ClientBody::wrap(body).into_body());
            let ended = timeout(Duration::from_secs(3600), body).await;
            assert!(matches!(ended, Ok(Err(Error::TooSlow))), "{ended:?}");
            assert_eq!(began.elapsed().as_secs(), 30);
        }
    }

    #[tokio::test]
    async fn a_body_in_one_piece_is_not_copied() {
        let sent = Bytes::from(vec![b'x'; LIMIT]);
        let body = Request::new(Full::new(sent.clone()));
        let got = read(ClientBody::wrap(body).into_body()).await.unwrap();
        assert_eq!((got.as_ptr(), got.len()), (sent.as_ptr(), LIMIT));
    }

    #[tokio::test]
    async fn a_body_in_pieces_is_whole() {
        let body = Request::new(Frames(Arc::default()));
        let got = read(ClientBody::wrap(body).into_body()).await.unwrap();
        assert_eq!(got, "xxxx");
    }
}
