// The users of the scenario `users`: ids in the memory of this process.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>

namespace tandem {

/// Safe to use from several threads. A user has no data, so an id is all there is.
class Users {
public:
    /// Ids count up from 0 and are not given again.
    std::uint64_t create();

    [[nodiscard]] bool contains(std::uint64_t id) const;

    /// False if there is no such user.
    bool remove(std::uint64_t id);

    /// Ascending, joined by commas.
    [[nodiscard]] std::string list() const;

private:
    mutable std::shared_mutex mutex_;
    std::set<std::uint64_t> ids_;
    std::uint64_t next_ = 0;
};

}  // namespace tandem
