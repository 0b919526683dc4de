// The settings of the contract that both servers have, read from the environment.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <format>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "log.hpp"

namespace tandem {

/// Whether the time zone is the connection's own or set by each request.
enum class TimeZone { connection, request };

struct Settings {
    std::uint16_t port;
    std::string database_url;
    LogLevel log_level;
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

/// Throws ConfigError on the first value that makes no sense, as all that follow do.
Settings read_settings(const Environment& environment);

/// Compose passes variables that nobody set as empty strings: they mean the default.
std::string value_of(const Environment& environment, const char* name, std::string fallback);

template <typename Number>
Number number(const Environment& environment, const char* name, Number fallback, Number least,
              Number most) {
    const auto text = value_of(environment, name, std::to_string(fallback));
    Number parsed{};
    const auto* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, parsed);
    if (error != std::errc{} || stop != end || parsed < least || parsed > most) {
        throw ConfigError(std::format("{} must be a number from {} to {}", name, least, most));
    }
    return parsed;
}

/// One of the values that have a name.
template <typename Value, std::size_t count>
Value choice(const Environment& environment, const char* name, const char* fallback,
             const std::array<std::pair<const char*, Value>, count>& values) {
    const auto text = value_of(environment, name, fallback);
    std::string names;
    for (std::size_t index = 0; index < count; ++index) {
        if (text == values[index].first) {
            return values[index].second;
        }
        names += index == 0 ? "" : index + 1 == count ? " or " : ", ";
        names += values[index].first;
    }
    throw ConfigError(std::format("{} must be {}", name, names));
}

}  // namespace tandem
