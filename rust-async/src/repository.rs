//! What a recipe is in the database: eight statements on one connection, one after the other.

use std::collections::HashMap;

use tokio_postgres::Row;

use crate::config::Config;
use crate::database::{Connection, Database};
use crate::errors::Error;
use crate::models::{
    IngredientEntry, Owner, OwnerKind, Person, Reaction, Recipe, Step, Time, TimelineEntry,
};
use crate::queries::Query;

type RowResult<T> = Result<T, tokio_postgres::Error>;

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

    /// The wanted recipe, if the owner of the session may see it.
    pub(crate) async fn recipe(&self, session_key: &str, wanted: Wanted) -> Result<Recipe, Error> {
        let mut connection = self.database.acquire().await?;
        let recipe = load(&mut connection, session_key, wanted).await;
        self.database.release(connection).await;
        recipe
    }
}

async fn load(
    connection: &mut Connection,
    session_key: &str,
    wanted: Wanted,
) -> Result<Recipe, Error> {
    let sessions = connection.query(Query::Session, &[&session_key]).await?;
    let session = sessions.first().ok_or(Error::Unauthorized)?;
    let user_id: i32 = session.try_get("user_id")?;

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

    let mut reactions = by_note(&reactions)?;
    Ok(Recipe {
        id,
        name: row.try_get("name")?,
        author: row.try_get("author")?,
        source: row.try_get("source")?,
        time: row.try_get("time")?,
        servings: row.try_get("servings")?,
        edits: row.try_get("edits")?,
        created: time(row, "created")?,
        modified: time(row, "modified")?,
        archived_at: row.try_get::<_, Option<_>>("archived_at")?.map(Time),
        tags: row.try_get("tags")?,
        owner: owner(row)?,
        ingredients: ingredients
            .iter()
            .map(ingredient)
            .chain(sections.iter().map(section))
            .collect::<Result<_, _>>()?,
        steps: steps.iter().map(step).collect::<Result<_, _>>()?,
        timeline: notes
            .iter()
            .map(|row| note(row, &mut reactions))
            .chain(events.iter().map(event))
            .collect::<Result<_, _>>()?,
    })
}

fn owner(row: &Row) -> Result<Owner, Error> {
    let kind = match row.try_get("content_type_id")? {
        1 => OwnerKind::User,
        20 => OwnerKind::Team,
        other => {
            return Err(Error::Internal(
                format!("no owner has content type {other}").into(),
            ));
        }
    };
    Ok(Owner {
        kind,
        id: row.try_get("object_id")?,
    })
}

fn ingredient(row: &Row) -> RowResult<IngredientEntry> {
    Ok(IngredientEntry::Ingredient {
        id: row.try_get("id")?,
        position: row.try_get("position")?,
        quantity: row.try_get("quantity")?,
        name: row.try_get("name")?,
        description: row.try_get("description")?,
    })
}

fn section(row: &Row) -> RowResult<IngredientEntry> {
    Ok(IngredientEntry::Section {
        id: row.try_get("id")?,
        position: row.try_get("position")?,
        title: row.try_get("title")?,
    })
}

fn step(row: &Row) -> RowResult<Step> {
    Ok(Step {
        id: row.try_get("id")?,
        position: row.try_get("position")?,
        text: row.try_get("text")?,
    })
}

/// Takes its reactions out of those of the whole recipe.
fn note(row: &Row, reactions: &mut HashMap<i32, Vec<Reaction>>) -> RowResult<TimelineEntry> {
    let id = row.try_get("id")?;
    let editor: Option<i32> = row.try_get("editor_id")?;
    Ok(TimelineEntry::Note {
        id,
        text: row.try_get("text")?,
        created: time(row, "created")?,
        modified: time(row, "modified")?,
        created_by: Person {
            id: row.try_get("author_id")?,
            email: row.try_get("author_email")?,
            name: row.try_get("author_name")?,
        },
        last_modified_by: match editor {
            Some(id) => Some(Person {
                id,
                email: row.try_get("editor_email")?,
                name: row.try_get("editor_name")?,
            }),
            None => None,
        },
        reactions: reactions.remove(&id).unwrap_or_default(),
    })
}

/// In the order in which they come.
fn by_note(rows: &[Row]) -> RowResult<HashMap<i32, Vec<Reaction>>> {
    let mut notes: HashMap<_, Vec<_>> = HashMap::new();
    for row in rows {
        notes
            .entry(row.try_get("note_id")?)
            .or_default()
            .push(Reaction {
                id: row.try_get("id")?,
                emoji: row.try_get("emoji")?,
                created_by_id: row.try_get("created_by_id")?,
                created: time(row, "created")?,
            });
    }
    Ok(notes)
}

fn event(row: &Row) -> RowResult<TimelineEntry> {
    Ok(TimelineEntry::Event {
        id: row.try_get("id")?,
        action: row.try_get("action")?,
        created_by_id: row.try_get("created_by_id")?,
        created: time(row, "created")?,
    })
}

fn time(row: &Row, column: &str) -> RowResult<Time> {
    row.try_get(column).map(Time)
}
