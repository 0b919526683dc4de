#include "rows.hpp"

#include <iterator>
#include <unordered_map>

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
    std::unordered_map<std::int32_t, Note*> by_id;
    for (auto& note : list) {
        by_id.emplace(note.id, &note);
    }
    for (int index = 0; index < reactions.size(); ++index) {
        const auto row = reactions[index];
        // The two statements do not see the same moment: a reaction may be to a note that is new.
        if (const auto found = by_id.find(row.int4(1)); found != by_id.end()) {
            found->second->reactions.push_back({.id = row.int4(0),
                                                .emoji = row.text(2),
                                                .created_by_id = row.int4(3),
                                                .created = row.text(4)});
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
    constexpr int content_type = 12;
    const auto row = results.recipe[0];
    auto recipe = model<Recipe>(row);
    recipe.owner.kind = kind_of_owner(row.int4(content_type));
    append(recipe.ingredients, models<Ingredient>(results.ingredients));
    append(recipe.ingredients, models<Section>(results.sections));
    recipe.steps = models<Step>(results.steps);
    append(recipe.timeline, notes(results.notes, results.reactions));
    append(recipe.timeline, models<Event>(results.events));
    return recipe;
}

}  // namespace tandem::rows
