//! What handlers ask of a request. Their order is that of their arguments, the body last.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::errors::Error;
use crate::{bodies, json};

/// The `{id}` of a recipe.
#[derive(Debug)]
pub struct RecipeId(pub i32);

impl<S: Send + Sync> FromRequestParts<S> for RecipeId {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Path(id) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|_| Error::BadRequest)?;
        parse_id(&id).map(Self).ok_or(Error::BadRequest)
    }
}

/// Digits without a sign or leading zero, which `parse` alone would take.
fn parse_id(text: &str) -> Option<i32> {
    text.starts_with(|first| matches!(first, '1'..='9'))
        .then(|| text.parse().ok())?
}

/// The `{id}` of a user. Without digits it is no path of this server.
#[derive(Debug)]
pub struct UserId(pub usize);

impl<S: Send + Sync> FromRequestParts<S> for UserId {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(id)) if id.bytes().all(|byte| byte.is_ascii_digit()) => {
                // One that is too large is that of no user, as is the largest of all.
                Ok(Self(id.parse().unwrap_or(usize::MAX)))
            }
            _ => Err(Error::NotFound),
        }
    }
}

/// The parameter `delay_ms` of the query.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(try_from = "String")]
pub struct Delay(pub Duration);

impl TryFrom<String> for Delay {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(milliseconds @ 0..=10_000) if digits => {
                Ok(Self(Duration::from_millis(milliseconds)))
            }
            _ => Err("not a number from 0 to 10000"),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Delay {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Parameters {
            #[serde(default)]
            delay_ms: Delay,
        }
        match Query::<Parameters>::try_from_uri(&parts.uri) {
            Ok(Query(parameters)) => Ok(parameters.delay_ms),
            Err(_) => Err(Error::BadRequest),
        }
    }
}

/// The value of the cookie `sessionid`.
#[derive(Debug)]
pub struct SessionKey(pub String);

impl<S: Sync> FromRequestParts<S> for SessionKey {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        session_key(&parts.headers)
            .map(|key| Self(key.to_owned()))
            .ok_or(Error::Unauthorized)
    }
}

/// Works on bytes: another cookie that is not text must not hide the session. The last of several
/// wins, as in Django and Starlette.
fn session_key(headers: &HeaderMap) -> Option<&str> {
    let key = headers
        .get_all(header::COOKIE)
        .iter()
        .flat_map(|value| value.as_bytes().split(|&byte| byte == b';'))
        .filter_map(|pair| pair.trim_ascii().strip_prefix(b"sessionid="))
        .next_back()?;
    str::from_utf8(key).ok()
}

/// A body in JSON, whatever its `Content-Type`.
#[derive(Debug)]
pub struct JsonBody<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        let LimitedBody(body) = LimitedBody::from_request(request, state).await?;
        json::parse(&body).map(Self)
    }
}

/// A body, read to its end.
#[derive(Debug)]
pub struct LimitedBody(pub Bytes);

impl<S: Sync> FromRequest<S> for LimitedBody {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self, Error> {
        // axum puts an error of its own around those of a body.
        let body = request.into_body().map_err(axum::Error::into_inner);
        bodies::read(body).await.map(Self)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn ids_are_plain_decimal_numbers() {
        assert_eq!(parse_id("1"), Some(1));
        assert_eq!(parse_id("2147483647"), Some(i32::MAX));
        for bad in [
            "",
            "0",
            "01",
            "+1",
            "-1",
            "1.0",
            "1e3",
            " 1",
            "1 ",
            "x",
            "１",
            "2147483648",
            "99999999999",
        ] {
            assert_eq!(parse_id(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn the_session_is_found_among_cookies_and_headers() {
        let found = |values: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::COOKIE, HeaderValue::from_bytes(value).unwrap());
            }
            session_key(&headers).map(str::to_owned)
        };
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[b"a=b; xsessionid=k; sessionid"]), None);
        assert_eq!(found(&[b"a=b;sessionid=k=1;c=d"]).as_deref(), Some("k=1"));
        assert_eq!(found(&[b"a=\xff; sessionid=k"]).as_deref(), Some("k"));
        assert_eq!(found(&[b"a=b", b"sessionid=k"]).as_deref(), Some("k"));
        assert_eq!(found(&[b"sessionid=k; sessionid=l"]).as_deref(), Some("l"));
        assert_eq!(found(&[b"sessionid=\xff"]), None);
    }

    #[test]
    fn a_delay_is_digits_from_0_to_10000() {
        for (text, milliseconds) in [("0", 0), ("020", 20), ("10000", 10_000)] {
            let delay = Delay(Duration::from_millis(milliseconds));
            assert_eq!(Delay::try_from(text.to_owned()), Ok(delay));
        }
        for bad in [
            "",
            "10001",
            "-1",
            "+1",
            "1.0",
            " 1",
            "1e1",
            "99999999999999999999",
        ] {
            assert!(Delay::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }
}
