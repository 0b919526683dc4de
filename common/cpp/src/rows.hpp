// From rows to models.
#pragma once

#include <concepts>
#include <cstdint>
#include <ranges>
#include <string>
#include <vector>

#include <boost/describe/members.hpp>
#include <boost/mp11/algorithm.hpp>

#include "models.hpp"
#include "pg/result.hpp"

namespace tandem::rows {

/// Reads a value, or the members of a described struct, from the columns that begin at `column`:
/// the select lists in contract/sql/queries have them in the order of their declaration. What is
/// no column, such as `kind` and lists of other rows, stays as it is.
template <typename T>
void read(pg::Row row, int& column, T& value) {
    if constexpr (std::same_as<T, std::int32_t>) {
        value = row.int4(column++);
    } else if constexpr (std::same_as<T, std::string>) {
        value = row.text(column++);
    } else if constexpr (std::same_as<T, std::vector<std::string>>) {
        value = row.text_array(column++);
    } else if constexpr (requires { value.emplace(); }) {
        row.is_null(column) ? void(++column) : read(row, column, value.emplace());
    } else if constexpr (boost::describe::has_describe_members<T>::value) {
        using Members = boost::describe::describe_members<T, boost::describe::mod_public>;
        boost::mp11::mp_for_each<Members>(
            [&](auto member) { read(row, column, value.*member.pointer); });
    }
}

/// Throws pg::Error if a value is not what the schema says.
template <typename T>
T model(pg::Row row) {
    T value;
    int column = 0;
    read(row, column, value);
    return value;
}

template <typename T>
std::vector<T> models(const pg::Result& result) {
    return result.rows() | std::views::transform(model<T>) | std::ranges::to<std::vector>();
}

/// The results of the statements of one recipe.
struct RecipeResults {
    pg::Result recipe;
    pg::Result ingredients;
    pg::Result steps;
    pg::Result sections;
    pg::Result notes;
    pg::Result reactions;
    pg::Result events;
};

Recipe recipe(const RecipeResults& results);

}  // namespace tandem::rows
