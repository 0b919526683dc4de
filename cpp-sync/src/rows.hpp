// Rows as models. The columns are those of the statements, in their order.
#pragma once

#include <cstdint>
#include <optional>

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

DashboardRecipe dashboard_recipe(const pg::Row& row);
DashboardTeam dashboard_team(const pg::Row& row);
DashboardNote dashboard_note(const pg::Row& row);
DashboardEvent dashboard_event(const pg::Row& row);

}  // namespace tandem::rows
