// What the application reads from the database and writes to it: one function per use case.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "async.hpp"
#include "config.hpp"
#include "errors.hpp"
#include "models.hpp"
#include "pg/pool.hpp"
#include "worker.hpp"

namespace tandem {

/// Which recipe is wanted: any, or the one of an id.
struct AnyRecipe {};
using Wanted = std::variant<AnyRecipe, std::int32_t>;

/// Used by one thread; the pool behind it is everybody's. Throws pg::Error where the database
/// fails.
class Repository {
public:
    Repository(pg::Pool& pool, TimeZone time_zone, Worker& worker)
        : pool_(pool), time_zone_(time_zone), worker_(worker) {}

    /// A recipe that the owner of the session may see.
    Task<Expected<Recipe>> recipe(std::string_view session_key, Wanted wanted);

    /// Stores a note and its event in one transaction.
    Task<Expected<NoteId>> write_note(std::string_view session_key, std::int32_t recipe_id,
                                      std::string_view text);

    /// Four reads at once, on connections of their own.
    Task<Expected<Dashboard>> dashboard(std::string_view session_key);

private:
    Task<Expected<std::int32_t>> session_user(pg::Connection& connection,
                                              std::string_view session_key) const;

    /// One statement on a connection that goes back at once.
    Task<pg::Result> read(Query query, std::int32_t user_id);

    pg::Pool& pool_;
    TimeZone time_zone_;
    Worker& worker_;
};

}  // namespace tandem
