// The statements of the contract, which are compiled in, by the names of their files.
#pragma once

#include <libpq-fe.h>

#include <array>
#include <contract_text.hpp>
#include <span>

namespace tandem {

struct Query {
    const char* name;  // which it is prepared under
    const char* sql;
    std::span<const Oid> parameter_types;
};

namespace queries {

// The type numbers of pg_type, which never change.
inline constexpr Oid int4 = 23;
inline constexpr Oid text = 25;
inline constexpr std::array key{text};
inline constexpr std::array id{int4};
inline constexpr std::array two_ids{int4, int4};
inline constexpr std::array two_ids_and_text{int4, int4, text};

// The texts are literals, so they end in a NUL.
inline constexpr Query session{"session", contract_text::session.data(), key};
inline constexpr Query recipe_random{"recipe_random", contract_text::recipe_random.data(), id};
inline constexpr Query recipe_by_id{"recipe_by_id", contract_text::recipe_by_id.data(), two_ids};
inline constexpr Query ingredients{"ingredients", contract_text::ingredients.data(), id};
inline constexpr Query steps{"steps", contract_text::steps.data(), id};
inline constexpr Query sections{"sections", contract_text::sections.data(), id};
inline constexpr Query notes{"notes", contract_text::notes.data(), id};
inline constexpr Query reactions{"reactions", contract_text::reactions.data(), id};
inline constexpr Query events{"timeline_events", contract_text::timeline_events.data(), id};
inline constexpr Query note_insert{"note_insert", contract_text::note_insert.data(),
                                   two_ids_and_text};
inline constexpr Query event_insert{"event_insert", contract_text::event_insert.data(), two_ids};
inline constexpr Query dashboard_recipes{"dashboard_recipes",
                                         contract_text::dashboard_recipes.data(), id};
inline constexpr Query dashboard_teams{"dashboard_teams", contract_text::dashboard_teams.data(),
                                       id};
inline constexpr Query dashboard_notes{"dashboard_notes", contract_text::dashboard_notes.data(),
                                       id};
inline constexpr Query dashboard_events{"dashboard_events", contract_text::dashboard_events.data(),
                                        id};

}  // namespace queries
}  // namespace tandem
