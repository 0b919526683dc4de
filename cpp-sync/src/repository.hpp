// What the application reads from the database and writes to it: one function per use case.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "config.hpp"
#include "errors.hpp"
#include "models.hpp"
#include "pg/pool.hpp"

namespace tandem {

/// Which recipe is wanted: any, or the one of an id.
struct AnyRecipe {};
using Wanted = std::variant<AnyRecipe, std::int32_t>;

/// Safe to use from several threads. Throws pg::Error where the database fails.
class Repository {
public:
    explicit Repository(const Config& config) : time_zone_(config.db_time_zone), pool_(config) {}

    /// A recipe that the owner of the session may see.
    Expected<Recipe> recipe(std::string_view session_key, Wanted wanted);

    /// Stores a note and its event in one transaction.
    Expected<NoteId> write_note(std::string_view session_key, std::int32_t recipe_id,
                                std::string_view text);

    /// Four reads, one after the other on one connection.
    Expected<Dashboard> dashboard(std::string_view session_key);

    [[nodiscard]] PoolUse pool_use() const { return pool_.use(); }

private:
    Expected<std::int32_t> session_user(pg::Connection& connection,
                                        std::string_view session_key) const;

    const TimeZone time_zone_;
    pg::Pool pool_;
};

}  // namespace tandem
