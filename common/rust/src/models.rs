//! The bodies of the API, with their fields in the order of the contract, and how they are read from rows.

use std::collections::HashMap;
use std::error::Error as StdError;

use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};
use tokio_postgres::types::{FromSql, Type, accepts};
use tokio_postgres::{Error, Row};

/// What is read from one row.
pub trait FromRow: Sized {
    fn from_row(row: &Row) -> Result<Self, Error>;

    fn all(rows: &[Row]) -> Result<Vec<Self>, Error> {
        rows.iter().map(Self::from_row).collect()
    }
}

/// Structs whose fields are the columns of a row, by name.
macro_rules! rows {
    ($(pub struct $name:ident { $($(#[$attribute:meta])* pub $field:ident: $type:ty,)* })*) => {$(
        #[derive(Debug, Serialize)]
        pub struct $name { $($(#[$attribute])* pub $field: $type,)* }

        impl FromRow for $name {
            fn from_row(row: &Row) -> Result<Self, Error> {
                Ok(Self { $($field: row.try_get(stringify!($field))?,)* })
            }
        }
    )*};
}

rows! {
    pub struct Ingredient {
        pub id: i32,
        pub position: String,
        pub quantity: String,
        pub name: String,
        pub description: String,
    }

    pub struct Section {
        pub id: i32,
        pub position: String,
        pub title: String,
    }

    pub struct Step {
        pub id: i32,
        pub position: String,
        pub text: String,
    }

    pub struct Reaction {
        #[serde(skip)]
        pub note_id: i32,
        pub id: i32,
        pub emoji: String,
        pub created_by_id: i32,
        pub created: Time,
    }

    pub struct Event {
        pub id: i32,
        pub action: String,
        pub created_by_id: Option<i32>,
        pub created: Time,
    }

    pub struct RecipeSummary {
        pub id: i32,
        pub name: String,
        pub modified: Time,
    }

    pub struct TeamSummary {
        pub id: i32,
        pub name: String,
        pub members: i32,
    }

    pub struct NoteSummary {
        pub id: i32,
        pub recipe_id: i32,
        pub text: String,
        pub created: Time,
    }

    pub struct EventSummary {
        pub id: i32,
        pub recipe_id: i32,
        pub action: String,
        pub created: Time,
    }

    pub struct NoteCreated {
        pub id: i32,
    }
}

#[derive(Debug, Serialize)]
pub struct Recipe {
    pub id: i32,
    pub name: String,
    pub author: Option<String>,
    pub source: Option<String>,
    pub time: String,
    pub servings: String,
    pub edits: i32,
    pub created: Time,
    pub modified: Time,
    pub archived_at: Option<Time>,
    pub tags: Vec<String>,
    pub owner: Owner,
    /// The ingredients, then the sections.
    pub ingredients: Vec<IngredientEntry>,
    pub steps: Vec<Step>,
    /// The notes, oldest first, then the events, newest first.
    pub timeline: Vec<TimelineEntry>,
}

#[derive(Debug, Serialize)]
pub struct Owner {
    pub kind: OwnerKind,
    pub id: i32,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OwnerKind {
    User,
    Team,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum IngredientEntry {
    Ingredient(Ingredient),
    Section(Section),
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum TimelineEntry {
    Note(Note),
    Event(Event),
}

#[derive(Debug, Serialize)]
pub struct Note {
    pub id: i32,
    pub text: String,
    pub created: Time,
    pub modified: Time,
    pub created_by: Person,
    pub last_modified_by: Option<Person>,
    pub reactions: Vec<Reaction>,
}

#[derive(Debug, Serialize)]
pub struct Person {
    pub id: i32,
    pub email: String,
    pub name: Option<String>,
}

/// What is new on the user's own recipes, and the user's teams.
#[derive(Debug, Serialize)]
pub struct Dashboard {
    pub user_id: i32,
    pub recipes: Vec<RecipeSummary>,
    pub teams: Vec<TeamSummary>,
    pub notes: Vec<NoteSummary>,
    pub events: Vec<EventSummary>,
}

/// The rows of a recipe and its parts.
#[derive(Debug)]
pub struct RecipeRows<'a> {
    pub recipe: &'a Row,
    pub ingredients: Vec<Row>,
    pub steps: Vec<Row>,
    pub sections: Vec<Row>,
    pub notes: Vec<Row>,
    pub reactions: Vec<Row>,
    pub events: Vec<Row>,
}

impl RecipeRows<'_> {
    pub fn recipe(&self) -> Result<Recipe, Error> {
        let row = self.recipe;
        let mut ingredients = entries(&self.ingredients, IngredientEntry::Ingredient)?;
        ingredients.append(&mut entries(&self.sections, IngredientEntry::Section)?);
        let mut timeline = self.notes()?;
        timeline.append(&mut entries(&self.events, TimelineEntry::Event)?);
        Ok(Recipe {
            id: row.try_get("id")?,
            name: row.try_get("name")?,
            author: row.try_get("author")?,
            source: row.try_get("source")?,
            time: row.try_get("time")?,
            servings: row.try_get("servings")?,
            edits: row.try_get("edits")?,
            created: row.try_get("created")?,
            modified: row.try_get("modified")?,
            archived_at: row.try_get("archived_at")?,
            tags: row.try_get("tags")?,
            owner: Owner {
                kind: row.try_get("content_type_id")?,
                id: row.try_get("object_id")?,
            },
            ingredients,
            steps: Step::all(&self.steps)?,
            timeline,
        })
    }

    /// Each note with its reactions.
    fn notes(&self) -> Result<Vec<TimelineEntry>, Error> {
        let mut reactions: HashMap<i32, Vec<Reaction>> = HashMap::new();
        for reaction in Reaction::all(&self.reactions)? {
            reactions.entry(reaction.note_id).or_default().push(reaction);
        }
        let mut note = |row: &Row| {
            let id = row.try_get("id")?;
            let editor: Option<i32> = row.try_get("editor_id")?;
            let editor = editor.map(|id| person(row, id, "editor_email", "editor_name"));
            Ok(TimelineEntry::Note(Note {
                id,
                text: row.try_get("text")?,
                created: row.try_get("created")?,
                modified: row.try_get("modified")?,
                created_by: person(row, row.try_get("author_id")?, "author_email", "author_name")?,
                last_modified_by: editor.transpose()?,
                reactions: reactions.remove(&id).unwrap_or_default(),
            }))
        };
        self.notes.iter().map(&mut note).collect()
    }
}

fn entries<T: FromRow, E>(rows: &[Row], entry: fn(T) -> E) -> Result<Vec<E>, Error> {
    rows.iter().map(|row| T::from_row(row).map(entry)).collect()
}

fn person(row: &Row, id: i32, email: &str, name: &str) -> Result<Person, Error> {
    let (email, name) = (row.try_get(email)?, row.try_get(name)?);
    Ok(Person { id, email, name })
}

impl<'a> FromSql<'a> for OwnerKind {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        match i32::from_sql(of, raw)? {
            1 => Ok(Self::User),
            20 => Ok(Self::Team),
            other => Err(format!("no owner has content type {other}").into()),
        }
    }

    accepts!(INT4);
}

/// A moment, written in UTC to the whole second: `2024-06-01T12:00:00Z`.
#[derive(Debug)]
pub struct Time(pub Timestamp);

impl<'a> FromSql<'a> for Time {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Timestamp::from_sql(of, raw).map(Self)
    }

    accepts!(TIMESTAMPTZ);
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:.0}", self.0))
    }
}

/// The body of a note that a client writes: 1 to 10,000 characters, none of them U+0000, which PostgreSQL cannot store.
#[derive(Debug, Deserialize)]
#[serde(try_from = "HashMap<String, String>")]
pub struct NewNote(pub String);

/// By way of a map: a derived struct would also take the array `["text"]`.
impl TryFrom<HashMap<String, String>> for NewNote {
    type Error = &'static str;

    fn try_from(mut body: HashMap<String, String>) -> Result<Self, Self::Error> {
        match body.remove("text") {
            Some(_) if !body.is_empty() => Err("there are other keys"),
            Some(text) if !text.contains('\0') && (1..=10_000).contains(&text.chars().count()) => Ok(Self(text)),
            _ => Err("text is missing, empty or too long, or has U+0000"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::to_string;

    use super::*;

    #[test]
    fn times_are_cut_to_whole_seconds() {
        for (moment, written) in [
            ("2024-06-01T12:00:00Z", r#""2024-06-01T12:00:00Z""#),
            ("2024-06-01T14:00:00.999999+02:00", r#""2024-06-01T12:00:00Z""#),
            ("1969-12-31T23:59:58.5Z", r#""1969-12-31T23:59:58Z""#),
        ] {
            let time = Time(moment.parse().unwrap());
            assert_eq!(to_string(&time).unwrap(), written);
        }
    }

    #[test]
    fn a_note_is_an_object_with_a_text_of_1_to_10000_characters() {
        let accepts = |body: &str| serde_json::from_str::<NewNote>(body).is_ok();
        for text in ["a", "\\u0001", "\\ud83c\\udf72", &"汤".repeat(10_000)] {
            assert!(accepts(&format!(r#"{{"text":"{text}"}}"#)), "{text}");
        }
        for body in [
            r#"["a"]"#,
            r#""a""#,
            "{}",
            r#"{"text":""}"#,
            r#"{"text":null}"#,
            r#"{"text":1}"#,
            r#"{"text":"a","more":"b"}"#,
            r#"{"text":"\u0000"}"#,
            r#"{"text":"\ud800"}"#,
            &format!(r#"{{"text":"{}"}}"#, "a".repeat(10_001)),
        ] {
            assert!(!accepts(body), "{body}");
        }
    }

    #[test]
    fn the_kind_comes_first_and_text_is_escaped_no_more_than_needed() {
        let section = IngredientEntry::Section(Section {
            id: 7,
            position: "d5".into(),
            title: "crème \"½\" <A&B> 汤 ❤️ a\\b/c\n".into(),
        });
        assert_eq!(
            to_string(&section).unwrap(),
            r#"{"kind":"section","id":7,"position":"d5","title":"crème \"½\" <A&B> 汤 ❤️ a\\b/c\n"}"#
        );
    }
}
