#include "repository.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <iterator>
#include <ranges>
#include <tuple>
#include <utility>

#include "errors.hpp"
#include "rows.hpp"

namespace tandem {
namespace {

Task<pg::Result> wanted_recipe(pg::Connection& connection, std::int32_t user_id, Wanted wanted) {
    if (const auto* id = std::get_if<std::int32_t>(&wanted)) {
        co_return co_await connection.run(Query::recipe_by_id, {user_id, *id});
    }
    co_return co_await connection.run(Query::recipe_random, {user_id});
}

template <typename To, typename From>
void append(To& to, From from) {
    to.insert(to.end(), std::move_iterator(from.begin()), std::move_iterator(from.end()));
}

}  // namespace

Task<Recipe> Repository::recipe(std::string_view session_key, Wanted wanted) {
    auto connection = co_await pool_.acquire(worker_);
    const auto user_id = co_await session_user(*connection, session_key);
    const auto found = co_await wanted_recipe(*connection, user_id, wanted);
    if (found.empty()) {
        throw Error(Reason::not_found);
    }
    auto recipe = rows::recipe(found[0]);

    const auto ingredients = co_await connection->run(Query::ingredients, {recipe.id});
    const auto steps = co_await connection->run(Query::steps, {recipe.id});
    const auto sections = co_await connection->run(Query::sections, {recipe.id});
    const auto notes = co_await connection->run(Query::notes, {recipe.id});
    const auto reactions = co_await connection->run(Query::reactions, {recipe.id});
    const auto events = co_await connection->run(Query::timeline_events, {recipe.id});

    append(recipe.ingredients, ingredients.map(rows::ingredient));
    append(recipe.ingredients, sections.map(rows::section));
    recipe.steps = steps.map(rows::step);
    append(recipe.timeline, rows::notes(notes, reactions));
    append(recipe.timeline, events.map(rows::event));
    co_return recipe;
}

/// The session's user, with which every request begins.
Task<std::int32_t> Repository::session_user(pg::Connection& connection,
                                            std::string_view session_key) const {
    if (time_zone_ == TimeZone::request) {
        co_await connection.command("SET TIME ZONE 'UTC'");
    }
    const auto sessions = co_await connection.run(Query::session, {session_key});
    if (sessions.empty()) {
        throw Error(Reason::unauthorized);
    }
    co_return sessions[0].int4(0);
}

/// A connection that an exception leaves in a transaction is closed by the pool, which rolls back.
Task<NoteId> Repository::write_note(std::string_view session_key, std::int32_t recipe_id,
                                    std::string_view text) {
    auto connection = co_await pool_.acquire(worker_);
    const auto user_id = co_await session_user(*connection, session_key);
    co_await connection->command("begin");
    const auto notes = co_await connection->run(Query::note_insert, {user_id, recipe_id, text});
    if (notes.empty()) {
        co_await connection->command("rollback");
        throw Error(Reason::not_found);
    }
    co_await connection->run(Query::event_insert, {user_id, recipe_id});
    const auto committed = co_await connection->command("commit");
    if (committed.command() != "COMMIT") {
        throw pg::Error("the transaction was rolled back");
    }
    co_return NoteId{.id = notes[0].int4(0)};
}

Task<Dashboard> Repository::dashboard(std::string_view session_key) {
    std::int32_t user_id = 0;
    {
        auto connection = co_await pool_.acquire(worker_);
        user_id = co_await session_user(*connection, session_key);
    }
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
    auto connection = co_await pool_.acquire(worker_);
    co_return co_await connection->run(query, {user_id});
}

}  // namespace tandem
