#include "config.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <map>
#include <string>

using namespace tandem;
using Catch::Matchers::Message;

namespace {

Config read(const std::map<std::string, std::string>& variables) {
    return read_config([&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
}

}  // namespace

TEST_CASE("without variables the defaults hold, and so they do for empty ones") {
    for (const auto& config : {read({}), read({{"PORT", ""}, {"THREADS", ""}})}) {
        CHECK(config.port == 8080);
        CHECK(config.threads == 4096);
        CHECK(config.db_pool_max == 20);
        CHECK((config.db_persistent && config.db_prepare && !config.db_reset));
        CHECK_FALSE(config.db_time_zone_per_request);
    }
}

TEST_CASE("the time zone may be left to each request") {
    CHECK(read({{"DB_TIME_ZONE", "request"}}).db_time_zone_per_request);
}

TEST_CASE("a bad value is one line that names the variable") {
    const std::map<std::string, std::string> lines{
        {"PORT=0", "PORT must be a number from 1 to 65535"},
        {"PORT=65536", "PORT must be a number from 1 to 65535"},
        {"PORT=80 ", "PORT must be a number from 1 to 65535"},
        {"THREADS=many", "THREADS must be a number from 1 to 100000"},
        {"DB_POOL_MAX=-1", "DB_POOL_MAX must be a number from 1 to 10000"},
        {"DB_RESET=yes", "DB_RESET must be one of 0, 1"},
        {"DB_TIME_ZONE=UTC", "DB_TIME_ZONE must be one of connection, request"},
        {"LOG_LEVEL=loud", "LOG_LEVEL must be one of debug, info, warn, error"},
        {"DATABASE_URL=nonsense", "DATABASE_URL must be a postgresql:// URL"},
        {"DATABASE_URL=postgresql://x:secret@y/z?no=1", "DATABASE_URL must be a postgresql:// URL"},
    };
    for (const auto& [setting, line] : lines) {
        const auto equals = setting.find('=');
        CHECK_THROWS_MATCHES(read({{setting.substr(0, equals), setting.substr(equals + 1)}}),
                             ConfigError, Message(line));
    }
}
