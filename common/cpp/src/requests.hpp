// What a client sends, checked: ids, the query, the session cookie and JSON bodies.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/beast/http/fields.hpp>

#include "errors.hpp"

namespace tandem {

/// 413 beyond this.
inline constexpr std::size_t body_limit = 1'048'576;

/// Decimal digits without a sign or leading zero, from 1 to 2147483647.
std::optional<std::int32_t> parse_recipe_id(std::string_view text);

/// True for one or more decimal digits.
bool is_digits(std::string_view text);

/// Digits; nothing if the number is too large for any user.
std::optional<std::uint64_t> parse_user_id(std::string_view digits);

/// `delay_ms` of the query, 0 without one: digits up to 10000, given once, else bad_request.
Expected<std::chrono::milliseconds> parse_delay(std::string_view query);

/// The value of the cookie `sessionid`. The last of several wins, as in Django and Starlette.
/// Nothing if it is missing, empty or not printable ASCII, which no session key can be.
std::optional<std::string> session_key(const boost::beast::http::fields& headers);

/// A JSON array of 32-bit integers: bad_request if the body is not JSON, unprocessable_content if
/// it is other JSON.
Expected<std::vector<std::int32_t>> parse_numbers(std::string_view body);

/// The text of `{"text":"..."}`, 1 to 10,000 characters without U+0000. Refused like the numbers.
Expected<std::string> parse_note(std::string_view body);

}  // namespace tandem
