// The settings of the contract that both servers have, read from the environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "log.hpp"
#include "pg/options.hpp"

namespace tandem {

struct Settings {
    std::uint16_t port;
    pg::Options database;
    LogLevel log_level;
    std::size_t db_pool_max;        // database connections at the most
    bool db_persistent;             // keep them between requests
    bool db_prepare;                // prepare each statement once per connection
    bool db_reset;                  // DISCARD ALL each time one goes back to the pool
    bool db_time_zone_per_request;  // each request sets the time zone by itself
    bool access_log;
};

/// One line that names the variable. It does not repeat the value, which may hold a password.
class ConfigError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// How a variable is found: by name, nothing if it is not set. An empty one means the default.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// The variables of this process.
std::optional<std::string> process_environment(const char* name);

/// Throws ConfigError on the first value that makes no sense, as all that follow do.
Settings read_settings(const Environment& environment);

/// A number from 1 to `most`.
std::size_t number(const Environment& environment, const char* name, std::size_t fallback,
                   std::size_t most);

/// The place of the value among those that have a meaning.
std::size_t choice(const Environment& environment, const char* name, const char* fallback,
                   const std::vector<std::string>& values);

}  // namespace tandem
