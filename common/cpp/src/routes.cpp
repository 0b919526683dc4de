#include "routes.hpp"

#include <array>
#include <utility>

#include "requests.hpp"

namespace tandem {
namespace {

using boost::beast::http::verb;

constexpr std::string_view recipes_path = "/api/v1/recipes";

/// A path that has no id in it.
struct Fixed {
    std::string_view path;
    Endpoint endpoint;
};

constexpr std::array fixed_paths{
    Fixed{"/", Endpoint::index},
    Fixed{"/healthz", Endpoint::healthz},
    Fixed{recipes_path, Endpoint::random_recipe},
    Fixed{"/api/v1/dashboard", Endpoint::dashboard},
    Fixed{"/work", Endpoint::work},
    Fixed{"/user/", Endpoint::create_user},
    Fixed{"/user", Endpoint::create_user},
    Fixed{"/users/", Endpoint::list_users},
    Fixed{"/users", Endpoint::list_users},
    Fixed{"/index.html", Endpoint::index},
    Fixed{"/index.htm", Endpoint::index},
    Fixed{"/pool", Endpoint::pool},
};

bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) {
        return false;
    }
    text.remove_prefix(prefix.size());
    return true;
}

void take_suffix(std::string_view& text, std::string_view suffix) {
    if (text.ends_with(suffix)) {
        text.remove_suffix(suffix.size());
    }
}

/// The value of `Allow`.
std::string_view allowed(Endpoint endpoint) {
    switch (endpoint) {
        case Endpoint::create_user:
        case Endpoint::work:
        case Endpoint::write_note:
            return "POST";
        case Endpoint::user:
            return "GET, HEAD, PUT, DELETE";
        default:
            return "GET, HEAD";
    }
}

bool is_allowed(Endpoint endpoint, verb method) {
    switch (endpoint) {
        case Endpoint::create_user:
        case Endpoint::work:
        case Endpoint::write_note:
            return method == verb::post;
        case Endpoint::user:
            // POST is known here only to be refused with 400.
            return method == verb::get || method == verb::put || method == verb::delete_ ||
                   method == verb::post;
        default:
            return method == verb::get;
    }
}

/// The path and the query of a request target, which a client may send with scheme and host.
std::pair<std::string_view, std::string_view> split_target(std::string_view target) {
    if (take_prefix(target, "http://")) {
        const auto slash = target.find('/');
        target = slash == std::string_view::npos ? "/" : target.substr(slash);
    }
    const auto mark = target.find('?');
    const auto query = mark == std::string_view::npos ? "" : target.substr(mark + 1);
    return {target.substr(0, mark), query};
}

}  // namespace

std::optional<Match> match_path(std::string_view path) {
    for (const auto& fixed : fixed_paths) {
        if (path == fixed.path) {
            return Match{fixed.endpoint, {}};
        }
    }
    if (take_prefix(path, "/user/")) {
        take_suffix(path, "/");
        return is_digits(path) ? std::optional(Match{Endpoint::user, path}) : std::nullopt;
    }
    if (take_prefix(path, recipes_path) && take_prefix(path, "/")) {
        const auto slash = path.find('/');
        const auto id = path.substr(0, slash);
        const auto rest = slash == std::string_view::npos ? "" : path.substr(slash);
        if (!id.empty() && rest.empty()) {
            return Match{Endpoint::recipe, id};
        }
        if (!id.empty() && rest == "/notes") {
            return Match{Endpoint::write_note, id};
        }
    }
    return std::nullopt;
}

Expected<Call> route(const boost::beast::http::request_header<>& head, bool tells_pool) {
    const auto [path, query] = split_target(head.target());
    const auto match = match_path(path);
    if (!match || (match->endpoint == Endpoint::pool && !tells_pool)) {
        return refuse(Reason::not_found);
    }
    const auto method = head.method() == verb::head ? verb::get : head.method();
    if (!is_allowed(match->endpoint, method)) {
        return refuse(Reason::method_not_allowed, allowed(match->endpoint));
    }

    Call call{.endpoint = match->endpoint, .method = method};
    switch (match->endpoint) {
        case Endpoint::user:
            if (method == verb::post) {
                return refuse(Reason::bad_request);
            }
            call.user_id = parse_user_id(match->id);
            break;
        case Endpoint::work:
            if (const auto delay = parse_delay(query)) {
                call.delay = *delay;
            } else {
                return std::unexpected(delay.error());
            }
            break;
        case Endpoint::recipe:
        case Endpoint::write_note:
            if (const auto id = parse_recipe_id(match->id)) {
                call.recipe_id = *id;
            } else {
                return refuse(Reason::bad_request);
            }
            [[fallthrough]];
        case Endpoint::random_recipe:
        case Endpoint::dashboard:
            if (auto key = session_key(head)) {
                call.session_key = *std::move(key);
            } else {
                return refuse(Reason::unauthorized);
            }
            break;
        default:
            break;
    }
    return call;
}

}  // namespace tandem
