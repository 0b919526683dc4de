//! The API: recipes, notes and the dashboard. The statements of a request are sent one after the other, save the reads of a
//! dashboard.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use axum_extra::TypedHeader;
use axum_extra::headers::Cookie;
use common::models::{Dashboard, FromRow, NewNote, NoteCreated, Recipe, RecipeRows};
use common::queries::{self, Query};
use serde::Deserialize;
use tokio_postgres::Row;

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
    let key = session_key(&cookies)?;
    let recipe = database.lend(async |connection| {
        let user_id = user_id(connection, key).await?;
        let found = connection.query(&queries::RECIPE_RANDOM, &[&user_id]).await?;
        load(connection, first(&found)?).await
    });
    recipe.await.map(Json)
}

async fn recipe(
    State(database): State<Arc<Database>>,
    Path(RecipeId(id)): Path<RecipeId>,
    cookies: Cookies,
) -> Result<Json<Recipe>, Error> {
    let key = session_key(&cookies)?;
    let recipe = database.lend(async |connection| {
        let user_id = user_id(connection, key).await?;
        let found = connection.query(&queries::RECIPE_BY_ID, &[&user_id, &id]).await?;
        load(connection, first(&found)?).await
    });
    recipe.await.map(Json)
}

/// Reads the parts of a recipe.
async fn load(connection: &mut Connection, recipe: &Row) -> Result<Recipe, Error> {
    let id: i32 = recipe.try_get("id")?;
    let rows = RecipeRows {
        recipe,
        ingredients: connection.query(&queries::INGREDIENTS, &[&id]).await?,
        steps: connection.query(&queries::STEPS, &[&id]).await?,
        sections: connection.query(&queries::SECTIONS, &[&id]).await?,
        notes: connection.query(&queries::NOTES, &[&id]).await?,
        reactions: connection.query(&queries::REACTIONS, &[&id]).await?,
        events: connection.query(&queries::TIMELINE_EVENTS, &[&id]).await?,
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
    let key = session_key(&cookies)?;
    let created = database.lend(async |connection| {
        let user_id = user_id(connection, key).await?;
        let Connection { client, statements, .. } = connection;
        // Rolled back unless it is committed.
        let transaction = client.transaction().await?;
        let notes = statements
            .query(&transaction, &queries::NOTE_INSERT, &[&user_id, &id, &text])
            .await?;
        let created = NoteCreated::from_row(first(&notes)?)?;
        statements
            .query(&transaction, &queries::EVENT_INSERT, &[&user_id, &id])
            .await?;
        transaction.commit().await?;
        Ok(created)
    });
    Ok((StatusCode::CREATED, Json(created.await?)))
}

/// After the session four reads at once, each on a connection of its own.
async fn dashboard(State(database): State<Arc<Database>>, cookies: Cookies) -> Result<Json<Dashboard>, Error> {
    let key = session_key(&cookies)?;
    let user_id = database.lend(async |connection| user_id(connection, key).await).await?;
    let (recipes, teams, notes, events) = tokio::try_join!(
        read(&database, &queries::DASHBOARD_RECIPES, user_id),
        read(&database, &queries::DASHBOARD_TEAMS, user_id),
        read(&database, &queries::DASHBOARD_NOTES, user_id),
        read(&database, &queries::DASHBOARD_EVENTS, user_id),
    )?;
    Ok(Json(Dashboard {
        user_id,
        recipes,
        teams,
        notes,
        events,
    }))
}

async fn read<T: FromRow>(database: &Database, query: &Query, user_id: i32) -> Result<Vec<T>, Error> {
    let rows = database.lend(async |connection| connection.query(query, &[&user_id]).await);
    Ok(T::all(&rows.await?)?)
}

/// The owner of the session.
async fn user_id(connection: &mut Connection, key: &str) -> Result<i32, Error> {
    connection.set_time_zone().await?;
    let sessions = connection.query(&queries::SESSION, &[&key]).await?;
    let session = sessions.first().ok_or(Error::Unauthorized)?;
    Ok(session.try_get("user_id")?)
}

fn session_key(cookies: &Cookies) -> Result<&str, Error> {
    let cookies = cookies.as_ref().ok_or(Error::Unauthorized)?;
    cookies.get("sessionid").ok_or(Error::Unauthorized)
}

fn first(rows: &[Row]) -> Result<&Row, Error> {
    rows.first().ok_or(Error::NotFound)
}
