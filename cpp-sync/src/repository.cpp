#include "repository.hpp"

#include "rows.hpp"

namespace tandem {
namespace {

pg::Result wanted_recipe(pg::Connection& connection, std::int32_t user_id, Wanted wanted) {
    if (const auto* id = std::get_if<std::int32_t>(&wanted)) {
        return connection.run(Query::recipe_by_id, {user_id, *id});
    }
    return connection.run(Query::recipe_random, user_id);
}

}  // namespace

Expected<Recipe> Repository::recipe(std::string_view session_key, Wanted wanted) {
    const auto connection = pool_.acquire();
    const auto user_id = session_user(*connection, session_key);
    if (!user_id) {
        return std::unexpected(user_id.error());
    }
    rows::RecipeResults results;
    results.recipe = wanted_recipe(*connection, *user_id, wanted);
    if (results.recipe.empty()) {
        return refuse(Reason::not_found);
    }
    const auto id = results.recipe[0].int4(0);
    results.ingredients = connection->run(Query::ingredients, id);
    results.steps = connection->run(Query::steps, id);
    results.sections = connection->run(Query::sections, id);
    results.notes = connection->run(Query::notes, id);
    results.reactions = connection->run(Query::reactions, id);
    results.events = connection->run(Query::timeline_events, id);
    return rows::recipe(results);
}

/// The session's user, with which every request begins.
Expected<std::int32_t> Repository::session_user(pg::Connection& connection,
                                                std::string_view session_key) const {
    if (time_zone_ == TimeZone::request) {
        connection.command("SET TIME ZONE 'UTC'");
    }
    const auto sessions = connection.run(Query::session, session_key);
    if (sessions.empty()) {
        return refuse(Reason::unauthorized);
    }
    return sessions[0].int4(0);
}

/// A connection that an exception leaves in a transaction is closed by the pool, which rolls back.
Expected<NoteId> Repository::write_note(std::string_view session_key, std::int32_t recipe_id,
                                        std::string_view text) {
    const auto connection = pool_.acquire();
    const auto user_id = session_user(*connection, session_key);
    if (!user_id) {
        return std::unexpected(user_id.error());
    }
    connection->command("begin");
    const auto notes = connection->run(Query::note_insert, {*user_id, recipe_id, text});
    if (notes.empty()) {
        connection->command("rollback");
        return refuse(Reason::not_found);
    }
    connection->run(Query::event_insert, {*user_id, recipe_id});
    const auto committed = connection->command("commit");
    // The server answers ROLLBACK, and no error, when it could not commit.
    if (committed.command() != "COMMIT") {
        throw pg::Error("the transaction was rolled back");
    }
    return NoteId{.id = notes[0].int4(0)};
}

Expected<Dashboard> Repository::dashboard(std::string_view session_key) {
    const auto connection = pool_.acquire();
    const auto user_id = session_user(*connection, session_key);
    if (!user_id) {
        return std::unexpected(user_id.error());
    }
    const auto read = [&](Query query) { return connection->run(query, *user_id); };
    return Dashboard{.user_id = *user_id,
                     .recipes = read(Query::dashboard_recipes).map(rows::dashboard_recipe),
                     .teams = read(Query::dashboard_teams).map(rows::dashboard_team),
                     .notes = read(Query::dashboard_notes).map(rows::dashboard_note),
                     .events = read(Query::dashboard_events).map(rows::dashboard_event)};
}

}  // namespace tandem
