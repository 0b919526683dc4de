// Paths and methods. Everything that can be refused before the body is read is refused here.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/verb.hpp>

#include "errors.hpp"

namespace tandem {

enum class Endpoint {
    healthz,
    index,
    create_user,
    user,
    list_users,
    work,
    random_recipe,
    recipe,
    write_note,
    dashboard,
    pool,
};

/// A request whose head has been checked; only what its endpoint needs is set.
struct Call {
    Endpoint endpoint;
    boost::beast::http::verb method;  // HEAD is served as GET
    std::int32_t recipe_id = 0;
    std::optional<std::uint64_t> user_id = {};  // nothing if it is too large for any user
    std::chrono::milliseconds delay{0};
    std::string session_key = {};
};

/// Which endpoint a path is, and the text of the id in it, if any.
struct Match {
    Endpoint endpoint;
    std::string_view id;
};

std::optional<Match> match_path(std::string_view path);

/// Checks path, method, id, query and session cookie in this order. `tells_pool`: whether there is
/// a pool that counts, and with it its path.
Expected<Call> route(const boost::beast::http::request_header<>& head, bool tells_pool);

}  // namespace tandem
