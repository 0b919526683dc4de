#include "rows.hpp"

#include <libpq-fe.h>

#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <string>
#include <vector>

using namespace tandem;
using namespace std::literals;

namespace {

/// What the server would have sent: one value per column, nothing for null.
using Values = std::vector<std::optional<std::string>>;

pg::Result result(const std::vector<Values>& rows) {
    auto* const made = PQmakeEmptyPGresult(nullptr, PGRES_TUPLES_OK);
    std::vector<PGresAttDesc> columns(rows.at(0).size());
    for (auto& column : columns) {
        column = {};
        column.name = const_cast<char*>("column");
        column.format = 1;
    }
    REQUIRE(PQsetResultAttrs(made, static_cast<int>(columns.size()), columns.data()) == 1);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        for (std::size_t column = 0; column < columns.size(); ++column) {
            auto value = rows[row][column];
            REQUIRE(PQsetvalue(made, static_cast<int>(row), static_cast<int>(column),
                               value ? value->data() : nullptr,
                               value ? static_cast<int>(value->size()) : -1) == 1);
        }
    }
    return pg::Result(made);
}

std::string int4(char value) {
    return "\0\0\0"s + value;
}

const auto moment = "\0\0\0\0\0\0\0\0"s;

}  // namespace

TEST_CASE("reactions go to their notes, and to none that was not read") {
    const auto note = [](char id) {
        return Values{int4(id), "text",       moment,  moment,       int4(1),
                      "a@b.c",  std::nullopt, int4(2), "editor@b.c", "Editor"};
    };
    const auto reaction = [](char id, char note_id) {
        return Values{int4(id), int4(note_id), "+1", int4(9), moment};
    };
    const auto notes = rows::notes(result({note(1), note(2)}),
                                   result({reaction(5, 2), reaction(6, 3), reaction(7, 2)}));
    REQUIRE(notes.size() == 2);
    CHECK(notes[0].reactions.empty());
    REQUIRE(notes[1].reactions.size() == 2);
    CHECK(notes[1].reactions[0].id == 5);
    CHECK(notes[1].reactions[1].id == 7);
    CHECK_FALSE(notes[0].created_by.name);
    CHECK(notes[0].last_modified_by->name == "Editor");
}

TEST_CASE("a recipe belongs to a user or to a team") {
    const auto recipe = [](char content_type) {
        return result(
            {{int4(1), "name", std::nullopt, std::nullopt, "time", "servings", int4(2), moment,
              moment, std::nullopt, std::string(12, '\0'), int4(7), int4(content_type)}});
    };
    const auto of_user = recipe(1);
    const auto of_team = recipe(20);
    const auto of_nobody = recipe(3);
    CHECK(rows::recipe(of_user[0]).owner.kind == "user");
    CHECK(rows::recipe(of_team[0]).owner.kind == "team");
    CHECK(rows::recipe(of_team[0]).owner.id == 7);
    CHECK_THROWS_AS(rows::recipe(of_nobody[0]), pg::Error);
}

TEST_CASE("a value that is null where it must not be is an error") {
    const auto steps = result({{int4(1), std::nullopt, "text"}});
    CHECK_THROWS_AS(rows::step(steps[0]), pg::Error);
}
