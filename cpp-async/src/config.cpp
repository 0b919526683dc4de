#include "config.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <format>
#include <memory>
#include <thread>
#include <utility>

#include <libpq-fe.h>

namespace tandem {
namespace {

constexpr auto default_database_url = "postgresql://app:app@pgbouncer:6432/tandem?sslmode=disable";

constexpr std::array log_levels{
    std::pair{"debug", LogLevel::debug},
    std::pair{"info", LogLevel::info},
    std::pair{"warn", LogLevel::warn},
    std::pair{"error", LogLevel::error},
};

constexpr std::array offloads{
    std::pair{"none", Offload::none},
    std::pair{"sum", Offload::sum},
    std::pair{"parse+sum", Offload::parse_and_sum},
};

/// Compose passes variables that nobody set as empty strings: they mean the default.
std::string value_of(const Environment& environment, const char* name, std::string fallback) {
    auto value = environment(name);
    return value && !value->empty() ? *std::move(value) : std::move(fallback);
}

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

bool flag(const Environment& environment, const char* name, const char* fallback) {
    const auto text = value_of(environment, name, fallback);
    if (text != "0" && text != "1") {
        throw ConfigError(std::format("{} must be 0 or 1", name));
    }
    return text == "1";
}

LogLevel log_level(const Environment& environment) {
    const auto text = value_of(environment, "LOG_LEVEL", "warn");
    for (const auto& [name, level] : log_levels) {
        if (text == name) {
            return level;
        }
    }
    throw ConfigError("LOG_LEVEL must be debug, info, warn or error");
}

Offload offload(const Environment& environment) {
    const auto text = value_of(environment, "OFFLOAD", "none");
    for (const auto& [name, value] : offloads) {
        if (text == name) {
            return value;
        }
    }
    throw ConfigError("OFFLOAD must be none, sum or parse+sum");
}

/// Those that this container may use.
std::size_t cpus() {
    return std::max(std::thread::hardware_concurrency(), 1U);
}

TimeZone time_zone(const Environment& environment) {
    const auto text = value_of(environment, "DB_TIME_ZONE", "connection");
    if (text != "connection" && text != "request") {
        throw ConfigError("DB_TIME_ZONE must be connection or request");
    }
    return text == "request" ? TimeZone::request : TimeZone::connection;
}

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

Config read_config(const Environment& environment) {
    constexpr std::uint16_t last_port = 65'535;
    constexpr std::size_t most_workers = 1024;
    constexpr std::size_t most_threads = 10'000;
    constexpr std::size_t most_connections = 10'000;
    return Config{
        .port = number<std::uint16_t>(environment, "PORT", 8080, 1, last_port),
        .database_url = database_url(environment),
        .log_level = log_level(environment),
        .workers = number<std::size_t>(environment, "WORKERS", cpus(), 1, most_workers),
        .threads = number<std::size_t>(environment, "THREADS", 32, 1, most_threads),
        .offload = offload(environment),
        .db_pool_max = number<std::size_t>(environment, "DB_POOL_MAX", 20, 1, most_connections),
        .db_persistent = flag(environment, "DB_PERSISTENT", "1"),
        .db_prepare = flag(environment, "DB_PREPARE", "1"),
        .db_reset = flag(environment, "DB_RESET", "0"),
        .db_time_zone = time_zone(environment),
        .access_log = flag(environment, "ACCESS_LOG", "0"),
    };
}

}  // namespace tandem
