#include "rows.hpp"

#include <algorithm>
#include <iterator>

namespace tandem::rows {
namespace {

std::string_view kind_of_owner(std::int32_t content_type) {
    switch (content_type) {
        case 1:
            return "user";
        case 20:
            return "team";
        default:
            throw pg::Error("no owner has this content type");
    }
}

/// Each note with its own of the reactions, which come for the whole recipe.
std::vector<Note> notes(const pg::Result& notes, const pg::Result& reactions) {
    auto list = models<Note>(notes);
    for (const auto row : reactions.rows()) {
        const auto note = std::ranges::find(list, row.int4(1), &Note::id);
        // The two statements do not see the same moment: a reaction may be to a note that is new.
        if (note != list.end()) {
            note->reactions.push_back({.id = row.int4(0),
                                       .emoji = row.text(2),
                                       .created_by_id = row.int4(3),
                                       .created = row.text(4)});
        }
    }
    return list;
}

}  // namespace

Recipe recipe(const RecipeResults& results) {
    constexpr int content_type = 12;
    const auto row = results.recipe[0];
    auto recipe = model<Recipe>(row);
    recipe.owner.kind = kind_of_owner(row.int4(content_type));
    const auto ingredients = std::back_inserter(recipe.ingredients);
    std::ranges::move(models<Ingredient>(results.ingredients), ingredients);
    std::ranges::move(models<Section>(results.sections), ingredients);
    recipe.steps = models<Step>(results.steps);
    const auto timeline = std::back_inserter(recipe.timeline);
    std::ranges::move(notes(results.notes, results.reactions), timeline);
    std::ranges::move(models<Event>(results.events), timeline);
    return recipe;
}

}  // namespace tandem::rows
