//! The use cases of the database. Statements of one request are sent one after the other, save the
//! reads of the dashboard.

use tokio_postgres::Row;

use crate::config::Config;
use crate::database::{Connection, Database};
use crate::errors::Error;
use crate::models::{Dashboard, PoolUse, Recipe, Time};
use crate::queries::Query;
use crate::rows::{self, RowResult};

const PARTS: [Query; 6] = [
    Query::Ingredients,
    Query::Steps,
    Query::Sections,
    Query::Notes,
    Query::Reactions,
    Query::TimelineEvents,
];
const NOTE_WRITE: [Query; 3] = [Query::Session, Query::NoteInsert, Query::EventInsert];
const DASHBOARD: [Query; 4] = [
    Query::DashboardRecipes,
    Query::DashboardTeams,
    Query::DashboardNotes,
    Query::DashboardEvents,
];

#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    Random,
    Id(i32),
}

#[derive(Clone, Debug)]
pub(crate) struct Repository {
    database: Database,
}

impl Repository {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            database: Database::new(config),
        }
    }

    pub(crate) fn pool_use(&self) -> PoolUse {
        self.database.pool_use()
    }

    /// The wanted recipe, if the owner of the session may see it.
    pub(crate) async fn recipe(&self, session_key: &str, wanted: Wanted) -> Result<Recipe, Error> {
        let query = match wanted {
            Wanted::Random => Query::RecipeRandom,
            Wanted::Id(_) => Query::RecipeById,
        };
        let statements = [&[Query::Session, query], &PARTS[..]].concat();
        let mut connection = self.database.begin(&statements).await?;
        let recipe = load_recipe(&mut connection, session_key, wanted).await;
        self.database.release(connection).await;
        recipe
    }

    /// Writes a note and its event, both or neither. The id of the note is known once it is stored.
    pub(crate) async fn write_note(
        &self,
        session_key: &str,
        recipe_id: i32,
        text: &str,
    ) -> Result<i32, Error> {
        let mut connection = self.database.begin(&NOTE_WRITE).await?;
        let id = write_note(&mut connection, session_key, recipe_id, text).await;
        self.database.release(connection).await;
        id
    }

    /// The session first; then four reads at once, each on a connection of its own.
    pub(crate) async fn dashboard(&self, session_key: &str) -> Result<Dashboard, Error> {
        let mut connection = self.database.begin(&[Query::Session]).await?;
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

    /// One statement about a user, on a connection that is free again afterwards.
    async fn read<T>(
        &self,
        query: Query,
        user_id: i32,
        model: fn(&Row) -> RowResult<T>,
    ) -> Result<Vec<T>, Error> {
        // Any of the four may find this connection next.
        let mut connection = self.database.acquire(&DASHBOARD).await?;
        let rows = connection.query(query, &[&user_id]).await;
        self.database.release(connection).await;
        Ok(rows?.iter().map(model).collect::<Result<_, _>>()?)
    }
}

async fn user_id(connection: &mut Connection, session_key: &str) -> Result<i32, Error> {
    let sessions = connection.query(Query::Session, &[&session_key]).await?;
    let session = sessions.first().ok_or(Error::Unauthorized)?;
    Ok(session.try_get("user_id")?)
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
    let id = notes.first().ok_or(Error::NotFound)?.try_get("id")?;
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
    let row = recipes.first().ok_or(Error::NotFound)?;
    let id: i32 = row.try_get("id")?;

    let ingredients = connection.query(Query::Ingredients, &[&id]).await?;
    let steps = connection.query(Query::Steps, &[&id]).await?;
    let sections = connection.query(Query::Sections, &[&id]).await?;
    let notes = connection.query(Query::Notes, &[&id]).await?;
    let reactions = connection.query(Query::Reactions, &[&id]).await?;
    let events = connection.query(Query::TimelineEvents, &[&id]).await?;

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
