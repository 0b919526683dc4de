//! From a request to an answer, on a thread that may block.

use std::thread;
use std::time::Duration;

use hyper::StatusCode;
use serde::Serialize;

use crate::errors::Error;
use crate::input::{self, Request};
use crate::models::{NewNote, NoteCreated};
use crate::repository::{Repository, Wanted};
use crate::responses::{self, Response};
use crate::users::Users;

/// An id in a path that is digits and yet none, because it is too large.
pub(crate) type UserId = Option<usize>;

/// An id in a path; the text may be anything.
pub(crate) type RecipeId = Option<i32>;

pub(crate) fn healthz() -> Response {
    responses::json(StatusCode::OK, r#"{"status":"ok"}"#)
}

/// Without a pool this is a path like any other that does not exist.
pub(crate) fn pool(repository: &Repository) -> Result<Response, Error> {
    let pool_use = repository.pool_use().ok_or(Error::NotFound)?;
    json(StatusCode::OK, &pool_use)
}

pub(crate) fn index() -> Response {
    responses::html(&include_bytes!("../../contract/golden/index.html")[..])
}

/// The body is read and not looked at.
pub(crate) fn create_user(users: &Users, request: Request) -> Result<Response, Error> {
    request.into_body()?;
    Ok(responses::text(users.create().to_string()))
}

pub(crate) fn read_user(users: &Users, id: UserId) -> Result<Response, Error> {
    match id.is_some_and(|id| users.contains(id)) {
        true => Ok(responses::text("{}")),
        false => Err(Error::NotFound),
    }
}

pub(crate) fn replace_user(users: &Users, id: UserId, request: Request) -> Result<Response, Error> {
    request.into_body()?;
    match id.is_some_and(|id| users.replace(id)) {
        true => Ok(responses::empty()),
        false => Err(Error::NotFound),
    }
}

pub(crate) fn delete_user(users: &Users, id: UserId, request: Request) -> Result<Response, Error> {
    request.into_body()?;
    match id.is_some_and(|id| users.remove(id)) {
        true => Ok(responses::empty()),
        false => Err(Error::NotFound),
    }
}

pub(crate) fn list_users(users: &Users) -> Response {
    let ids: Vec<_> = users.ids().iter().map(usize::to_string).collect();
    responses::text(ids.join(","))
}

/// Adds the numbers, then sleeps, which keeps this thread from all other requests.
pub(crate) fn work(request: Request) -> Result<Response, Error> {
    let delay_ms = input::delay_ms(request.uri().query())?;
    let numbers: Vec<i32> = input::json(&request.into_body()?)?;
    let sum: i64 = numbers.into_iter().map(i64::from).sum();
    thread::sleep(Duration::from_millis(delay_ms));
    Ok(responses::text(format!("Sum: {sum}")))
}

pub(crate) fn random_recipe(repository: &Repository, request: &Request) -> Result<Response, Error> {
    let key = input::session_key(request.headers())?;
    json(StatusCode::OK, &repository.recipe(key, Wanted::Random)?)
}

pub(crate) fn recipe(
    repository: &Repository,
    id: RecipeId,
    request: &Request,
) -> Result<Response, Error> {
    let id = id.ok_or(Error::BadRequest)?;
    let key = input::session_key(request.headers())?;
    json(StatusCode::OK, &repository.recipe(key, Wanted::Id(id))?)
}

pub(crate) fn write_note(
    repository: &Repository,
    id: RecipeId,
    request: Request,
) -> Result<Response, Error> {
    let recipe_id = id.ok_or(Error::BadRequest)?;
    let (head, body) = request.into_parts();
    let key = input::session_key(&head.headers)?;
    let NewNote(text) = input::json(&body?)?;
    let id = repository.write_note(key, recipe_id, &text)?;
    json(StatusCode::CREATED, &NoteCreated { id })
}

/// What is new for the session's user.
pub(crate) fn dashboard(repository: &Repository, request: &Request) -> Result<Response, Error> {
    let key = input::session_key(request.headers())?;
    json(StatusCode::OK, &repository.dashboard(key)?)
}

fn json(status: StatusCode, model: &impl Serialize) -> Result<Response, Error> {
    let body = serde_json::to_vec(model).map_err(|error| Error::Unexpected(error.into()))?;
    Ok(responses::json(status, body))
}
