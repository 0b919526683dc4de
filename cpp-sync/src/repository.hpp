// What the scenarios ask of the database: one method each, on one connection, statement by
// statement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config.hpp"
#include "models.hpp"
#include "pg/pool.hpp"

namespace tandem {

/// Safe to use from several threads. Throws Error where the contract refuses (no such session, not
/// visible) and pg::Error where the database fails.
class Repository {
public:
    Repository(pg::PoolSettings settings, TimeZone time_zone)
        : time_zone_(time_zone), pool_(std::move(settings)) {}

    /// A random one of the recipes that the session's user may see.
    Recipe random_recipe(const std::string& session_key);

    /// The recipe of that id, if the session's user may see it.
    Recipe recipe(const std::string& session_key, std::int32_t id);

    /// Writes a note and its event in one transaction; returns the note's id.
    NoteId write_note(const std::string& session_key, std::int32_t recipe_id,
                      const std::string& text);

    /// What is new on the user's own recipes, and the user's teams.
    Dashboard dashboard(const std::string& session_key);

    [[nodiscard]] PoolUse pool_use() const { return pool_.use(); }

private:
    Recipe load_recipe(const std::string& session_key, std::optional<std::int32_t> id);

    std::int32_t user_of(pg::Connection& connection, const std::string& session_key) const;

    const TimeZone time_zone_;
    pg::Pool pool_;
};

}  // namespace tandem
