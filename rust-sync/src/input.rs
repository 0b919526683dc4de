//! What a handler takes from a request, and the refusals.

use hyper::HeaderMap;
use hyper::header::COOKIE;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::errors::Error;

/// A request with its whole body, or with the reason why that was not read.
pub(crate) type Request = hyper::Request<Result<Vec<u8>, Error>>;

/// Digits without a sign or leading zero, which `parse` alone would take.
pub(crate) fn recipe_id(text: &str) -> Option<i32> {
    text.starts_with(|first| matches!(first, '1'..='9'))
        .then(|| text.parse().ok())?
}

/// Milliseconds from 0 to 10000; 0 if there is no such parameter.
pub(crate) fn delay_ms(query: Option<&str>) -> Result<u64, Error> {
    let parameters = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let mut values = parameters.filter(|(name, _)| name == "delay_ms");
    match (values.next(), values.next()) {
        (None, _) => Ok(0),
        (Some((_, text)), None) => Some(text)
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|text| text.parse().ok())
            .filter(|&delay_ms| delay_ms <= 10_000)
            .ok_or(Error::BadRequest),
        _ => Err(Error::BadRequest),
    }
}

/// The value of the cookie `sessionid`.
///
/// Works on bytes: another cookie that is not text must not hide the session. The last of several
/// wins, as in Django and Starlette.
pub(crate) fn session_key(headers: &HeaderMap) -> Result<&str, Error> {
    headers
        .get_all(COOKIE)
        .iter()
        .flat_map(|value| value.as_bytes().split(|&byte| byte == b';'))
        .filter_map(|pair| pair.trim_ascii().strip_prefix(b"sessionid="))
        .next_back()
        .and_then(|key| str::from_utf8(key).ok())
        .ok_or(Error::Unauthorized)
}

/// The body as JSON: 400 if it is none, 422 if it is of another shape.
pub(crate) fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Error> {
    // serde stops at the first value that it cannot use, which may stand before the first fault.
    serde_json::from_slice(body).map_err(|_| match str::from_utf8(body) {
        Ok(text) if serde_json::from_str::<IgnoredAny>(text).is_ok() => Error::Unprocessable,
        _ => Error::BadRequest,
    })
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn ids_are_plain_decimal_numbers() {
        assert_eq!(recipe_id("1"), Some(1));
        assert_eq!(recipe_id("2147483647"), Some(i32::MAX));
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
            assert_eq!(recipe_id(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_delay_is_a_decimal_number_up_to_10000() {
        for (query, delay) in [
            (None, 0),
            (Some(""), 0),
            (Some("delay=1&Delay_ms=x"), 0),
            (Some("delay_ms=0"), 0),
            (Some("a=b&delay_ms=20&c"), 20),
            (Some("delay_ms=10000"), 10_000),
        ] {
            assert_eq!(delay_ms(query).unwrap(), delay, "{query:?}");
        }
        for bad in [
            "",
            "+1",
            "-1",
            "1.5",
            "1e3",
            "x",
            "%D9%A1",
            "10001",
            "9".repeat(30).as_str(),
        ] {
            assert!(delay_ms(Some(&format!("delay_ms={bad}"))).is_err(), "{bad}");
        }
        for bad in ["delay_ms", "delay_ms=1&delay_ms=1"] {
            assert!(delay_ms(Some(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_session_is_found_among_cookies_and_headers() {
        let found = |values: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(COOKIE, HeaderValue::from_bytes(value).unwrap());
            }
            session_key(&headers).ok().map(str::to_owned)
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
    fn json_of_another_shape_is_told_from_what_is_no_json() {
        let deep = "[".repeat(200_000);
        let balanced = format!("{deep}{}", "]".repeat(200_000));
        for (body, refused) in [
            ("", Some("bad request")),
            (" ", Some("bad request")),
            ("[1,2", Some("bad request")),
            ("[1,]", Some("bad request")),
            ("[\"x\",", Some("bad request")),
            ("[1] 2", Some("bad request")),
            ("\u{feff}[1]", Some("bad request")),
            (deep.as_str(), Some("bad request")),
            (balanced.as_str(), Some("unprocessable content")),
            ("{}", Some("unprocessable content")),
            ("[1.0]", Some("unprocessable content")),
            ("[true]", Some("unprocessable content")),
            ("[null]", Some("unprocessable content")),
            ("[2147483648]", Some("unprocessable content")),
            ("[1e999]", Some("unprocessable content")),
            (" [ -2147483648 , 2147483647 ] ", None),
            ("[]", None),
        ] {
            let error = json::<Vec<i32>>(body.as_bytes()).err();
            let start = &body[..body.len().min(20)];
            assert_eq!(
                error.map(|error| error.to_string()).as_deref(),
                refused,
                "{start}"
            );
        }
        assert!(matches!(
            json::<Vec<i32>>(b"[\"\xff\"]"),
            Err(Error::BadRequest)
        ));
    }
}
