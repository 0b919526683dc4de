#include "pg/pool.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "database.hpp"

using namespace tandem;

namespace {

constexpr int threads = 3;

/// The requests of each thread that failed. Assertions are for one thread.
int failures(pg::Pool& pool, int requests) {
    std::atomic<int> failed = 0;
    {
        std::vector<std::jthread> running;
        for (int thread = 0; thread < threads; ++thread) {
            running.emplace_back([&] {
                for (int request = 0; request < requests; ++request) {
                    try {
                        const auto connection = pool.acquire();
                        connection->command("select 1");
                    } catch (const std::exception& error) {
                        ++failed;
                        std::fprintf(stderr, "%s\n", error.what());
                    }
                }
            });
        }
    }
    return failed;
}

}  // namespace

TEST_CASE("threads share a pool of one") {
    constexpr int requests = 120;
    const std::vector<std::map<std::string, std::string>> settings{
        {{"DB_POOL_MAX", "1"}},
        {{"DB_POOL_MAX", "3"}},
        {{"DB_POOL_MAX", "1"}, {"DB_RESET", "1"}},
        {{"DB_POOL_MAX", "1"}, {"DB_PERSISTENT", "0"}},
    };
    for (const auto& variables : settings) {
        const auto config = configured(variables);
        pg::Pool pool(config);
        const int each = variables.contains("DB_PERSISTENT") ? 4 : requests;
        CHECK(failures(pool, each) == 0);
        CHECK(pool.use().checkouts == static_cast<std::uint64_t>(threads * each));
    }
}

TEST_CASE("connections that the server closed are replaced") {
    const auto config = configured({{"DB_POOL_MAX", "2"}});
    pg::Pool pool(config);
    CHECK(failures(pool, 5) == 0);
    execute(
        "do $$ begin perform pg_terminate_backend(pid, 5000) from pg_stat_activity"
        " where pid <> pg_backend_pid() and backend_type = 'client backend'; end $$");
    CHECK(failures(pool, 5) == 0);
}
