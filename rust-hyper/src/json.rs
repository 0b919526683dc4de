//! JSON that clients send.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::errors::Error;

/// What is no JSON in UTF-8 is a bad request; JSON of another shape cannot be processed.
pub(crate) fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Error> {
    let text = str::from_utf8(body).map_err(|_| Error::BadRequest)?;
    // The first error ends the parsing, so the rest may be no JSON. Ignoring a value looks at its
    // grammar alone and, unlike parsing it, does not recurse.
    serde_json::from_str(text).map_err(|_| match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => Error::Unprocessable,
        Err(_) => Error::BadRequest,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(body: &[u8]) -> String {
        parse::<Vec<i32>>(body).unwrap_err().to_string()
    }

    #[test]
    fn other_shapes_are_told_from_what_is_no_json() {
        for body in [
            "null",
            "7",
            r#""[1]""#,
            "{}",
            "[[1]]",
            "[1.5]",
            "[1.0]",
            "[1e3]",
            "[1e999]",
            "[true]",
            "[null]",
            r#"["1"]"#,
            "[2147483648]",
            "[-2147483649]",
            "[99999999999999999999999]",
            &format!("{}{}", "[".repeat(500_000), "]".repeat(500_000)),
        ] {
            assert_eq!(refusal(body.as_bytes()), "unprocessable content");
        }
        for body in [
            "",
            " ",
            "[",
            "[1,]",
            "[1,2",
            "[01]",
            "[+1]",
            "[1] [2]",
            "[1.5,",
            "NaN",
            "[1.]",
            "\u{feff}[1]",
            "{1:2}",
            "['1']",
            &"[".repeat(1_000_000),
        ] {
            assert_eq!(refusal(body.as_bytes()), "bad request");
        }
        assert_eq!(refusal(b"[\"\xff\"]"), "bad request");
    }

    #[test]
    fn white_space_is_allowed() {
        let numbers: Vec<i32> = parse(b" [ 1 ,\n-2147483648\t] \r\n").unwrap();
        assert_eq!(numbers, [1, i32::MIN]);
    }
}
