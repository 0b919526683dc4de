//! What the handlers ask for, async. Statements of one request are sent one after the other, save
//! the reads of the dashboard.

use std::time::Duration;

use axum::body::Bytes;
use common::application::{Application, Wanted};
use common::connection::Connection;
use common::errors::Error;
use common::models::{Dashboard, PoolUse, Recipe};
use common::queries::Query;
use common::rows::{self, RecipeRows, RowResult};
use common::work::{self, Offload};
use tokio::time::sleep;
use tokio_postgres::Row;

use crate::config::Config;
use crate::database::Database;

#[derive(Debug)]
pub(crate) struct Repository {
    database: Database,
    offload: Offload,
}

impl Repository {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            database: Database::new(config),
            offload: config.runtime.offload,
        }
    }

    /// One statement about a user, on a connection that is free again afterwards.
    async fn read<T>(
        &self,
        query: Query,
        user_id: i32,
        model: fn(&Row) -> RowResult<T>,
    ) -> Result<Vec<T>, Error> {
        let mut connection = self.database.acquire().await?;
        let rows = connection.query(query, &[&user_id]).await;
        self.database.release(connection).await;
        Ok(rows::models(&rows?, model)?)
    }
}

impl Application for Repository {
    async fn sum(&self, body: Bytes) -> Result<i64, Error> {
        work::sum_at(body, self.offload).await
    }

    async fn wait(&self, delay: Duration) {
        sleep(delay).await;
    }

    async fn recipe(&self, session_key: &str, wanted: Wanted) -> Result<Recipe, Error> {
        let mut connection = self.database.begin().await?;
        let recipe = load_recipe(&mut connection, session_key, wanted).await;
        self.database.release(connection).await;
        recipe
    }

    async fn write_note(
        &self,
        session_key: &str,
        recipe_id: i32,
        text: &str,
    ) -> Result<i32, Error> {
        let mut connection = self.database.begin().await?;
        let id = write_note(&mut connection, session_key, recipe_id, text).await;
        self.database.release(connection).await;
        id
    }

    /// The session first; then four reads at once, each on a connection of its own.
    async fn dashboard(&self, session_key: &str) -> Result<Dashboard, Error> {
        let mut connection = self.database.begin().await?;
        let user_id = user_id(&mut connection, session_key).await;
        self.database.release(connection).await;
        let user_id = user_id?;

        let (recipes, teams, notes, events) = tokio::try_join!(
            self.read(Query::DashboardRecipes, user_id, rows::recipe_summary),
            self.read(Query::DashboardTeams, user_id, rows::team_summary),
            self.read(Query::DashboardNotes, user_id, rows::note_summary),
            self.read(Query::DashboardEvents, user_id, rows::event_summary),
        )?;
        Ok(Dashboard {
            user_id,
            recipes,
            teams,
            notes,
            events,
        })
    }

    fn pool_use(&self) -> Option<PoolUse> {
        self.database.pool_use()
    }
}

async fn user_id(connection: &mut Connection, session_key: &str) -> Result<i32, Error> {
    rows::user_id(&connection.query(Query::Session, &[&session_key]).await?)
}

async fn write_note(
    connection: &mut Connection,
    session_key: &str,
    recipe_id: i32,
    text: &str,
) -> Result<i32, Error> {
    let user_id = user_id(connection, session_key).await?;
    connection.begin().await?;
    let inserted = insert_note(connection, user_id, recipe_id, text).await;
    connection.end(inserted).await
}

async fn insert_note(
    connection: &mut Connection,
    user_id: i32,
    recipe_id: i32,
    text: &str,
) -> Result<i32, Error> {
    let notes = connection
        .query(Query::NoteInsert, &[&user_id, &recipe_id, &text])
        .await?;
    let id = rows::id(&notes)?;
    connection
        .query(Query::EventInsert, &[&user_id, &recipe_id])
        .await?;
    Ok(id)
}

async fn load_recipe(
    connection: &mut Connection,
    session_key: &str,
    wanted: Wanted,
) -> Result<Recipe, Error> {
    let user_id = user_id(connection, session_key).await?;
    let recipes = match wanted {
        Wanted::Random => connection.query(Query::RecipeRandom, &[&user_id]).await?,
        Wanted::Id(id) => {
            connection
                .query(Query::RecipeById, &[&user_id, &id])
                .await?
        }
    };
    let id = rows::id(&recipes)?;
    let rows = RecipeRows {
        recipes,
        ingredients: connection.query(Query::Ingredients, &[&id]).await?,
        steps: connection.query(Query::Steps, &[&id]).await?,
        sections: connection.query(Query::Sections, &[&id]).await?,
        notes: connection.query(Query::Notes, &[&id]).await?,
        reactions: connection.query(Query::Reactions, &[&id]).await?,
        events: connection.query(Query::TimelineEvents, &[&id]).await?,
    };
    rows.recipe()
}
