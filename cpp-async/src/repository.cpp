#include "repository.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <exception>
#include <utility>

#include "rows.hpp"

namespace tandem {
namespace {

/// The recipe that the query finds, with its parts.
Task<Recipe> whole_recipe(pg::Connection& connection, const Query& query,
                          pg::Parameters parameters) {
    rows::RecipeResults results;
    results.recipe = co_await connection.run(query, std::move(parameters));
    if (results.recipe.empty()) {
        throw Refusal(http::status::not_found);
    }
    const auto id = results.recipe[0].int4(0);
    results.ingredients = co_await connection.run(queries::ingredients, {id});
    results.steps = co_await connection.run(queries::steps, {id});
    results.sections = co_await connection.run(queries::sections, {id});
    results.notes = co_await connection.run(queries::notes, {id});
    results.reactions = co_await connection.run(queries::reactions, {id});
    results.events = co_await connection.run(queries::events, {id});
    co_return rows::recipe(results);
}

}  // namespace

Task<Recipe> Repository::random_recipe(std::string_view session_key) {
    const auto [connection, user_id] = co_await begin(session_key);
    co_return co_await whole_recipe(*connection, queries::recipe_random, {user_id});
}

Task<Recipe> Repository::recipe(std::string_view session_key, std::int32_t id) {
    const auto [connection, user_id] = co_await begin(session_key);
    co_return co_await whole_recipe(*connection, queries::recipe_by_id, {user_id, id});
}

/// A connection that an exception leaves in a transaction is closed by the pool, which rolls back.
Task<std::int32_t> Repository::write_note(std::string_view session_key, std::int32_t recipe_id,
                                          std::string_view text) {
    const auto [connection, user_id] = co_await begin(session_key);
    co_await connection->command("begin");
    const auto notes = co_await connection->run(queries::note_insert, {user_id, recipe_id, text});
    if (notes.empty()) {
        co_await connection->command("rollback");
        throw Refusal(http::status::not_found);
    }
    co_await connection->run(queries::event_insert, {user_id, recipe_id});
    const auto committed = co_await connection->command("commit");
    // The server answers ROLLBACK, and no error, when it could not commit.
    if (committed.command() != "COMMIT") {
        throw pg::Error("the transaction was rolled back");
    }
    co_return notes[0].int4(0);
}

Task<Dashboard> Repository::dashboard(std::string_view session_key) {
    const auto user_id = (co_await begin(session_key)).second;  // and the connection goes back
    const auto executor = co_await asio::this_coro::executor;
    const auto read = [this, user_id](const Query& query) -> Task<pg::Result> {
        const auto connection = co_await pool_.acquire();
        co_return co_await connection->run(query, {user_id});
    };
    const auto start = [&](const Query& query) {
        return asio::co_spawn(executor, read(query), asio::deferred);
    };
    // Each is waited for, even if another has failed: no statement is given up half-way.
    auto [order, recipes_error, recipes, teams_error, teams, notes_error, notes, events_error,
          events] =
        co_await asio::experimental::make_parallel_group(
            start(queries::dashboard_recipes), start(queries::dashboard_teams),
            start(queries::dashboard_notes), start(queries::dashboard_events))
            .async_wait(asio::experimental::wait_for_all(), use_task);
    for (const auto& error : {recipes_error, teams_error, notes_error, events_error}) {
        if (error) {
            std::rethrow_exception(error);
        }
    }
    co_return Dashboard{.user_id = user_id,
                        .recipes = rows::models<DashboardRecipe>(recipes),
                        .teams = rows::models<DashboardTeam>(teams),
                        .notes = rows::models<DashboardNote>(notes),
                        .events = rows::models<DashboardEvent>(events)};
}

/// A connection, and the session's user, with which every request begins.
Task<std::pair<pg::Pool::Lease, std::int32_t>> Repository::begin(std::string_view session_key) {
    auto connection = co_await pool_.acquire();
    if (settings_.db_time_zone_per_request) {
        co_await connection->command("SET TIME ZONE 'UTC'");
    }
    const auto sessions = co_await connection->run(queries::session, {session_key});
    if (sessions.empty()) {
        throw Refusal(http::status::unauthorized);
    }
    co_return std::pair(std::move(connection), sessions[0].int4(0));
}

}  // namespace tandem
