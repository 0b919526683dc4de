#include "repository.hpp"

#include <utility>

#include "rows.hpp"

namespace tandem {
namespace {

/// The recipe that the query finds, with its parts.
Recipe whole_recipe(pg::Connection& connection, const Query& query,
                    const pg::Parameters& parameters) {
    rows::RecipeResults results;
    results.recipe = connection.run(query, parameters);
    if (results.recipe.empty()) {
        throw Refusal(http::status::not_found);
    }
    const auto id = results.recipe[0].int4(0);
    results.ingredients = connection.run(queries::ingredients, {id});
    results.steps = connection.run(queries::steps, {id});
    results.sections = connection.run(queries::sections, {id});
    results.notes = connection.run(queries::notes, {id});
    results.reactions = connection.run(queries::reactions, {id});
    results.events = connection.run(queries::events, {id});
    return rows::recipe(results);
}

}  // namespace

Recipe Repository::random_recipe(std::string_view session_key) {
    const auto [connection, user_id] = begin(session_key);
    return whole_recipe(*connection, queries::recipe_random, {user_id});
}

Recipe Repository::recipe(std::string_view session_key, std::int32_t id) {
    const auto [connection, user_id] = begin(session_key);
    return whole_recipe(*connection, queries::recipe_by_id, {user_id, id});
}

/// A connection that an exception leaves in a transaction is closed by the pool, which rolls back.
std::int32_t Repository::write_note(std::string_view session_key, std::int32_t recipe_id,
                                    std::string_view text) {
    const auto [connection, user_id] = begin(session_key);
    connection->command("begin");
    const auto notes = connection->run(queries::note_insert, {user_id, recipe_id, text});
    if (notes.empty()) {
        connection->command("rollback");
        throw Refusal(http::status::not_found);
    }
    connection->run(queries::event_insert, {user_id, recipe_id});
    const auto committed = connection->command("commit");
    // The server answers ROLLBACK, and no error, when it could not commit.
    if (committed.command() != "COMMIT") {
        throw pg::Error("the transaction was rolled back");
    }
    return notes[0].int4(0);
}

Dashboard Repository::dashboard(std::string_view session_key) {
    const auto [connection, user_id] = begin(session_key);
    const auto read = [&](const Query& query) { return connection->run(query, {user_id}); };
    return Dashboard{.user_id = user_id,
                     .recipes = rows::models<DashboardRecipe>(read(queries::dashboard_recipes)),
                     .teams = rows::models<DashboardTeam>(read(queries::dashboard_teams)),
                     .notes = rows::models<DashboardNote>(read(queries::dashboard_notes)),
                     .events = rows::models<DashboardEvent>(read(queries::dashboard_events))};
}

/// A connection, and the session's user, with which every request begins.
std::pair<pg::Pool::Lease, std::int32_t> Repository::begin(std::string_view session_key) {
    auto connection = pool_.acquire();
    if (settings_.db_time_zone_per_request) {
        connection->command("SET TIME ZONE 'UTC'");
    }
    const auto sessions = connection->run(queries::session, {session_key});
    if (sessions.empty()) {
        throw Refusal(http::status::unauthorized);
    }
    return std::pair(std::move(connection), sessions[0].int4(0));
}

}  // namespace tandem
