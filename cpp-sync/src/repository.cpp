#include "repository.hpp"

#include <utility>

#include "errors.hpp"
#include "rows.hpp"

namespace tandem {

Recipe Repository::random_recipe(const std::string& session_key) {
    return load_recipe(session_key, std::nullopt);
}

Recipe Repository::recipe(const std::string& session_key, std::int32_t id) {
    return load_recipe(session_key, id);
}

Recipe Repository::load_recipe(const std::string& session_key, std::optional<std::int32_t> wanted) {
    const auto results = [&] {
        const auto connection = pool_.acquire();
        const auto user = user_of(*connection, session_key);
        auto recipe = wanted ? connection->query(Query::recipe_by_id, user, *wanted)
                             : connection->query(Query::recipe_random, user);
        if (recipe.empty()) {
            throw Error(Reason::not_found);
        }
        const auto id = recipe[0].int4(0);
        // Members are initialised in their order, which is that of the contract.
        return rows::RecipeResults{
            .recipe = std::move(recipe),
            .ingredients = connection->query(Query::ingredients, id),
            .steps = connection->query(Query::steps, id),
            .sections = connection->query(Query::sections, id),
            .notes = connection->query(Query::notes, id),
            .reactions = connection->query(Query::reactions, id),
            .events = connection->query(Query::timeline_events, id),
        };
    }();
    // The connection is somebody else's by now.
    return rows::recipe(results);
}

/// The session's user, with which every request begins. Throws unauthorized if the session is
/// unknown or expired.
std::int32_t Repository::user_of(pg::Connection& connection, const std::string& session_key) const {
    if (time_zone_ == TimeZone::request) {
        connection.command("SET TIME ZONE 'UTC'");
    }
    const auto sessions = connection.query(Query::session, session_key);
    if (sessions.empty()) {
        throw Error(Reason::unauthorized);
    }
    return sessions[0].int4(0);
}

NoteId Repository::write_note(const std::string& session_key, std::int32_t recipe_id,
                              const std::string& text) {
    const auto connection = pool_.acquire();
    const auto user = user_of(*connection, session_key);
    connection->command("BEGIN");
    const auto note = connection->query(Query::note_insert, user, recipe_id, text);
    if (note.empty()) {
        connection->command("ROLLBACK");
        throw Error(Reason::not_found);
    }
    connection->query(Query::event_insert, user, recipe_id);
    // The server answers ROLLBACK, and no error, when it could not commit.
    if (connection->command("COMMIT") != "COMMIT") {
        throw pg::Error("the transaction was rolled back");
    }
    return {.id = note[0].int4(0)};
}

Dashboard Repository::dashboard(const std::string& session_key) {
    const auto connection = pool_.acquire();
    const auto user = user_of(*connection, session_key);
    return {
        .user_id = user,
        .recipes = connection->query(Query::dashboard_recipes, user).map(rows::dashboard_recipe),
        .teams = connection->query(Query::dashboard_teams, user).map(rows::dashboard_team),
        .notes = connection->query(Query::dashboard_notes, user).map(rows::dashboard_note),
        .events = connection->query(Query::dashboard_events, user).map(rows::dashboard_event)};
}

}  // namespace tandem
