#include "queries.hpp"

#include <contract_text.hpp>

namespace tandem {
namespace {

constexpr std::array key{type::text};
constexpr std::array id{type::int4};
constexpr std::array two_ids{type::int4, type::int4};
constexpr std::array two_ids_and_text{type::int4, type::int4, type::text};

// In the order of the enumeration. The texts are literals, so they end in a NUL.
constexpr std::array<Statement, query_count> statements{{
    {"session", contract_text::session.data(), key},
    {"recipe_random", contract_text::recipe_random.data(), id},
    {"recipe_by_id", contract_text::recipe_by_id.data(), two_ids},
    {"ingredients", contract_text::ingredients.data(), id},
    {"steps", contract_text::steps.data(), id},
    {"sections", contract_text::sections.data(), id},
    {"notes", contract_text::notes.data(), id},
    {"reactions", contract_text::reactions.data(), id},
    {"timeline_events", contract_text::timeline_events.data(), id},
    {"note_insert", contract_text::note_insert.data(), two_ids_and_text},
    {"event_insert", contract_text::event_insert.data(), two_ids},
    {"dashboard_recipes", contract_text::dashboard_recipes.data(), id},
    {"dashboard_teams", contract_text::dashboard_teams.data(), id},
    {"dashboard_notes", contract_text::dashboard_notes.data(), id},
    {"dashboard_events", contract_text::dashboard_events.data(), id},
}};

}  // namespace

const Statement& statement(Query query) {
    return statements[static_cast<std::size_t>(query)];
}

}  // namespace tandem
