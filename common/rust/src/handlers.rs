//! From a request to a call of the application's parts, and back.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use serde_json::{Value, json};

use crate::application::{Application, Wanted};
use crate::errors::Error;
use crate::extractors::{Delay, JsonBody, LimitedBody, RecipeId, SessionKey, UserId};
use crate::json::Json;
use crate::models::{Dashboard, NewNote, NoteCreated, PoolUse, Recipe};
use crate::users::{UserData, Users};

const INDEX: &str = include_str!("../../../contract/golden/index.html");

/// What the handlers share.
#[derive(Debug)]
pub struct App<A> {
    pub(crate) application: A,
    pub(crate) users: Users,
}

pub(crate) async fn healthz() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

pub(crate) async fn pool<A: Application>(State(app): State<Arc<App<A>>>) -> Json<Option<PoolUse>> {
    Json(app.application.pool_use())
}

pub(crate) async fn index() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], INDEX)
}

/// The body is ignored, but has to keep within the limit.
pub(crate) async fn create_user<A: Application>(
    State(app): State<Arc<App<A>>>,
    _: LimitedBody,
) -> String {
    app.users.create(UserData).to_string()
}

pub(crate) async fn create_user_with_id(_: UserId) -> Error {
    Error::BadRequest
}

pub(crate) async fn read_user<A: Application>(
    State(app): State<Arc<App<A>>>,
    UserId(id): UserId,
) -> Result<String, Error> {
    let user = app.users.read(id).ok_or(Error::NotFound)?;
    Ok(user.to_string())
}

pub(crate) async fn replace_user<A: Application>(
    State(app): State<Arc<App<A>>>,
    UserId(id): UserId,
    _: LimitedBody,
) -> Result<(), Error> {
    app.users.replace(id, UserData).ok_or(Error::NotFound)?;
    Ok(())
}

pub(crate) async fn delete_user<A: Application>(
    State(app): State<Arc<App<A>>>,
    UserId(id): UserId,
    _: LimitedBody,
) -> Result<(), Error> {
    app.users.delete(id).ok_or(Error::NotFound)?;
    Ok(())
}

pub(crate) async fn list_users<A: Application>(State(app): State<Arc<App<A>>>) -> String {
    let ids: Vec<_> = app.users.ids().iter().map(usize::to_string).collect();
    ids.join(",")
}

pub(crate) async fn work<A: Application>(
    State(app): State<Arc<App<A>>>,
    Delay(delay): Delay,
    LimitedBody(body): LimitedBody,
) -> Result<String, Error> {
    let sum = app.application.sum(body).await?;
    if !delay.is_zero() {
        app.application.wait(delay).await;
    }
    Ok(format!("Sum: {sum}"))
}

pub(crate) async fn random_recipe<A: Application>(
    State(app): State<Arc<App<A>>>,
    SessionKey(key): SessionKey,
) -> Result<Json<Recipe>, Error> {
    app.application.recipe(&key, Wanted::Random).await.map(Json)
}

pub(crate) async fn recipe<A: Application>(
    State(app): State<Arc<App<A>>>,
    RecipeId(id): RecipeId,
    SessionKey(key): SessionKey,
) -> Result<Json<Recipe>, Error> {
    app.application.recipe(&key, Wanted::Id(id)).await.map(Json)
}

pub(crate) async fn write_note<A: Application>(
    State(app): State<Arc<App<A>>>,
    RecipeId(recipe_id): RecipeId,
    SessionKey(key): SessionKey,
    JsonBody(NewNote(text)): JsonBody<NewNote>,
) -> Result<(StatusCode, Json<NoteCreated>), Error> {
    let id = app.application.write_note(&key, recipe_id, &text).await?;
    Ok((StatusCode::CREATED, Json(NoteCreated { id })))
}

pub(crate) async fn dashboard<A: Application>(
    State(app): State<Arc<App<A>>>,
    SessionKey(key): SessionKey,
) -> Result<Json<Dashboard>, Error> {
    app.application.dashboard(&key).await.map(Json)
}

pub(crate) async fn not_found() -> Error {
    Error::NotFound
}

pub(crate) async fn only_get() -> Error {
    Error::MethodNotAllowed("GET, HEAD")
}

pub(crate) async fn only_post() -> Error {
    Error::MethodNotAllowed("POST")
}

/// A path that is none comes before a method that is none.
pub(crate) async fn other_user_method(_: UserId) -> Error {
    Error::MethodNotAllowed("GET, HEAD, PUT, DELETE")
}
