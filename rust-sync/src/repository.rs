//! The use cases of the database. Statements of one request are sent one after the other, on one connection.

use postgres::Row;

use crate::config::Config;
use crate::connection::Connection;
use crate::database::Database;
use crate::errors::Error;
use crate::models::{Dashboard, Recipe, Time};
use crate::pool_use::PoolUse;
use crate::queries::Query;
use crate::rows::{self, RowResult};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    Random,
    Id(i32),
}

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

    /// None where there is no pool.
    pub(crate) fn pool_use(&self) -> Option<PoolUse> {
        self.database.pool_use()
    }

    /// The wanted recipe, if the owner of the session may see it.
    pub(crate) fn recipe(&self, session_key: &str, wanted: Wanted) -> Result<Recipe, Error> {
        self.with_user(session_key, |connection, user_id| {
            load_recipe(connection, user_id, wanted)
        })
    }

    /// Writes a note and its event, both or neither. The id of the note is known once it is stored.
    pub(crate) fn write_note(
        &self,
        session_key: &str,
        recipe_id: i32,
        text: &str,
    ) -> Result<i32, Error> {
        self.with_user(session_key, |connection, user_id| {
            connection.transaction(|transaction| {
                let notes = transaction.query(Query::NoteInsert, &[&user_id, &recipe_id, &text])?;
                let id = notes.first().ok_or(Error::NotFound)?.try_get("id")?;
                transaction.query(Query::EventInsert, &[&user_id, &recipe_id])?;
                Ok(id)
            })
        })
    }

    /// What is new for the owner of the session.
    pub(crate) fn dashboard(&self, session_key: &str) -> Result<Dashboard, Error> {
        self.with_user(session_key, |connection, user_id| {
            let mut read = |query| connection.query(query, &[&user_id]);
            let recipes = read(Query::DashboardRecipes)?;
            let teams = read(Query::DashboardTeams)?;
            let notes = read(Query::DashboardNotes)?;
            let events = read(Query::DashboardEvents)?;
            Ok(Dashboard {
                user_id,
                recipes: models(&recipes, rows::recipe_summary)?,
                teams: models(&teams, rows::team_summary)?,
                notes: models(&notes, rows::note_summary)?,
                events: models(&events, rows::event_summary)?,
            })
        })
    }

    /// Asks who owns the session; the rest of the work has the same connection.
    fn with_user<T>(
        &self,
        session_key: &str,
        work: impl FnOnce(&mut Connection, i32) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (mut connection, sessions) = self.database.begin(Query::Session, &[&session_key])?;
        let result = user_id(&sessions).and_then(|user_id| work(&mut connection, user_id));
        self.database.release(connection);
        result
    }
}

fn user_id(sessions: &[Row]) -> Result<i32, Error> {
    let session = sessions.first().ok_or(Error::Unauthorized)?;
    Ok(session.try_get("user_id")?)
}

fn models<T>(rows: &[Row], model: fn(&Row) -> RowResult<T>) -> RowResult<Vec<T>> {
    rows.iter().map(model).collect()
}

fn load_recipe(connection: &mut Connection, user_id: i32, wanted: Wanted) -> Result<Recipe, Error> {
    let recipes = match wanted {
        Wanted::Random => connection.query(Query::RecipeRandom, &[&user_id])?,
        Wanted::Id(id) => connection.query(Query::RecipeById, &[&user_id, &id])?,
    };
    let row = recipes.first().ok_or(Error::NotFound)?;
    let id: i32 = row.try_get("id")?;

    let ingredients = connection.query(Query::Ingredients, &[&id])?;
    let steps = connection.query(Query::Steps, &[&id])?;
    let sections = connection.query(Query::Sections, &[&id])?;
    let notes = connection.query(Query::Notes, &[&id])?;
    let reactions = connection.query(Query::Reactions, &[&id])?;
    let events = connection.query(Query::TimelineEvents, &[&id])?;

    let mut reactions = rows::by_note(&reactions)?;
    Ok(Recipe {
        id,
        name: row.try_get("name")?,
        author: row.try_get("author")?,
        source: row.try_get("source")?,
        time: row.try_get("time")?,
        servings: row.try_get("servings")?,
        edits: row.try_get("edits")?,
        created: rows::time(row, "created")?,
        modified: rows::time(row, "modified")?,
        archived_at: row.try_get::<_, Option<_>>("archived_at")?.map(Time),
        tags: row.try_get("tags")?,
        owner: rows::owner(row)?,
        ingredients: ingredients
            .iter()
            .map(rows::ingredient)
            .chain(sections.iter().map(rows::section))
            .collect::<Result<_, _>>()?,
        steps: steps.iter().map(rows::step).collect::<Result<_, _>>()?,
        timeline: notes
            .iter()
            .map(|row| rows::note(row, &mut reactions))
            .chain(events.iter().map(rows::event))
            .collect::<Result<_, _>>()?,
    })
}
