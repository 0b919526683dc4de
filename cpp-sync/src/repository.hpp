// What the application reads from the database and writes to it: one function per use case.
#pragma once

#include <cstdint>
#include <string_view>

#include "config.hpp"
#include "errors.hpp"
#include "models.hpp"
#include "pg/pool.hpp"

namespace tandem {

/// For all threads. Throws pg::Error where the database fails.
class Repository {
public:
    explicit Repository(const Config& config)
        : time_zone_per_request_(config.db_time_zone_per_request), pool_(config) {}

    /// A recipe that the owner of the session may see: any, or the one of an id.
    Recipe random_recipe(std::string_view session_key);
    Recipe recipe(std::string_view session_key, std::int32_t id);

    /// Stores a note and its event in one transaction.
    NoteId write_note(std::string_view session_key, std::int32_t recipe_id, std::string_view text);

    /// Four reads, one after the other on one connection.
    Dashboard dashboard(std::string_view session_key);

    [[nodiscard]] PoolUse pool_use() const { return pool_.use(); }
    void close() { pool_.close(); }

private:
    std::int32_t session_user(pg::Connection& connection, std::string_view session_key) const;

    const bool time_zone_per_request_;
    pg::Pool pool_;
};

}  // namespace tandem
