#pragma once

#include <libpq-fe.h>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace tandem {

/// The statements of the contract, by the names of their files.
enum class Query {
    session,
    recipe_random,
    recipe_by_id,
    ingredients,
    steps,
    sections,
    notes,
    reactions,
    timeline_events,
    note_insert,
    event_insert,
    dashboard_recipes,
    dashboard_teams,
    dashboard_notes,
    dashboard_events,
};

inline constexpr std::size_t query_count = 15;

/// The type numbers of pg_type, which never change.
namespace type {
inline constexpr Oid int4 = 23;
inline constexpr Oid text = 25;
}  // namespace type

/// A statement's name, which it is prepared under, its text and the types of its parameters.
struct Statement {
    const char* name;
    const char* sql;
    std::span<const Oid> parameter_types;
};

const Statement& statement(Query query);

}  // namespace tandem
