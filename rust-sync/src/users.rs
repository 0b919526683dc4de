//! The scenario `users`: a table in the memory of this process. Bodies are read and ignored.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::routing::{get, post};
use common::users::{UserData, Users};

use crate::App;
use crate::errors::Error;

type Table = State<Arc<Users>>;

pub(crate) fn routes() -> Router<App> {
    let user = get(read).put(replace).delete(delete);
    Router::new()
        .route("/user/", post(create))
        .route("/user", post(create))
        .route("/user/{id}", user.clone())
        .route("/user/{id}/", user)
        .route("/users/", get(list))
        .route("/users", get(list))
}

async fn create(State(users): Table, _: Bytes) -> String {
    users.create(UserData).to_string()
}

async fn read(State(users): Table, Path(id): Path<usize>) -> Result<String, Error> {
    let user = users.read(id).ok_or(Error::NotFound)?;
    Ok(user.to_string())
}

async fn replace(State(users): Table, Path(id): Path<usize>, _: Bytes) -> Result<(), Error> {
    let former = users.replace(id, UserData);
    former.map(|_| ()).ok_or(Error::NotFound)
}

async fn delete(State(users): Table, Path(id): Path<usize>, _: Bytes) -> Result<(), Error> {
    let former = users.delete(id);
    former.map(|_| ()).ok_or(Error::NotFound)
}

async fn list(State(users): Table) -> String {
    let ids: Vec<_> = users.ids().iter().map(usize::to_string).collect();
    ids.join(",")
}
