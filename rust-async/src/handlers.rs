//! From a request to a call of the repository, and back.

use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use serde_json::{Value, json};

use crate::errors::Error;
use crate::models::Recipe;
use crate::repository::{Repository, Wanted};

pub(crate) async fn healthz() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

pub(crate) async fn random_recipe(
    State(repository): State<Repository>,
    SessionKey(key): SessionKey,
) -> Result<Json<Recipe>, Error> {
    repository.recipe(&key, Wanted::Random).await.map(Json)
}

pub(crate) async fn recipe(
    State(repository): State<Repository>,
    RecipeId(id): RecipeId,
    SessionKey(key): SessionKey,
) -> Result<Json<Recipe>, Error> {
    repository.recipe(&key, Wanted::Id(id)).await.map(Json)
}

pub(crate) async fn not_found() -> Error {
    Error::NotFound
}

pub(crate) async fn method_not_allowed() -> Error {
    Error::MethodNotAllowed
}

/// The `{id}` of the path.
#[derive(Debug)]
pub(crate) struct RecipeId(i32);

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

/// The value of the cookie `sessionid`.
#[derive(Debug)]
pub(crate) struct SessionKey(String);

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
}
