//! Rows become models.

use std::collections::HashMap;

use postgres::Row;

use crate::errors::Error;
use crate::models::{
    EventSummary, IngredientEntry, NoteSummary, Owner, OwnerKind, Person, Reaction, RecipeSummary,
    Step, TeamSummary, Time, TimelineEntry,
};

pub(crate) type RowResult<T> = Result<T, postgres::Error>;

pub(crate) fn owner(row: &Row) -> Result<Owner, Error> {
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

pub(crate) fn ingredient(row: &Row) -> RowResult<IngredientEntry> {
    Ok(IngredientEntry::Ingredient {
        id: row.try_get("id")?,
        position: row.try_get("position")?,
        quantity: row.try_get("quantity")?,
        name: row.try_get("name")?,
        description: row.try_get("description")?,
    })
}

pub(crate) fn section(row: &Row) -> RowResult<IngredientEntry> {
    Ok(IngredientEntry::Section {
        id: row.try_get("id")?,
        position: row.try_get("position")?,
        title: row.try_get("title")?,
    })
}

pub(crate) fn step(row: &Row) -> RowResult<Step> {
    Ok(Step {
        id: row.try_get("id")?,
        position: row.try_get("position")?,
        text: row.try_get("text")?,
    })
}

/// Takes its reactions out of those of the whole recipe.
pub(crate) fn note(
    row: &Row,
    reactions: &mut HashMap<i32, Vec<Reaction>>,
) -> RowResult<TimelineEntry> {
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
pub(crate) fn by_note(rows: &[Row]) -> RowResult<HashMap<i32, Vec<Reaction>>> {
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

pub(crate) fn event(row: &Row) -> RowResult<TimelineEntry> {
    Ok(TimelineEntry::Event {
        id: row.try_get("id")?,
        action: row.try_get("action")?,
        created_by_id: row.try_get("created_by_id")?,
        created: time(row, "created")?,
    })
}

pub(crate) fn time(row: &Row, column: &str) -> RowResult<Time> {
    row.try_get(column).map(Time)
}

pub(crate) fn recipe_summary(row: &Row) -> RowResult<RecipeSummary> {
    Ok(RecipeSummary {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        modified: time(row, "modified")?,
    })
}

pub(crate) fn team_summary(row: &Row) -> RowResult<TeamSummary> {
    Ok(TeamSummary {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        members: row.try_get("members")?,
    })
}

pub(crate) fn note_summary(row: &Row) -> RowResult<NoteSummary> {
    Ok(NoteSummary {
        id: row.try_get("id")?,
        recipe_id: row.try_get("recipe_id")?,
        text: row.try_get("text")?,
        created: time(row, "created")?,
    })
}

pub(crate) fn event_summary(row: &Row) -> RowResult<EventSummary> {
    Ok(EventSummary {
        id: row.try_get("id")?,
        recipe_id: row.try_get("recipe_id")?,
        action: row.try_get("action")?,
        created: time(row, "created")?,
    })
}
