#include "pg/pool.hpp"

#include <array>
#include <atomic>
#include <barrier>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <catch2/catch_test_macros.hpp>
#include <exception>
#include <latch>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "database.hpp"

using namespace tandem;
using namespace std::chrono_literals;

namespace {

constexpr int threads = 2;

/// Two threads and the pool between them.
struct Fixture {
    explicit Fixture(const std::map<std::string, std::string>& variables)
        : config(configured(variables)), pool(config, others.get_executor()) {}

    ~Fixture() { others.stop(); }

    /// Runs one task on each thread. Their failures are counted: assertions are for one thread.
    template <typename Make>
    int failures(Make make) {
        std::atomic<int> failed = 0;
        std::latch ended(threads);
        std::vector<std::jthread> running;
        for (auto& context : loops) {
            running.emplace_back([&] {
                asio::co_spawn(context, make(context), [&](std::exception_ptr thrown) {
                    failed += thrown ? 1 : 0;
                    ended.count_down();
                });
                context.restart();
                const auto work = asio::make_work_guard(context);
                context.run();
            });
        }
        // As in a server, a thread that has nothing to do still resets and opens connections.
        ended.wait();
        std::this_thread::sleep_for(300ms);
        for (auto& context : loops) {
            context.stop();
        }
        running.clear();
        return failed;
    }

    Config config;
    std::array<asio::io_context, threads> loops;
    // The loop that the pool was made with is blocked by nobody.
    asio::io_context others;
    asio::executor_work_guard<Executor> work = asio::make_work_guard(others);
    std::jthread thread{[this] { others.run(); }};
    pg::Pool pool;
};

/// Several at once, as a worker has requests.
template <typename One>
Task<void> at_once(asio::io_context& context, int tasks, One one) {
    int running = tasks;
    std::exception_ptr failure;
    Timer ended(context, Clock::time_point::max());
    for (int task = 0; task < tasks; ++task) {
        asio::co_spawn(context, one(), [&](const std::exception_ptr& thrown) {
            failure = thrown ? thrown : failure;
            if (--running == 0) {
                ended.cancel();
            }
        });
    }
    co_await ended.async_wait(as_tuple);
    if (failure) {
        std::rethrow_exception(failure);
    }
}

/// Closed loops of requests.
Task<void> load(pg::Pool& pool, asio::io_context& context, int tasks, int requests) {
    co_await at_once(context, tasks, [&]() -> Task<void> {
        for (int request = 0; request < requests; ++request) {
            const auto connection = co_await pool.acquire();
            co_await connection->command("select 1");
        }
    });
}

}  // namespace

TEST_CASE("a connection that comes back while another thread looks for one is not missed") {
    constexpr int rounds = 12'000;
    Fixture fixture({{"DB_POOL_MAX", "1"}});
    std::barrier together(threads);
    const auto take = [&](asio::io_context& context) -> Task<void> {
        // Nobody comes later whose connection would hide that a wake-up was lost.
        for (int round = 0; round < rounds; ++round) {
            together.arrive_and_wait();
            // A little later each time, so that the one looks when the other gives back.
            const auto start =
                Clock::now() + (&context == &fixture.loops[0] ? 0 : 1) * (round % 200) * 100ns;
            while (Clock::now() < start) {
            }
            const auto connection = co_await fixture.pool.acquire();
        }
    };
    CHECK(fixture.failures([&](asio::io_context& context) -> Task<void> {
        try {
            co_await take(context);
        } catch (...) {
            together.arrive_and_drop();
            throw;
        }
        together.arrive_and_drop();
    }) == 0);
    CHECK(fixture.pool.use().checkouts == threads * rounds);
}

TEST_CASE("two threads share a pool of one") {
    constexpr int tasks = 3;
    constexpr int requests = 60;
    const std::vector<std::map<std::string, std::string>> settings{
        {{"DB_POOL_MAX", "1"}},
        {{"DB_POOL_MAX", "3"}},
        {{"DB_POOL_MAX", "1"}, {"DB_RESET", "1"}},
        {{"DB_POOL_MAX", "1"}, {"DB_PERSISTENT", "0"}},
    };
    for (const auto& variables : settings) {
        CAPTURE(variables);
        Fixture fixture(variables);
        const int each = variables.contains("DB_PERSISTENT") ? 3 : requests;
        CHECK(fixture.failures([&](asio::io_context& context) -> Task<void> {
            co_await load(fixture.pool, context, tasks, each);
        }) == 0);
        CHECK(fixture.pool.use().checkouts == static_cast<std::uint64_t>(threads * tasks * each));
    }
}

TEST_CASE("why there is no connection is told to all who wait") {
    constexpr int tasks = 8;
    constexpr int requests = 50;
    Fixture fixture({{"DB_POOL_MAX", "1"},
                     {"DATABASE_URL", "postgresql://app@127.0.0.1:1/tandem?sslmode=disable"}});
    std::atomic<int> told = 0;
    CHECK(fixture.failures([&](asio::io_context& context) -> Task<void> {
        co_await at_once(context, tasks, [&]() -> Task<void> {
            for (int request = 0; request < requests; ++request) {
                try {
                    const auto connection = co_await fixture.pool.acquire();
                } catch (const pg::Error& error) {
                    told += std::string_view(error.what()).contains("refused") ? 1 : 0;
                }
            }
        });
    }) == 0);
    CHECK(told == threads * tasks * requests);
}

TEST_CASE("connections that the server closed are replaced") {
    Fixture fixture({{"DB_POOL_MAX", "2"}});
    const auto one_load = [&](asio::io_context& context) -> Task<void> {
        co_await load(fixture.pool, context, 2, 5);
    };
    CHECK(fixture.failures(one_load) == 0);
    execute(
        "do $$ begin perform pg_terminate_backend(pid, 5000) from pg_stat_activity"
        " where pid <> pg_backend_pid() and backend_type = 'client backend'; end $$");
    CHECK(fixture.failures(one_load) == 0);
}
