// From rows to models. Columns are numbered in the order of the select list in
// contract/sql/queries.
#pragma once

#include "models.hpp"
#include "pg/result.hpp"

namespace tandem::rows {

/// The results of the statements of one recipe.
struct RecipeResults {
    pg::Result recipe;
    pg::Result ingredients;
    pg::Result steps;
    pg::Result sections;
    pg::Result notes;
    pg::Result reactions;
    pg::Result events;
};

/// Throws pg::Error if a value is not what the schema says.
Recipe recipe(const RecipeResults& results);

DashboardRecipe dashboard_recipe(pg::Row row);
DashboardTeam dashboard_team(pg::Row row);
DashboardNote dashboard_note(pg::Row row);
DashboardEvent dashboard_event(pg::Row row);

}  // namespace tandem::rows
