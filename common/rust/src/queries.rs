//! The statements of the contract, compiled in from its own files.

use tokio_postgres::types::Type;

#[derive(Clone, Copy, Debug)]
pub enum Query {
    Session,
    RecipeRandom,
    RecipeById,
    Ingredients,
    Steps,
    Sections,
    Notes,
    Reactions,
    TimelineEvents,
    NoteInsert,
    EventInsert,
    DashboardRecipes,
    DashboardTeams,
    DashboardNotes,
    DashboardEvents,
}

macro_rules! contract {
    ($name:literal) => {
        include_str!(concat!("../../../contract/sql/queries/", $name, ".sql"))
    };
}

impl Query {
    /// In the order of the variants.
    pub const ALL: [Self; 15] = [
        Self::Session,
        Self::RecipeRandom,
        Self::RecipeById,
        Self::Ingredients,
        Self::Steps,
        Self::Sections,
        Self::Notes,
        Self::Reactions,
        Self::TimelineEvents,
        Self::NoteInsert,
        Self::EventInsert,
        Self::DashboardRecipes,
        Self::DashboardTeams,
        Self::DashboardNotes,
        Self::DashboardEvents,
    ];

    pub fn sql(self) -> &'static str {
        match self {
            Self::Session => contract!("session"),
            Self::RecipeRandom => contract!("recipe_random"),
            Self::RecipeById => contract!("recipe_by_id"),
            Self::Ingredients => contract!("ingredients"),
            Self::Steps => contract!("steps"),
            Self::Sections => contract!("sections"),
            Self::Notes => contract!("notes"),
            Self::Reactions => contract!("reactions"),
            Self::TimelineEvents => contract!("timeline_events"),
            Self::NoteInsert => contract!("note_insert"),
            Self::EventInsert => contract!("event_insert"),
            Self::DashboardRecipes => contract!("dashboard_recipes"),
            Self::DashboardTeams => contract!("dashboard_teams"),
            Self::DashboardNotes => contract!("dashboard_notes"),
            Self::DashboardEvents => contract!("dashboard_events"),
        }
    }

    /// Stated, so that a statement that is not prepared needs no round trip to ask for them.
    pub fn parameter_types(self) -> &'static [Type] {
        match self {
            Self::Session => const { &[Type::TEXT] },
            Self::RecipeById | Self::EventInsert => const { &[Type::INT4, Type::INT4] },
            Self::NoteInsert => const { &[Type::INT4, Type::INT4, Type::TEXT] },
            _ => const { &[Type::INT4] },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_its_own_index() {
        for (index, query) in Query::ALL.into_iter().enumerate() {
            assert_eq!(query as usize, index);
        }
    }

    #[test]
    fn every_parameter_has_a_type() {
        for query in Query::ALL {
            let count = query.parameter_types().len();
            assert!(query.sql().contains(&format!("${count}")), "{query:?}");
            assert!(
                !query.sql().contains(&format!("${}", count + 1)),
                "{query:?}"
            );
        }
    }
}
