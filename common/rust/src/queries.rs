//! The statements of the contract, compiled in from its own files.

use tokio_postgres::types::Type;

/// A statement. The types of its parameters are stated, so that it can run in one round trip without being prepared.
#[derive(Debug)]
pub struct Query {
    pub name: &'static str,
    pub sql: &'static str,
    pub types: &'static [Type],
}

macro_rules! queries {
    ($($constant:ident = $name:literal ($($type:ident),*);)*) => {
        $(pub static $constant: Query = Query {
            name: $name,
            sql: include_str!(concat!("../../../contract/sql/queries/", $name, ".sql")),
            types: &[$(Type::$type),*],
        };)*

        #[cfg(test)]
        static ALL: &[&Query] = &[$(&$constant),*];
    };
}

queries! {
    SESSION = "session" (TEXT);
    RECIPE_RANDOM = "recipe_random" (INT4);
    RECIPE_BY_ID = "recipe_by_id" (INT4, INT4);
    INGREDIENTS = "ingredients" (INT4);
    STEPS = "steps" (INT4);
    SECTIONS = "sections" (INT4);
    NOTES = "notes" (INT4);
    REACTIONS = "reactions" (INT4);
    TIMELINE_EVENTS = "timeline_events" (INT4);
    NOTE_INSERT = "note_insert" (INT4, INT4, TEXT);
    EVENT_INSERT = "event_insert" (INT4, INT4);
    DASHBOARD_RECIPES = "dashboard_recipes" (INT4);
    DASHBOARD_TEAMS = "dashboard_teams" (INT4);
    DASHBOARD_NOTES = "dashboard_notes" (INT4);
    DASHBOARD_EVENTS = "dashboard_events" (INT4);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_has_a_type() {
        for Query { name, sql, types } in ALL {
            let count = types.len();
            assert!(sql.contains(&format!("${count}")), "{name}");
            assert!(!sql.contains(&format!("${}", count + 1)), "{name}");
        }
    }
}
