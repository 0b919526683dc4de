#include "rows.hpp"

#include <iterator>
#include <unordered_map>

namespace tandem::rows {
namespace {

Owner owner(std::int32_t content_type, std::int32_t id) {
    switch (content_type) {
        case 1:
            return {.kind = "user", .id = id};
        case 20:
            return {.kind = "team", .id = id};
        default:
            throw pg::Error("no owner has this content type");
    }
}

Reaction reaction(pg::Row row) {
    return {.id = row.int4(0),
            .emoji = row.text(2),
            .created_by_id = row.int4(3),
            .created = row.timestamptz(4)};
}

Person person(pg::Row row, int column) {
    return {.id = row.int4(column),
            .email = row.text(column + 1),
            .name = row.optional_text(column + 2)};
}

Note note(pg::Row row) {
    constexpr int author = 4;
    constexpr int editor = 7;
    return {
        .id = row.int4(0),
        .text = row.text(1),
        .created = row.timestamptz(2),
        .modified = row.timestamptz(3),
        .created_by = person(row, author),
        .last_modified_by = row.is_null(editor) ? std::nullopt : std::optional(person(row, editor)),
        .reactions = {}};
}

Ingredient ingredient(pg::Row row) {
    return {.id = row.int4(0),
            .position = row.text(1),
            .quantity = row.text(2),
            .name = row.text(3),
            .description = row.text(4)};
}

Section section(pg::Row row) {
    return {.id = row.int4(0), .position = row.text(1), .title = row.text(2)};
}

Step step(pg::Row row) {
    return {.id = row.int4(0), .position = row.text(1), .text = row.text(2)};
}

Event event(pg::Row row) {
    return {.id = row.int4(0),
            .action = row.text(1),
            .created_by_id = row.optional_int4(2),
            .created = row.timestamptz(3)};
}

/// Each note with its own of the reactions, which come for the whole recipe.
std::vector<Note> notes(const pg::Result& notes, const pg::Result& reactions) {
    auto list = notes.map(note);
    std::unordered_map<std::int32_t, Note*> by_id;
    for (auto& note : list) {
        by_id.emplace(note.id, &note);
    }
    for (int index = 0; index < reactions.size(); ++index) {
        // The two statements do not see the same moment: a reaction may be to a note that is new.
        if (const auto found = by_id.find(reactions[index].int4(1)); found != by_id.end()) {
            found->second->reactions.push_back(reaction(reactions[index]));
        }
    }
    return list;
}

template <typename To, typename From>
void append(To& to, From from) {
    to.insert(to.end(), std::move_iterator(from.begin()), std::move_iterator(from.end()));
}

}  // namespace

Recipe recipe(const RecipeResults& results) {
    const auto row = results.recipe[0];
    Recipe recipe{.id = row.int4(0),
                  .name = row.text(1),
                  .author = row.optional_text(2),
                  .source = row.optional_text(3),
                  .time = row.text(4),
                  .servings = row.text(5),
                  .edits = row.int4(6),
                  .created = row.timestamptz(7),
                  .modified = row.timestamptz(8),
                  .archived_at = row.optional_timestamptz(9),
                  .tags = row.text_array(10),
                  .owner = owner(row.int4(12), row.int4(11)),
                  .ingredients = {},
                  .steps = results.steps.map(step),
                  .timeline = {}};
    append(recipe.ingredients, results.ingredients.map(ingredient));
    append(recipe.ingredients, results.sections.map(section));
    append(recipe.timeline, notes(results.notes, results.reactions));
    append(recipe.timeline, results.events.map(event));
    return recipe;
}

DashboardRecipe dashboard_recipe(pg::Row row) {
    return {.id = row.int4(0), .name = row.text(1), .modified = row.timestamptz(2)};
}

DashboardTeam dashboard_team(pg::Row row) {
    return {.id = row.int4(0), .name = row.text(1), .members = row.int4(2)};
}

DashboardNote dashboard_note(pg::Row row) {
    return {.id = row.int4(0),
            .recipe_id = row.int4(1),
            .text = row.text(2),
            .created = row.timestamptz(3)};
}

DashboardEvent dashboard_event(pg::Row row) {
    return {.id = row.int4(0),
            .recipe_id = row.int4(1),
            .action = row.text(2),
            .created = row.timestamptz(3)};
}

}  // namespace tandem::rows
