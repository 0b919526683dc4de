// Where the database is. libpq would look the name up while the whole thread waits, so it is looked
// up here and libpq gets the addresses.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "async.hpp"

namespace tandem::pg {

/// Names and values, as PQconnectStartParams takes them.
struct ConnectionParameters {
    std::vector<std::string> names;
    std::vector<std::string> values;

    void set(const std::string& name, const std::string& value);
    [[nodiscard]] std::string get(std::string_view name) const;
};

/// Shared by all threads.
class Target {
public:
    explicit Target(const std::string& url);

    /// The addresses are kept until a connection fails.
    Task<ConnectionParameters> resolve(Resolver& resolver);
    void forget();

private:
    ConnectionParameters parameters_;
    bool has_name_;
    std::mutex mutex_;
    std::vector<std::string> addresses_;
};

}  // namespace tandem::pg
