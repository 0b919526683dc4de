// The settings of the contract, read from the environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "log.hpp"

namespace tandem {

/// Whether the time zone is the connection's own or set by each request.
enum class TimeZone { connection, request };

struct Config {
    std::uint16_t port;
    std::string database_url;
    LogLevel log_level;
    std::size_t threads;      // connections that are served at once; each has a thread
    std::size_t db_pool_max;  // database connections at the most
    bool db_persistent;       // keep them between requests
    bool db_prepare;          // prepare each statement once per connection
    bool db_reset;            // DISCARD ALL each time one goes back to the pool
    TimeZone db_time_zone;    // what sets it
    bool access_log;
};

/// One line that names the variable. It does not repeat the value, which may hold a password.
class ConfigError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// How a variable is found: by name, nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// The variables of this process.
std::optional<std::string> process_environment(const char* name);

/// Throws ConfigError on the first value that makes no sense.
Config read_config(const Environment& environment);

}  // namespace tandem
