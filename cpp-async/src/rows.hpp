// From rows to models. Columns are numbered in the order of the select list in
// contract/sql/queries.
#pragma once

#include "models.hpp"
#include "pg/result.hpp"

namespace tandem::rows {

Ingredient ingredient(pg::Row row);
Section section(pg::Row row);
Step step(pg::Row row);
Event event(pg::Row row);

DashboardRecipe dashboard_recipe(pg::Row row);
DashboardTeam dashboard_team(pg::Row row);
DashboardNote dashboard_note(pg::Row row);
DashboardEvent dashboard_event(pg::Row row);

/// Each note with its own of the reactions, which come for the whole recipe.
std::vector<Note> notes(const pg::Result& notes, const pg::Result& reactions);

/// The columns of the recipe itself; what belongs to it is empty.
Recipe recipe(pg::Row row);

}  // namespace tandem::rows
