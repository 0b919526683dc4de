#include "settings.hpp"

#include <libpq-fe.h>

#include <cstdlib>
#include <memory>

namespace tandem {
namespace {

constexpr auto default_database_url = "postgresql://app:app@pgbouncer:6432/tandem?sslmode=disable";

constexpr std::array<std::pair<const char*, LogLevel>, 4> log_levels{{
    {"debug", LogLevel::debug},
    {"info", LogLevel::info},
    {"warn", LogLevel::warn},
    {"error", LogLevel::error},
}};

constexpr std::array<std::pair<const char*, TimeZone>, 2> time_zones{{
    {"connection", TimeZone::connection},
    {"request", TimeZone::request},
}};

constexpr std::array<std::pair<const char*, bool>, 2> switches{{{"0", false}, {"1", true}}};

/// libpq itself says whether it can read the URL; it does not connect yet.
std::string database_url(const Environment& environment) {
    auto url = value_of(environment, "DATABASE_URL", default_database_url);
    const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(
        PQconninfoParse(url.c_str(), nullptr), &PQconninfoFree);
    const bool is_url = url.starts_with("postgresql://") || url.starts_with("postgres://");
    if (!is_url || !options) {
        throw ConfigError("DATABASE_URL must be a postgresql:// URL");
    }
    return url;
}

}  // namespace

std::optional<std::string> process_environment(const char* name) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody writes it
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

std::string value_of(const Environment& environment, const char* name, std::string fallback) {
    auto value = environment(name);
    return value && !value->empty() ? *std::move(value) : std::move(fallback);
}

Settings read_settings(const Environment& environment) {
    constexpr std::uint16_t last_port = 65'535;
    constexpr std::size_t most_connections = 10'000;
    return Settings{
        .port = number<std::uint16_t>(environment, "PORT", 8080, 1, last_port),
        .database_url = database_url(environment),
        .log_level = choice(environment, "LOG_LEVEL", "warn", log_levels),
        .db_pool_max = number<std::size_t>(environment, "DB_POOL_MAX", 20, 1, most_connections),
        .db_persistent = choice(environment, "DB_PERSISTENT", "1", switches),
        .db_prepare = choice(environment, "DB_PREPARE", "1", switches),
        .db_reset = choice(environment, "DB_RESET", "0", switches),
        .db_time_zone = choice(environment, "DB_TIME_ZONE", "connection", time_zones),
        .access_log = choice(environment, "ACCESS_LOG", "0", switches),
    };
}

}  // namespace tandem
