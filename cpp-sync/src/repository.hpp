// What the application reads from the database and writes to it: one function per use case.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "errors.hpp"
#include "models.hpp"
#include "pg/pool.hpp"
#include "settings.hpp"

namespace tandem {

/// For all threads. Throws pg::Error where the database fails.
class Repository {
public:
    Repository(const Settings& settings, pg::Pool& pool) : settings_(settings), pool_(pool) {}

    /// A recipe that the owner of the session may see: any, or the one of an id.
    Recipe random_recipe(std::string_view session_key);
    Recipe recipe(std::string_view session_key, std::int32_t id);

    /// Stores a note and its event in one transaction; the note's id.
    std::int32_t write_note(std::string_view session_key, std::int32_t recipe_id,
                            std::string_view text);

    /// Four reads, one after the other on one connection.
    Dashboard dashboard(std::string_view session_key);

private:
    std::pair<pg::Pool::Lease, std::int32_t> begin(std::string_view session_key);

    const Settings& settings_;
    pg::Pool& pool_;
};

}  // namespace tandem
