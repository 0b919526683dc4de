// Where the database is. libpq would look the name up while the whole thread waits, so it is looked
// up here and libpq gets the addresses.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "async.hpp"
#include "pg/options.hpp"

namespace tandem::pg {

/// Shared by all threads.
class Target {
public:
    explicit Target(const std::string& url);

    /// The addresses are kept until a connection fails.
    Task<Options> resolve(Resolver& resolver);
    void forget();

private:
    Options options_;
    bool has_name_;
    std::mutex mutex_;
    std::vector<std::string> addresses_;
};

}  // namespace tandem::pg
