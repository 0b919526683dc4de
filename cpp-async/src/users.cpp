// The scenario `users`: a table in the memory of this process. Bodies are read and ignored.

#include <charconv>
#include <optional>

#include "routes.hpp"

namespace tandem {
namespace {

/// Nothing for what is no number of a user.
std::optional<std::uint64_t> parse_id(std::string_view text) {
    std::uint64_t id = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, id);
    return error == std::errc{} && stop == end ? std::optional(id) : std::nullopt;
}

}  // namespace

Task<Response> create_user(App& app, const Request& /*request*/, std::string_view /*id*/) {
    co_return text_response(std::to_string(app.users.create()));
}

Task<Response> read_user(App& app, const Request& /*request*/, std::string_view id) {
    const auto user = parse_id(id);
    co_return user&& app.users.contains(*user) ? text_response("{}")
                                               : error_response(http::status::not_found);
}

Task<Response> replace_user(App& app, const Request& /*request*/, std::string_view id) {
    const auto user = parse_id(id);
    co_return user&& app.users.contains(*user) ? text_response("")
                                               : error_response(http::status::not_found);
}

Task<Response> delete_user(App& app, const Request& /*request*/, std::string_view id) {
    const auto user = parse_id(id);
    co_return user&& app.users.remove(*user) ? text_response("")
                                             : error_response(http::status::not_found);
}

Task<Response> list_users(App& app, const Request& /*request*/, std::string_view /*id*/) {
    co_return text_response(app.users.list());
}

}  // namespace tandem
