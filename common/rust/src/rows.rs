//! Rows become models.

use std::collections::HashMap;

use tokio_postgres::Row;

use crate::errors::Error;
use crate::models::{
    EventSummary, IngredientEntry, NoteSummary, Owner, OwnerKind, Person, Reaction, Recipe,
    RecipeSummary, Step, TeamSummary, Time, TimelineEntry,
};

pub type RowResult<T> = Result<T, tokio_postgres::Error>;

/// The owner of a session, if there is one.
pub fn user_id(sessions: &[Row]) -> Result<i32, Error> {
    let session = sessions.first().ok_or(Error::Unauthorized)?;
    Ok(session.try_get("user_id")?)
}

/// The id of a recipe or a note, if there is one.
pub fn id(found: &[Row]) -> Result<i32, Error> {
    let row = found.first().ok_or(Error::NotFound)?;
    Ok(row.try_get("id")?)
}

/// Every row as a model.
pub fn models<T>(rows: &[Row], model: fn(&Row) -> RowResult<T>) -> RowResult<Vec<T>> {
    rows.iter().map(model).collect()
}

/// What the statements of a recipe have found.
#[derive(Debug)]
pub struct RecipeRows {
    pub recipes: Vec<Row>,
    pub ingredients: Vec<Row>,
    pub steps: Vec<Row>,
    pub sections: Vec<Row>,
    pub notes: Vec<Row>,
    pub reactions: Vec<Row>,
    pub events: Vec<Row>,
}

impl RecipeRows {
    pub fn recipe(&self) -> Result<Recipe, Error> {
        let row = self.recipes.first().ok_or(Error::NotFound)?;
        let mut reactions = by_note(&self.reactions)?;
        Ok(Recipe {
            id: row.try_get("id")?,
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
            ingredients: self
                .ingredients
                .iter()
                .map(ingredient)
                .chain(self.sections.iter().map(section))
                .collect::<Result<_, _>>()?,
            steps: models(&self.steps, step)?,
            timeline: self
                .notes
                .iter()
                .map(|row| note(row, &mut reactions))
                .chain(self.events.iter().map(event))
                .collect::<Result<_, _>>()?,
        })
    }
}

fn owner(row: &Row) -> Result<Owner, Error> {
    let kind = match row.try_get("content_type_id")? {
        1 => OwnerKind::User,
        20 => OwnerKind::Team,
        other => {
            return Err(Error::Unexpected(
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

pub fn recipe_summary(row: &Row) -> RowResult<RecipeSummary> {
    Ok(RecipeSummary {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        modified: time(row, "modified")?,
    })
}

pub fn team_summary(row: &Row) -> RowResult<TeamSummary> {
    Ok(TeamSummary {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        members: row.try_get("members")?,
    })
}

pub fn note_summary(row: &Row) -> RowResult<NoteSummary> {
    Ok(NoteSummary {
        id: row.try_get("id")?,
        recipe_id: row.try_get("recipe_id")?,
        text: row.try_get("text")?,
        created: time(row, "created")?,
    })
}

pub fn event_summary(row: &Row) -> RowResult<EventSummary> {
    Ok(EventSummary {
        id: row.try_get("id")?,
        recipe_id: row.try_get("recipe_id")?,
        action: row.try_get("action")?,
        created: time(row, "created")?,
    })
}
