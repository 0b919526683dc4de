//! The bodies of the API: answers with their fields in the order of the contract, and the one that clients send.

use std::collections::HashMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};

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
    Ingredient {
        id: i32,
        position: String,
        quantity: String,
        name: String,
        description: String,
    },
    Section {
        id: i32,
        position: String,
        title: String,
    },
}

#[derive(Debug, Serialize)]
pub struct Step {
    pub id: i32,
    pub position: String,
    pub text: String,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum TimelineEntry {
    Note {
        id: i32,
        text: String,
        created: Time,
        modified: Time,
        created_by: Person,
        last_modified_by: Option<Person>,
        reactions: Vec<Reaction>,
    },
    Event {
        id: i32,
        action: String,
        created_by_id: Option<i32>,
        created: Time,
    },
}

#[derive(Debug, Serialize)]
pub struct Person {
    pub id: i32,
    pub email: String,
    pub name: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Reaction {
    pub id: i32,
    pub emoji: String,
    pub created_by_id: i32,
    pub created: Time,
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

#[derive(Debug, Serialize)]
pub struct RecipeSummary {
    pub id: i32,
    pub name: String,
    pub modified: Time,
}

#[derive(Debug, Serialize)]
pub struct TeamSummary {
    pub id: i32,
    pub name: String,
    pub members: i32,
}

#[derive(Debug, Serialize)]
pub struct NoteSummary {
    pub id: i32,
    pub recipe_id: i32,
    pub text: String,
    pub created: Time,
}

#[derive(Debug, Serialize)]
pub struct EventSummary {
    pub id: i32,
    pub recipe_id: i32,
    pub action: String,
    pub created: Time,
}

/// The text of a note to be written: 1 to 10,000 characters, none of them U+0000, which PostgreSQL cannot store.
#[derive(Debug, Deserialize)]
#[serde(try_from = "HashMap<String, String>")]
pub struct NewNote(pub String);

/// By way of a map: a derived struct would also take the array `["text"]`.
impl TryFrom<HashMap<String, String>> for NewNote {
    type Error = &'static str;

    fn try_from(mut body: HashMap<String, String>) -> Result<Self, Self::Error> {
        match body.remove("text") {
            Some(_) if !body.is_empty() => Err("there are other keys"),
            Some(text) if text.contains('\0') => Err("text has U+0000"),
            Some(text) if (1..=10_000).contains(&text.chars().count()) => Ok(Self(text)),
            Some(_) => Err("text is empty or too long"),
            None => Err("text is missing"),
        }
    }
}

#[derive(Debug, Serialize)]
pub struct NoteCreated {
    pub id: i32,
}

/// The pool of database connections since the start: how often it was asked for one, and how long that was waited for.
#[derive(Debug, Serialize)]
pub struct PoolUse {
    pub checkouts: u64,
    pub wait_us: u64,
}

/// A moment, written in UTC to the whole second: `2024-06-01T12:00:00Z`.
#[derive(Debug)]
pub struct Time(pub Timestamp);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:.0}", self.0))
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
            (
                "2024-06-01T14:00:00.999999+02:00",
                r#""2024-06-01T12:00:00Z""#,
            ),
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
        let section = IngredientEntry::Section {
            id: 7,
            position: "d5".into(),
            title: "crème \"½\" <A&B> 汤 ❤️ a\\b/c\n".into(),
        };
        assert_eq!(
            to_string(&section).unwrap(),
            r#"{"kind":"section","id":7,"position":"d5","title":"crème \"½\" <A&B> 汤 ❤️ a\\b/c\n"}"#
        );
    }
}
