#include "requests.hpp"

#include <algorithm>
#include <charconv>
#include <ranges>

#include <boost/beast/http/field.hpp>

#include "models.hpp"

namespace tandem {

std::int32_t parse_recipe_id(std::string_view text) {
    std::int32_t id = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, id);
    if (error != std::errc{} || stop != end || id < 1) {
        throw Refusal(http::status::bad_request);
    }
    return id;
}

std::string_view session_key(const Request& request) {
    constexpr std::string_view name = "sessionid=";
    const auto printable = [](char c) { return ' ' < c && c <= '~'; };
    const std::string_view cookies = request[http::field::cookie];
    for (const auto part : std::views::split(cookies, ';')) {
        std::string_view pair(part);
        pair.remove_prefix(std::min(pair.find_first_not_of(' '), pair.size()));
        if (pair.starts_with(name) && pair.size() > name.size() &&
            std::ranges::all_of(pair, printable)) {
            return pair.substr(name.size());
        }
    }
    throw Refusal(http::status::unauthorized);
}

std::string parse_note(std::string_view body) {
    constexpr auto longest = 10'000;
    auto [text] = parse_json<NewNote>(body);
    // Of UTF-8: every byte that does not continue a character begins one.
    const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) >> 6) != 0b10; };
    const auto characters = std::ranges::count_if(text, begins);
    if (characters < 1 || characters > longest || text.contains('\0')) {
        throw Refusal(http::status::bad_request);
    }
    return std::move(text);
}

}  // namespace tandem
