//! The canonical recipe: fields in the order of the contract.

use jiff::Timestamp;
use serde::{Serialize, Serializer};

#[derive(Debug, Serialize)]
pub(crate) struct Recipe {
    pub(crate) id: i32,
    pub(crate) name: String,
    pub(crate) author: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) time: String,
    pub(crate) servings: String,
    pub(crate) edits: i32,
    pub(crate) created: Time,
    pub(crate) modified: Time,
    pub(crate) archived_at: Option<Time>,
    pub(crate) tags: Vec<String>,
    pub(crate) owner: Owner,
    /// The ingredients, then the sections.
    pub(crate) ingredients: Vec<IngredientEntry>,
    pub(crate) steps: Vec<Step>,
    /// The notes, oldest first, then the events, newest first.
    pub(crate) timeline: Vec<TimelineEntry>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Owner {
    pub(crate) kind: OwnerKind,
    pub(crate) id: i32,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OwnerKind {
    User,
    Team,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum IngredientEntry {
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
pub(crate) struct Step {
    pub(crate) id: i32,
    pub(crate) position: String,
    pub(crate) text: String,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum TimelineEntry {
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
pub(crate) struct Person {
    pub(crate) id: i32,
    pub(crate) email: String,
    pub(crate) name: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Reaction {
    pub(crate) id: i32,
    pub(crate) emoji: String,
    pub(crate) created_by_id: i32,
    pub(crate) created: Time,
}

/// A moment, written in UTC to the whole second: `2024-06-01T12:00:00Z`.
#[derive(Debug)]
pub(crate) struct Time(pub(crate) Timestamp);

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
