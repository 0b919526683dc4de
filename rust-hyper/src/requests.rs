//! What handlers ask of a request.

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::Request;
use hyper::body::{Body, Bytes};

use crate::errors::Error;

/// The longest body of a request, in bytes.
const BODY_LIMIT: usize = 1 << 20;

/// hyper's `Incoming`, or what the tests send.
pub(crate) trait RequestBody: Body<Data = Bytes> + Send + Unpin + 'static {}

impl<B: Body<Data = Bytes> + Send + Unpin + 'static> RequestBody for B {}

/// The parameter `delay_ms` of the query: digits, from 0 to 10000. Given twice it is none.
pub(crate) fn delay(query: Option<&str>) -> Result<Duration, Error> {
    let mut values = form_urlencoded::parse(query.unwrap_or_default().as_bytes())
        .filter_map(|(name, value)| (name == "delay_ms").then_some(value));
    let Some(text) = values.next() else {
        return Ok(Duration::ZERO);
    };
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(milliseconds @ 0..=10_000) if digits && values.next().is_none() => {
            Ok(Duration::from_millis(milliseconds))
        }
        _ => Err(Error::BadRequest),
    }
}

/// A body, read to its end. One that says it is too long is refused before it is read.
pub(crate) async fn body(request: Request<impl RequestBody>) -> Result<Bytes, Error> {
    let mut body = request.into_body();
    let announced = body.size_hint().lower();
    if announced > BODY_LIMIT as u64 {
        return Err(Error::TooLarge);
    }
    let mut bytes = Vec::with_capacity(announced as usize);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Error::BadRequest)?.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > BODY_LIMIT {
            return Err(Error::TooLarge);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_digits_from_0_to_10000() {
        for (query, milliseconds) in [
            (None, 0),
            (Some("a=b"), 0),
            (Some("delay_ms=0"), 0),
            (Some("a&delay_ms=020&b=%FF"), 20),
            (Some("delay_ms=10000"), 10_000),
        ] {
            assert_eq!(delay(query), Ok(Duration::from_millis(milliseconds)));
        }
        for bad in [
            "",
            "10001",
            "-1",
            "%2B1",
            "1.0",
            "+1",
            "1e1",
            "99999999999999999999",
            "1&delay_ms=1",
        ] {
            assert!(delay(Some(&format!("delay_ms={bad}"))).is_err(), "{bad}");
        }
    }
}
