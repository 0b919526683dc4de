// What a client sends, checked: ids, the session's cookie and JSON bodies. All throw Refusal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/parse_into.hpp>

#include "errors.hpp"
#include "responses.hpp"

namespace tandem {

/// Decimal digits, from 1 to 2147483647.
std::int32_t parse_recipe_id(std::string_view text);

/// The value of the cookie `sessionid`.
std::string_view session_key(const Request& request);

/// The text of `{"text":"..."}`, 1 to 10,000 characters without U+0000.
std::string parse_note(std::string_view body);

template <typename T>
T parse_json(std::string_view body) {
    T value;
    boost::system::error_code error;
    boost::json::parse_into(value, body, error);
    return error ? throw Refusal(http::status::bad_request) : value;
}

}  // namespace tandem
