#include "rows.hpp"

#include <format>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tandem::rows {
namespace {

constexpr std::int32_t user_content_type = 1;
constexpr std::int32_t team_content_type = 20;

/// Whole seconds; fractions are cut off.
Time whole_seconds(pg::Time time) {
    return std::chrono::floor<std::chrono::seconds>(time);
}

Owner owner(std::int32_t id, std::int32_t content_type) {
    switch (content_type) {
        case user_content_type:
            return {.kind = "user", .id = id};
        case team_content_type:
            return {.kind = "team", .id = id};
        default:
            throw pg::Error(std::format("no owner has the content type {}", content_type));
    }
}

Ingredient ingredient(const pg::Row& row) {
    return {.id = row.int4(0),
            .position = row.text(1),
            .quantity = row.text(2),
            .name = row.text(3),
            .description = row.text(4)};
}

Section section(const pg::Row& row) {
    return {.id = row.int4(0), .position = row.text(1), .title = row.text(2)};
}

Step step(const pg::Row& row) {
    return {.id = row.int4(0), .position = row.text(1), .text = row.text(2)};
}

/// From three columns: id, email and name.
Person person(const pg::Row& row, int first) {
    return {
        .id = row.int4(first), .email = row.text(first + 1), .name = row.optional_text(first + 2)};
}

Note note(const pg::Row& row) {
    constexpr int author = 4;
    constexpr int editor = 7;
    return {
        .id = row.int4(0),
        .text = row.text(1),
        .created = whole_seconds(row.timestamptz(2)),
        .modified = whole_seconds(row.timestamptz(3)),
        .created_by = person(row, author),
        .last_modified_by = row.is_null(editor) ? std::nullopt : std::optional(person(row, editor)),
        .reactions = {}};
}

Event event(const pg::Row& row) {
    return {.id = row.int4(0),
            .action = row.text(1),
            .created_by_id = row.optional_int4(2),
            .created = whole_seconds(row.timestamptz(3))};
}

/// The reactions of all notes by the note's id, each in the order in which they come.
std::unordered_map<std::int32_t, std::vector<Reaction>> by_note(const pg::Result& reactions) {
    std::unordered_map<std::int32_t, std::vector<Reaction>> notes;
    for (int index = 0; index < reactions.size(); ++index) {
        const auto row = reactions[index];
        notes[row.int4(1)].push_back({.id = row.int4(0),
                                      .emoji = row.text(2),
                                      .created_by_id = row.int4(3),
                                      .created = whole_seconds(row.timestamptz(4))});
    }
    return notes;
}

}  // namespace

Recipe recipe(const RecipeResults& results) {
    const auto row = results.recipe[0];
    const auto archived_at = row.optional_timestamptz(9);
    Recipe recipe{.id = row.int4(0),
                  .name = row.text(1),
                  .author = row.optional_text(2),
                  .source = row.optional_text(3),
                  .time = row.text(4),
                  .servings = row.text(5),
                  .edits = row.int4(6),
                  .created = whole_seconds(row.timestamptz(7)),
                  .modified = whole_seconds(row.timestamptz(8)),
                  .archived_at = archived_at.transform(whole_seconds),
                  .tags = row.text_array(10),
                  .owner = owner(row.int4(11), row.int4(12)),
                  .ingredients = {},
                  .steps = results.steps.map(step),
                  .timeline = {}};
    for (int index = 0; index < results.ingredients.size(); ++index) {
        recipe.ingredients.emplace_back(ingredient(results.ingredients[index]));
    }
    for (int index = 0; index < results.sections.size(); ++index) {
        recipe.ingredients.emplace_back(section(results.sections[index]));
    }
    auto reactions = by_note(results.reactions);
    for (int index = 0; index < results.notes.size(); ++index) {
        auto next = note(results.notes[index]);
        if (const auto found = reactions.find(next.id); found != reactions.end()) {
            next.reactions = std::move(found->second);
        }
        recipe.timeline.emplace_back(std::move(next));
    }
    for (int index = 0; index < results.events.size(); ++index) {
        recipe.timeline.emplace_back(event(results.events[index]));
    }
    return recipe;
}

DashboardRecipe dashboard_recipe(const pg::Row& row) {
    return {.id = row.int4(0), .name = row.text(1), .modified = whole_seconds(row.timestamptz(2))};
}

DashboardTeam dashboard_team(const pg::Row& row) {
    return {.id = row.int4(0), .name = row.text(1), .members = row.int4(2)};
}

DashboardNote dashboard_note(const pg::Row& row) {
    return {.id = row.int4(0),
            .recipe_id = row.int4(1),
            .text = row.text(2),
            .created = whole_seconds(row.timestamptz(3))};
}

DashboardEvent dashboard_event(const pg::Row& row) {
    return {.id = row.int4(0),
            .recipe_id = row.int4(1),
            .action = row.text(2),
            .created = whole_seconds(row.timestamptz(3))};
}

}  // namespace tandem::rows
