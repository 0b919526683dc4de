#include "settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <format>

#include <boost/algorithm/string/join.hpp>

namespace tandem {
namespace {

std::string value_of(const Environment& environment, const char* name, std::string fallback) {
    auto value = environment(name);
    return value && !value->empty() ? *std::move(value) : std::move(fallback);
}

bool is_on(const Environment& environment, const char* name, const char* fallback) {
    return choice(environment, name, fallback, {"0", "1"}) == 1;
}

pg::Options database(const Environment& environment) {
    constexpr auto fallback = "postgresql://app:app@pgbouncer:6432/tandem?sslmode=disable";
    auto options = pg::parse_url(value_of(environment, "DATABASE_URL", fallback));
    if (!options) {
        throw ConfigError("DATABASE_URL must be a postgresql:// URL");
    }
    return *std::move(options);
}

}  // namespace

std::optional<std::string> process_environment(const char* name) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody writes it
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

std::size_t number(const Environment& environment, const char* name, std::size_t fallback,
                   std::size_t most) {
    const auto text = value_of(environment, name, std::to_string(fallback));
    std::size_t parsed = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, parsed);
    if (error != std::errc{} || stop != end || parsed < 1 || parsed > most) {
        throw ConfigError(std::format("{} must be a number from 1 to {}", name, most));
    }
    return parsed;
}

std::size_t choice(const Environment& environment, const char* name, const char* fallback,
                   const std::vector<std::string>& values) {
    const auto found = std::ranges::find(values, value_of(environment, name, fallback));
    if (found != values.end()) {
        return static_cast<std::size_t>(found - values.begin());
    }
    throw ConfigError(std::format("{} must be one of {}", name, boost::join(values, ", ")));
}

Settings read_settings(const Environment& environment) {
    constexpr std::size_t last_port = 65'535;
    constexpr std::size_t most_connections = 10'000;
    return Settings{
        .port = static_cast<std::uint16_t>(number(environment, "PORT", 8080, last_port)),
        .database = database(environment),
        .log_level = static_cast<LogLevel>(
            choice(environment, "LOG_LEVEL", "warn", {"debug", "info", "warn", "error"})),
        .db_pool_max = number(environment, "DB_POOL_MAX", 20, most_connections),
        .db_persistent = is_on(environment, "DB_PERSISTENT", "1"),
        .db_prepare = is_on(environment, "DB_PREPARE", "1"),
        .db_reset = is_on(environment, "DB_RESET", "0"),
        .db_time_zone_per_request =
            choice(environment, "DB_TIME_ZONE", "connection", {"connection", "request"}) == 1,
        .access_log = is_on(environment, "ACCESS_LOG", "0"),
    };
}

}  // namespace tandem
