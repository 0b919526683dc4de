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

namespace {

/// A connection with what it needs.
struct Fixture {
    explicit Fixture(const std::string& url = test_database, bool prepare = true) : target(url) {
        run_on(worker, open(prepare));
    }
    Task<void> open(bool prepare) {
        connection = co_await pg::Connection::open(worker, target, prepare);
    }
    Task<void> keep(Task<pg::Result> task) { result = co_await std::move(task); }

    pg::Result& command(const char* sql) {
        run_on(worker, keep(connection->command(sql)));
        return result;
    }
    pg::Result& run(Query query, pg::Parameters parameters) {
        run_on(worker, keep(connection->run(query, parameters)));
        return result;
    }

    Worker worker{0};
    pg::Target target;
    std::unique_ptr<pg::Connection> connection;
    pg::Result result;
};

}  // namespace

TEST_CASE("a statement is sent as it is prepared, or with its text") {
    create_tables();
    for (const bool prepare : {true, false}) {
        Fixture fixture(test_database, prepare);
        CHECK(fixture.run(Query::steps, 1).size() == 1);
        CHECK(fixture.run(Query::steps, 2).empty());
    }
}

TEST_CASE("a plan or a statement that the server gave up is prepared again") {
    create_tables();
    Fixture fixture;
    CHECK(fixture.run(Query::steps, 1).size() == 1);
    execute("alter table core_step alter column position type varchar");
    CHECK(fixture.run(Query::steps, 1).size() == 1);
    fixture.command("deallocate all");
    CHECK(fixture.run(Query::steps, 1).size() == 1);
    CHECK(fixture.connection->usable());
}

TEST_CASE("in a transaction nothing is repeated") {
    create_tables();
    Fixture fixture;
    fixture.run(Query::steps, 1);
    execute("alter table core_step alter column position type varchar");
    fixture.command("begin");
    CHECK_THROWS_AS(fixture.run(Query::steps, 1), pg::Error);
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
    auto& context = fixture.worker.context;
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
    context.run_for(std::chrono::seconds(2));
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
    CHECK(Clock::now() - began < std::chrono::seconds(4));
    CHECK_FALSE(fixture.connection->usable());
}
