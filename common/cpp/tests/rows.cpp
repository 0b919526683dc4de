#include "rows.hpp"

#include <libpq-fe.h>

#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

using namespace tandem;
using namespace std::literals;

namespace {

/// What the server would have sent: one value per column, nothing for null.
using Values = std::vector<std::optional<std::string>>;

const auto moment = "\0\0\0\0\0\0\0\0"s;

pg::Result result(const std::vector<Values>& rows) {
    auto* const made = PQmakeEmptyPGresult(nullptr, PGRES_TUPLES_OK);
    std::vector<PGresAttDesc> columns(rows.at(0).size());
    for (std::size_t column = 0; column < columns.size(); ++column) {
        constexpr Oid text = 25;
        constexpr Oid timestamptz = 1184;
        columns[column] = {};
        columns[column].name = const_cast<char*>("column");
        columns[column].format = 1;
        columns[column].typid = rows[0][column] == moment ? timestamptz : text;
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

}  // namespace

/// The results of a recipe's statements: the recipe alone, of a user.
rows::RecipeResults recipe_of(char content_type = 1) {
    rows::RecipeResults results;
    results.recipe =
        result({{int4(1), "name", std::nullopt, std::nullopt, "time", "servings", int4(2), moment,
                 moment, std::nullopt, std::string(12, '\0'), int4(7), int4(content_type)}});
    return results;
}

TEST_CASE("reactions go to their notes, and to none that was not read") {
    const auto note = [](char id) {
        return Values{int4(id), "text",       moment,  moment,       int4(1),
                      "a@b.c",  std::nullopt, int4(2), "editor@b.c", "Editor"};
    };
    const auto reaction = [](char id, char note_id) {
        return Values{int4(id), int4(note_id), "+1", int4(9), moment};
    };
    auto results = recipe_of();
    results.notes = result({note(1), note(2)});
    results.reactions = result({reaction(5, 2), reaction(6, 3), reaction(7, 2)});
    const auto recipe = rows::recipe(results);
    REQUIRE(recipe.timeline.size() == 2);
    const auto& first = std::get<Note>(recipe.timeline[0]);
    const auto& second = std::get<Note>(recipe.timeline[1]);
    CHECK(first.reactions.empty());
    REQUIRE(second.reactions.size() == 2);
    CHECK(second.reactions[0].id == 5);
    CHECK(second.reactions[1].id == 7);
    CHECK_FALSE(first.created_by.name);
    CHECK(first.last_modified_by->name == "Editor");
}

TEST_CASE("a recipe belongs to a user or to a team") {
    CHECK(rows::recipe(recipe_of(1)).owner.kind == "user");
    CHECK(rows::recipe(recipe_of(20)).owner.kind == "team");
    CHECK(rows::recipe(recipe_of(20)).owner.id == 7);
    CHECK_THROWS_AS(rows::recipe(recipe_of(3)), pg::Error);
}

TEST_CASE("a value that is null where it must not be is an error") {
    auto results = recipe_of();
    results.steps = result({{int4(1), std::nullopt, "text"}});
    CHECK_THROWS_AS(rows::recipe(results), pg::Error);
}
