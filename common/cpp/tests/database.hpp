// The PostgreSQL server that the tests run beside. pg_virtualenv tells libpq where it is.
#pragma once

#include <libpq-fe.h>

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "config.hpp"
#include "pg/result.hpp"

inline constexpr auto test_database = "postgresql://";

/// The configuration with these variables.
inline tandem::Config configured(std::map<std::string, std::string> variables) {
    variables.try_emplace("DATABASE_URL", test_database);
    return tandem::read_config([&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
}

/// What it throws: an outage, or else a bug.
template <typename Function>
bool is_outage(Function function) {
    try {
        function();
    } catch (const tandem::pg::Unavailable&) {
        return true;
    } catch (const tandem::pg::Error&) {
        return false;
    }
    FAIL("nothing was thrown");
    return false;
}

/// Runs SQL on a connection of its own.
inline void execute(const char* sql) {
    const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(test_database),
                                                                  &PQfinish);
    PQsetNoticeProcessor(connection.get(), [](void*, const char*) {}, nullptr);
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection.get(), sql),
                                                               &PQclear);
    INFO(PQerrorMessage(connection.get()));
    REQUIRE(PQresultStatus(result.get()) == PGRES_COMMAND_OK);
}

/// The tables of the statements that the tests use.
inline void create_tables() {
    execute(
        "drop table if exists core_step;"
        "create table core_step (id integer, recipe_id integer, position text, text text,"
        "                        deleted_at timestamptz);"
        "insert into core_step values (1, 1, 'a', 'b', null)");
}
