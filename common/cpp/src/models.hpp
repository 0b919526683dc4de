// The canonical bodies: plain structs whose members are written in the order of their declaration.
// Times are texts, in UTC with whole seconds: 2024-06-01T12:00:00Z.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/describe/class.hpp>

namespace tandem {

/// What the pool has counted since the process started.
struct PoolUse {
    std::uint64_t checkouts;
    std::uint64_t wait_us;
};
BOOST_DESCRIBE_STRUCT(PoolUse, (), (checkouts, wait_us))

struct Owner {
    std::string_view kind;  // "user" or "team"
    std::int32_t id;
};
BOOST_DESCRIBE_STRUCT(Owner, (), (kind, id))

struct Ingredient {
    std::string_view kind = "ingredient";
    std::int32_t id;
    std::string position;
    std::string quantity;
    std::string name;
    std::string description;
};
BOOST_DESCRIBE_STRUCT(Ingredient, (), (kind, id, position, quantity, name, description))

struct Section {
    std::string_view kind = "section";
    std::int32_t id;
    std::string position;
    std::string title;
};
BOOST_DESCRIBE_STRUCT(Section, (), (kind, id, position, title))

struct Step {
    std::int32_t id;
    std::string position;
    std::string text;
};
BOOST_DESCRIBE_STRUCT(Step, (), (id, position, text))

struct Person {
    std::int32_t id;
    std::string email;
    std::optional<std::string> name;
};
BOOST_DESCRIBE_STRUCT(Person, (), (id, email, name))

struct Reaction {
    std::int32_t id;
    std::string emoji;
    std::int32_t created_by_id;
    std::string created;
};
BOOST_DESCRIBE_STRUCT(Reaction, (), (id, emoji, created_by_id, created))

struct Note {
    std::string_view kind = "note";
    std::int32_t id;
    std::string text;
    std::string created;
    std::string modified;
    Person created_by;
    std::optional<Person> last_modified_by;
    std::vector<Reaction> reactions;
};
BOOST_DESCRIBE_STRUCT(Note, (),
                      (kind, id, text, created, modified, created_by, last_modified_by, reactions))

struct Event {
    std::string_view kind = "event";
    std::int32_t id;
    std::string action;
    std::optional<std::int32_t> created_by_id;
    std::string created;
};
BOOST_DESCRIBE_STRUCT(Event, (), (kind, id, action, created_by_id, created))

struct Recipe {
    std::int32_t id;
    std::string name;
    std::optional<std::string> author;
    std::optional<std::string> source;
    std::string time;
    std::string servings;
    std::int32_t edits;
    std::string created;
    std::string modified;
    std::optional<std::string> archived_at;
    std::vector<std::string> tags;
    Owner owner;
    std::vector<std::variant<Ingredient, Section>> ingredients;  // then the sections
    std::vector<Step> steps;
    std::vector<std::variant<Note, Event>> timeline;  // notes, oldest first; events, newest first
};
BOOST_DESCRIBE_STRUCT(Recipe, (),
                      (id, name, author, source, time, servings, edits, created, modified,
                       archived_at, tags, owner, ingredients, steps, timeline))

/// What a client sends.
struct NewNote {
    std::string text;
};
BOOST_DESCRIBE_STRUCT(NewNote, (), (text))

struct DashboardRecipe {
    std::int32_t id;
    std::string name;
    std::string modified;
};
BOOST_DESCRIBE_STRUCT(DashboardRecipe, (), (id, name, modified))

struct DashboardTeam {
    std::int32_t id;
    std::string name;
    std::int32_t members;
};
BOOST_DESCRIBE_STRUCT(DashboardTeam, (), (id, name, members))

struct DashboardNote {
    std::int32_t id;
    std::int32_t recipe_id;
    std::string text;
    std::string created;
};
BOOST_DESCRIBE_STRUCT(DashboardNote, (), (id, recipe_id, text, created))

struct DashboardEvent {
    std::int32_t id;
    std::int32_t recipe_id;
    std::string action;
    std::string created;
};
BOOST_DESCRIBE_STRUCT(DashboardEvent, (), (id, recipe_id, action, created))

struct Dashboard {
    std::int32_t user_id;
    std::vector<DashboardRecipe> recipes;
    std::vector<DashboardTeam> teams;
    std::vector<DashboardNote> notes;
    std::vector<DashboardEvent> events;
};
BOOST_DESCRIBE_STRUCT(Dashboard, (), (user_id, recipes, teams, notes, events))

}  // namespace tandem
