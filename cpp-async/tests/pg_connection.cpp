#include "pg/connection.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>

#include "database.hpp"
#include "peer.hpp"
#include "run.hpp"
#include "standard_error.hpp"

using namespace tandem;
using namespace std::chrono_literals;

namespace {

/// A connection with what it needs.
struct Fixture {
    explicit Fixture(const std::string& url = test_database, bool prepare = true) {
        run_on(context, open(*pg::parse_url(url), prepare));
    }
    Task<void> open(pg::Options options, bool prepare) {
        connection = co_await pg::Connection::open(options, prepare, Clock::now() + 2s);
    }
    Task<void> keep(Task<pg::Result> task) { result = co_await std::move(task); }

    pg::Result& command(const char* sql) {
        run_on(context, keep(connection->command(sql)));
        return result;
    }
    pg::Result& run(const Query& query, pg::Parameters parameters) {
        run_on(context, keep(connection->run(query, parameters)));
        return result;
    }

    asio::io_context context{1};
    std::unique_ptr<pg::Connection> connection;
    pg::Result result;
};

}  // namespace

TEST_CASE("a statement is sent as it is prepared, or with its text") {
    create_tables();
    for (const bool prepare : {true, false}) {
        Fixture fixture(test_database, prepare);
        CHECK(fixture.run(queries::steps, {1}).size() == 1);
        CHECK(fixture.run(queries::steps, {2}).empty());
    }
}

TEST_CASE("a plan that the server gave up ends the connection") {
    create_tables();
    Fixture fixture;
    fixture.run(queries::steps, {1});
    execute("alter table core_step alter column position type varchar");
    CHECK(is_outage([&] { fixture.run(queries::steps, {1}); }));
    CHECK_FALSE(fixture.connection->usable());
}

TEST_CASE("a mistake in a statement is no outage, and the connection stays") {
    Fixture fixture;
    CHECK_FALSE(is_outage([&] { fixture.command("select nothing"); }));
    CHECK(fixture.connection->usable());
    CHECK(is_outage([&] { fixture.command("select pg_terminate_backend(pg_backend_pid())"); }));
    CHECK_FALSE(fixture.connection->usable());
}

TEST_CASE("notices do not reach standard error by themselves") {
    Fixture fixture;
    StandardError standard_error;
    fixture.command("do $$ begin raise notice 'you should know'; end $$");
    CHECK(standard_error.text().empty());
}

TEST_CASE("what the server sends is read while a statement is still being sent") {
    const TalkativePeer peer;
    Fixture fixture(peer.url());
    const auto statement = TalkativePeer::statement();
    CHECK(fixture.command(statement.c_str()).command() == "SELECT 0");
    fixture.connection.reset();
}

TEST_CASE("a connection that the server ended leaves alone who has the number of its socket") {
    Fixture fixture;
    CHECK_THROWS_AS(fixture.command("select pg_terminate_backend(pg_backend_pid())"), pg::Error);

    // The lowest free numbers: one of them was libpq's.
    std::array<int, 2> pair{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) == 0);
    auto& context = fixture.context;
    using Descriptor = asio::posix::basic_stream_descriptor<Executor>;
    Descriptor one(context.get_executor(), pair[0]);
    Descriptor other(context.get_executor(), pair[1]);
    int woken = 0;
    for (auto* end : {&one, &other}) {
        end->async_wait(Descriptor::wait_read,
                        [&](const error_code& failure) { woken += !failure; });
    }
    fixture.connection.reset();
    for (const int end : pair) {
        REQUIRE(write(end, "x", 1) == 1);
    }
    context.restart();
    context.run_for(2s);
    CHECK(woken == 2);
}

TEST_CASE("a statement has two seconds, however often the server says something") {
    Fixture fixture;
    const auto began = Clock::now();
    CHECK_THROWS_AS(fixture.command("do $$ begin"
                                    " for i in 1..1000 loop"
                                    "  raise notice '.'; perform pg_sleep(0.005);"
                                    " end loop; end $$"),
                    pg::Error);
    CHECK(Clock::now() - began < 4s);
    CHECK_FALSE(fixture.connection->usable());
}
