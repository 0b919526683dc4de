//! The API: recipes, notes and the dashboard. The statements of a request are sent one after the other, on one connection.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use axum_extra::TypedHeader;
use axum_extra::headers::Cookie;
use common::models::{Dashboard, FromRow, NewNote, NoteCreated, Recipe, RecipeRows};
use common::queries::{self, Query};
use postgres::Row;
use serde::Deserialize;

use crate::App;
use crate::database::{Connection, Database};
use crate::errors::Error;

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/api/v1/recipes", get(random_recipe))
        .route("/api/v1/recipes/{id}", get(recipe))
        .route("/api/v1/recipes/{id}/notes", post(write_note))
        .route("/api/v1/dashboard", get(dashboard))
}

/// A number from 1: others are refused before the database is asked.
#[derive(Debug, Deserialize)]
#[serde(try_from = "i32")]
struct RecipeId(i32);

impl TryFrom<i32> for RecipeId {
    type Error = &'static str;

    fn try_from(id: i32) -> Result<Self, Self::Error> {
        (id > 0).then_some(Self(id)).ok_or("an id is a number from 1")
    }
}

type Cookies = Option<TypedHeader<Cookie>>;

async fn random_recipe(State(database): State<Arc<Database>>, cookies: Cookies) -> Result<Json<Recipe>, Error> {
    let key = session_key(cookies)?;
    let recipe = database.lend(move |connection| {
        let user_id = user_id(connection, &key)?;
        let found = connection.query(&queries::RECIPE_RANDOM, &[&user_id])?;
        load(connection, first(&found)?)
    });
    recipe.await.map(Json)
}

async fn recipe(
    State(database): State<Arc<Database>>,
    Path(RecipeId(id)): Path<RecipeId>,
    cookies: Cookies,
) -> Result<Json<Recipe>, Error> {
    let key = session_key(cookies)?;
    let recipe = database.lend(move |connection| {
        let user_id = user_id(connection, &key)?;
        let found = connection.query(&queries::RECIPE_BY_ID, &[&user_id, &id])?;
        load(connection, first(&found)?)
    });
    recipe.await.map(Json)
}

/// Reads the parts of a recipe.
fn load(connection: &mut Connection, recipe: &Row) -> Result<Recipe, Error> {
    let id: i32 = recipe.try_get("id")?;
    let rows = RecipeRows {
        recipe,
        ingredients: connection.query(&queries::INGREDIENTS, &[&id])?,
        steps: connection.query(&queries::STEPS, &[&id])?,
        sections: connection.query(&queries::SECTIONS, &[&id])?,
        notes: connection.query(&queries::NOTES, &[&id])?,
        reactions: connection.query(&queries::REACTIONS, &[&id])?,
        events: connection.query(&queries::TIMELINE_EVENTS, &[&id])?,
    };
    Ok(rows.recipe()?)
}

/// Writes a note and its event, both or neither.
async fn write_note(
    State(database): State<Arc<Database>>,
    Path(RecipeId(id)): Path<RecipeId>,
    cookies: Cookies,
    Json(NewNote(text)): Json<NewNote>,
) -> Result<(StatusCode, Json<NoteCreated>), Error> {
    let key = session_key(cookies)?;
    let created = database.lend(move |connection| {
        let user_id = user_id(connection, &key)?;
        let Connection { client, statements, .. } = connection;
        // Rolled back unless it is committed.
        let mut transaction = client.transaction()?;
        let notes = statements.query(&mut transaction, &queries::NOTE_INSERT, &[&user_id, &id, &text])?;
        let created = NoteCreated::from_row(first(&notes)?)?;
        statements.query(&mut transaction, &queries::EVENT_INSERT, &[&user_id, &id])?;
        transaction.commit()?;
        Ok(created)
    });
    Ok((StatusCode::CREATED, Json(created.await?)))
}

async fn dashboard(State(database): State<Arc<Database>>, cookies: Cookies) -> Result<Json<Dashboard>, Error> {
    let key = session_key(cookies)?;
    let dashboard = database.lend(move |connection| {
        let user_id = user_id(connection, &key)?;
        Ok(Dashboard {
            user_id,
            recipes: read(connection, &queries::DASHBOARD_RECIPES, user_id)?,
            teams: read(connection, &queries::DASHBOARD_TEAMS, user_id)?,
            notes: read(connection, &queries::DASHBOARD_NOTES, user_id)?,
            events: read(connection, &queries::DASHBOARD_EVENTS, user_id)?,
        })
    });
    dashboard.await.map(Json)
}

fn read<T: FromRow>(connection: &mut Connection, query: &Query, user_id: i32) -> Result<Vec<T>, Error> {
    Ok(T::all(&connection.query(query, &[&user_id])?)?)
}

/// The owner of the session.
fn user_id(connection: &mut Connection, key: &str) -> Result<i32, Error> {
    connection.set_time_zone()?;
    let sessions = connection.query(&queries::SESSION, &[&key])?;
    let session = sessions.first().ok_or(Error::Unauthorized)?;
    Ok(session.try_get("user_id")?)
}

fn session_key(cookies: Cookies) -> Result<String, Error> {
    let cookies = cookies.ok_or(Error::Unauthorized)?;
    let key = cookies.get("sessionid").ok_or(Error::Unauthorized)?;
    Ok(key.to_owned())
}

fn first(rows: &[Row]) -> Result<&Row, Error> {
    rows.first().ok_or(Error::NotFound)
}
