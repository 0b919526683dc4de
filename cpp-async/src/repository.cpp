#include "repository.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <tuple>
#include <utility>

#include "rows.hpp"

namespace tandem {
namespace {

Task<pg::Result> wanted_recipe(pg::Connection& connection, std::int32_t user_id, Wanted wanted) {
    if (const auto* id = std::get_if<std::int32_t>(&wanted)) {
        co_return co_await connection.run(Query::recipe_by_id, {user_id, *id});
    }
    co_return co_await connection.run(Query::recipe_random, user_id);
}

}  // namespace

Task<Expected<Recipe>> Repository::recipe(std::string_view session_key, Wanted wanted) {
    const auto connection = co_await pool_.acquire(worker_);
    const auto user_id = co_await session_user(*connection, session_key);
    if (!user_id) {
        co_return std::unexpected(user_id.error());
    }
    rows::RecipeResults results;
    results.recipe = co_await wanted_recipe(*connection, *user_id, wanted);
    if (results.recipe.empty()) {
        co_return refuse(Reason::not_found);
    }
    const auto id = results.recipe[0].int4(0);
    results.ingredients = co_await connection->run(Query::ingredients, id);
    results.steps = co_await connection->run(Query::steps, id);
    results.sections = co_await connection->run(Query::sections, id);
    results.notes = co_await connection->run(Query::notes, id);
    results.reactions = co_await connection->run(Query::reactions, id);
    results.events = co_await connection->run(Query::timeline_events, id);
    co_return rows::recipe(results);
}

/// The session's user, with which every request begins.
Task<Expected<std::int32_t>> Repository::session_user(pg::Connection& connection,
                                                      std::string_view session_key) const {
    if (time_zone_ == TimeZone::request) {
        co_await connection.command("SET TIME ZONE 'UTC'");
    }
    const auto sessions = co_await connection.run(Query::session, session_key);
    if (sessions.empty()) {
        co_return refuse(Reason::unauthorized);
    }
    co_return sessions[0].int4(0);
}

/// A connection that an exception leaves in a transaction is closed by the pool, which rolls back.
Task<Expected<NoteId>> Repository::write_note(std::string_view session_key, std::int32_t recipe_id,
                                              std::string_view text) {
    const auto connection = co_await pool_.acquire(worker_);
    const auto user_id = co_await session_user(*connection, session_key);
    if (!user_id) {
        co_return std::unexpected(user_id.error());
    }
    co_await connection->command("begin");
    const auto notes = co_await connection->run(Query::note_insert, {*user_id, recipe_id, text});
    if (notes.empty()) {
        co_await connection->command("rollback");
        co_return refuse(Reason::not_found);
    }
    co_await connection->run(Query::event_insert, {*user_id, recipe_id});
    const auto committed = co_await connection->command("commit");
    // The server answers ROLLBACK, and no error, when it could not commit.
    if (committed.command() != "COMMIT") {
        throw pg::Error("the transaction was rolled back");
    }
    co_return NoteId{.id = notes[0].int4(0)};
}

Task<Expected<Dashboard>> Repository::dashboard(std::string_view session_key) {
    Expected<std::int32_t> user = 0;
    {
        const auto connection = co_await pool_.acquire(worker_);
        user = co_await session_user(*connection, session_key);
    }
    if (!user) {
        co_return std::unexpected(user.error());
    }
    const auto user_id = *user;
    const auto start = [this, user_id](Query query) {
        return asio::co_spawn(worker_.context, read(query, user_id), asio::deferred);
    };
    // Each is waited for, even if another has failed: no statement is given up half-way.
    auto [order, recipes_error, recipes, teams_error, teams, notes_error, notes, events_error,
          events] =
        co_await asio::experimental::make_parallel_group(
            start(Query::dashboard_recipes), start(Query::dashboard_teams),
            start(Query::dashboard_notes), start(Query::dashboard_events))
            .async_wait(asio::experimental::wait_for_all(), use_task);
    for (const auto& error : {recipes_error, teams_error, notes_error, events_error}) {
        if (error) {
            std::rethrow_exception(error);
        }
    }
    co_return Dashboard{.user_id = user_id,
                        .recipes = recipes.map(rows::dashboard_recipe),
                        .teams = teams.map(rows::dashboard_team),
                        .notes = notes.map(rows::dashboard_note),
                        .events = events.map(rows::dashboard_event)};
}

Task<pg::Result> Repository::read(Query query, std::int32_t user_id) {
    const auto connection = co_await pool_.acquire(worker_);
    co_return co_await connection->run(query, user_id);
}

}  // namespace tandem
