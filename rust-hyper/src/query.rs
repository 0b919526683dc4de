//! What stands in the query of a request.

use std::time::Duration;

use crate::errors::Error;

/// The parameter `delay_ms` of the query: digits, from 0 to 10000. Given twice it is none.
pub(crate) fn delay(query: Option<&str>) -> Result<Duration, Error> {
    let mut values = form_urlencoded::parse(query.unwrap_or_default().as_bytes())
        .filter_map(|(name, value)| (name == "delay_ms").then_some(value));
    let Some(text) = values.next() else {
        return Ok(Duration::ZERO);
    };
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(milliseconds @ 0..=10_000) if digits && values.next().is_none() => Ok(Duration::from_millis(milliseconds)),
        _ => Err(Error::BadRequest),
    }
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
            let wanted = Duration::from_millis(milliseconds);
            assert_eq!(delay(query).unwrap(), wanted);
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
