//! What the handlers ask for, sync. Statements of one request are sent one after the other, on one
//! connection. The trait has futures; these are ready when they are first looked at.

use std::thread;
use std::time::Duration;

use axum::body::Bytes;
use common::application::{Application, Wanted};
use common::errors::Error;
use common::models::{Dashboard, PoolUse, Recipe};
use common::queries::Query;
use common::rows::{self, RecipeRows};
use common::work;

use crate::blocking::Blocking;
use crate::config::Config;
use crate::database::Database;

#[derive(Debug)]
pub(crate) struct Repository {
    database: Database,
}

impl Repository {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            database: Database::new(config),
        }
    }

    /// Asks who owns the session; the rest of the work has the same connection.
    fn with_user<T>(
        &self,
        session_key: &str,
        work: impl FnOnce(&mut Blocking, i32) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut connection = self.database.begin()?;
        let result = user_id(&mut connection, session_key)
            .and_then(|user_id| work(&mut connection, user_id));
        self.database.release(connection);
        result
    }
}

impl Application for Repository {
    async fn sum(&self, body: Bytes) -> Result<i64, Error> {
        work::sum(&body)
    }

    /// Keeps this thread from all other requests.
    async fn wait(&self, delay: Duration) {
        thread::sleep(delay);
    }

    async fn recipe(&self, session_key: &str, wanted: Wanted) -> Result<Recipe, Error> {
        self.with_user(session_key, |connection, user_id| {
            load_recipe(connection, user_id, wanted)
        })
    }

    async fn write_note(
        &self,
        session_key: &str,
        recipe_id: i32,
        text: &str,
    ) -> Result<i32, Error> {
        self.with_user(session_key, |connection, user_id| {
            connection.transaction(|connection| {
                let notes = connection.query(Query::NoteInsert, &[&user_id, &recipe_id, &text])?;
                let id = rows::id(&notes)?;
                connection.query(Query::EventInsert, &[&user_id, &recipe_id])?;
                Ok(id)
            })
        })
    }

    async fn dashboard(&self, session_key: &str) -> Result<Dashboard, Error> {
        self.with_user(session_key, |connection, user_id| {
            let mut read = |query| connection.query(query, &[&user_id]);
            let recipes = read(Query::DashboardRecipes)?;
            let teams = read(Query::DashboardTeams)?;
            let notes = read(Query::DashboardNotes)?;
            let events = read(Query::DashboardEvents)?;
            Ok(Dashboard {
                user_id,
                recipes: rows::models(&recipes, rows::recipe_summary)?,
                teams: rows::models(&teams, rows::team_summary)?,
                notes: rows::models(&notes, rows::note_summary)?,
                events: rows::models(&events, rows::event_summary)?,
            })
        })
    }

    fn pool_use(&self) -> Option<PoolUse> {
        self.database.pool_use()
    }
}

fn user_id(connection: &mut Blocking, session_key: &str) -> Result<i32, Error> {
    rows::user_id(&connection.query(Query::Session, &[&session_key])?)
}

fn load_recipe(connection: &mut Blocking, user_id: i32, wanted: Wanted) -> Result<Recipe, Error> {
    let recipes = match wanted {
        Wanted::Random => connection.query(Query::RecipeRandom, &[&user_id])?,
        Wanted::Id(id) => connection.query(Query::RecipeById, &[&user_id, &id])?,
    };
    let id = rows::id(&recipes)?;
    let rows = RecipeRows {
        recipes,
        ingredients: connection.query(Query::Ingredients, &[&id])?,
        steps: connection.query(Query::Steps, &[&id])?,
        sections: connection.query(Query::Sections, &[&id])?,
        notes: connection.query(Query::Notes, &[&id])?,
        reactions: connection.query(Query::Reactions, &[&id])?,
        events: connection.query(Query::TimelineEvents, &[&id])?,
    };
    rows.recipe()
}
