#include "pg/connection.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "database.hpp"
#include "peer.hpp"
#include "standard_error.hpp"

using namespace tandem;

namespace {

pg::Connection connect(const std::string& url = test_database, bool prepare = true) {
    return {*pg::parse_url(url), prepare, pg::Clock::now() + std::chrono::seconds(2)};
}

}  // namespace

TEST_CASE("a statement is sent as it is prepared, or with its text") {
    create_tables();
    for (const bool prepare : {true, false}) {
        auto connection = connect(test_database, prepare);
        CHECK(connection.run(queries::steps, {1}).size() == 1);
        CHECK(connection.run(queries::steps, {2}).empty());
    }
}

TEST_CASE("a plan that the server gave up ends the connection") {
    create_tables();
    auto connection = connect();
    connection.run(queries::steps, {1});
    execute("alter table core_step alter column position type varchar");
    CHECK(is_outage([&] { connection.run(queries::steps, {1}); }));
    CHECK_FALSE(connection.usable());
}

TEST_CASE("a mistake in a statement is no outage, and the connection stays") {
    auto connection = connect();
    CHECK_FALSE(is_outage([&] { connection.command("select nothing"); }));
    CHECK(connection.usable());
    CHECK(is_outage([&] { connection.command("select pg_terminate_backend(pg_backend_pid())"); }));
    CHECK_FALSE(connection.usable());
}

TEST_CASE("notices do not reach standard error by themselves") {
    auto connection = connect();
    StandardError standard_error;
    connection.command("do $$ begin raise notice 'you should know'; end $$");
    CHECK(standard_error.text().empty());
}

TEST_CASE("what the server sends is read while a statement is still being sent") {
    const TalkativePeer peer;
    auto connection = connect(peer.url());
    const auto statement = TalkativePeer::statement();
    CHECK(connection.command(statement.c_str()).command() == "SELECT 0");
}

TEST_CASE("a statement has two seconds, however often the server says something") {
    auto connection = connect();
    const auto began = pg::Clock::now();
    CHECK_THROWS_AS(connection.command("do $$ begin"
                                       " for i in 1..1000 loop"
                                       "  raise notice '.'; perform pg_sleep(0.005);"
                                       " end loop; end $$"),
                    pg::Error);
    CHECK(pg::Clock::now() - began < std::chrono::seconds(4));
    CHECK_FALSE(connection.usable());
}
