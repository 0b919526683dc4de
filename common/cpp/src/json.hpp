// Canonical JSON, written from described structs into one string. Boost.JSON 1.83 would first build
// a tree of them; writing structs directly came to it later.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/describe/members.hpp>
#include <boost/mp11/algorithm.hpp>

#include "models.hpp"

namespace tandem::json {

/// In quotes; escapes only what JSON must have escaped.
void write_string(std::string& out, std::string_view text);

/// RFC 3339 in UTC, in quotes.
void write_time(std::string& out, Time time);

template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <typename T>
inline constexpr bool is_vector = false;
template <typename T>
inline constexpr bool is_vector<std::vector<T>> = true;

template <typename T>
inline constexpr bool is_variant = false;
template <typename... Ts>
inline constexpr bool is_variant<std::variant<Ts...>> = true;

/// Appends the value to `out`: null for an empty optional, described structs as objects.
template <typename T>
void write(std::string& out, const T& value) {
    if constexpr (std::integral<T>) {
        char digits[std::numeric_limits<T>::digits10 + 2];
        out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    } else if constexpr (std::convertible_to<T, std::string_view>) {
        write_string(out, value);
    } else if constexpr (std::same_as<T, Time>) {
        write_time(out, value);
    } else if constexpr (is_optional<T>) {
        value ? write(out, *value) : void(out.append("null"));
    } else if constexpr (is_variant<T>) {
        std::visit([&out](const auto& alternative) { write(out, alternative); }, value);
    } else if constexpr (is_vector<T>) {
        out.push_back('[');
        for (std::size_t index = 0; index < value.size(); ++index) {
            if (index > 0) {
                out.push_back(',');
            }
            write(out, value[index]);
        }
        out.push_back(']');
    } else {
        using Members = boost::describe::describe_members<T, boost::describe::mod_public>;
        char separator = '{';
        boost::mp11::mp_for_each<Members>([&](auto member) {
            out.push_back(separator);
            separator = ',';
            out.push_back('"');
            out.append(member.name);  // an identifier: nothing to escape
            out.append("\":");
            write(out, value.*member.pointer);
        });
        out.push_back('}');
    }
}

template <typename T>
std::string to_string(const T& value) {
    constexpr std::size_t most_recipes = 8192;
    std::string out;
    out.reserve(most_recipes);
    write(out, value);
    return out;
}

}  // namespace tandem::json
