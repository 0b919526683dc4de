// Which handler a request goes to.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include <boost/beast/http/verb.hpp>

#include "errors.hpp"

namespace tandem {

/// Handlers by method and path. `{id}` in a path stands for one segment, whatever it is.
template <typename Handler>
class Router {
public:
    struct Route {
        http::verb method;
        std::string_view path;
        Handler handler;
    };

    Router(std::initializer_list<Route> routes) : routes_(routes) {}

    void add(Route route) { routes_.push_back(route); }

    /// The handler, and what stands for `{id}`. Throws Refusal.
    [[nodiscard]] std::pair<Handler, std::string_view> find(http::verb method,
                                                            std::string_view target) const {
        const auto path = target.substr(0, target.find('?'));
        auto refusal = http::status::not_found;
        for (const auto& route : routes_) {
            if (const auto id = id_in(path, route.path)) {
                if (route.method == method) {
                    return {route.handler, *id};
                }
                refusal = http::status::method_not_allowed;
            }
        }
        throw Refusal(refusal);
    }

private:
    /// "" where the pattern has no `{id}`; nothing if the path is another.
    static std::optional<std::string_view> id_in(std::string_view path, std::string_view pattern) {
        constexpr std::string_view mark = "{id}";
        const auto at = pattern.find(mark);
        if (at == std::string_view::npos) {
            return path == pattern ? std::optional(std::string_view()) : std::nullopt;
        }
        const auto rest = pattern.substr(at + mark.size());
        if (!path.starts_with(pattern.substr(0, at)) || !path.substr(at).ends_with(rest)) {
            return std::nullopt;
        }
        const auto id = path.substr(at, path.size() - at - rest.size());
        return id.empty() || id.contains('/') ? std::nullopt : std::optional(id);
    }

    std::vector<Route> routes_;
};

}  // namespace tandem
