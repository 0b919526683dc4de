// Which handler a request goes to.
#pragma once

#include <algorithm>
#include <ranges>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/beast/http/verb.hpp>

#include "errors.hpp"

namespace tandem {

/// Handlers by method and path. `{id}` in a path stands for one segment, whatever it is.
template <typename Handler>
struct Router {
    struct Route {
        http::verb method;
        std::string_view path;
        Handler handler;
    };

    /// The handler, and what stands for `{id}`. Throws Refusal.
    [[nodiscard]] std::pair<Handler, std::string_view> find(http::verb method,
                                                            std::string_view target) const {
        constexpr auto segments = std::views::split('/');
        const auto path = target.substr(0, target.find('?'));
        auto refusal = http::status::not_found;
        for (const auto& route : routes) {
            std::string_view id;
            const auto fits = [&id](auto wanted, auto segment) {
                if (std::string_view(wanted) != "{id}") {
                    return std::ranges::equal(wanted, segment);
                }
                id = std::string_view(segment);
                return !id.empty();
            };
            if (std::ranges::equal(route.path | segments, path | segments, fits)) {
                if (route.method == method) {
                    return {route.handler, id};
                }
                refusal = http::status::method_not_allowed;
            }
        }
        throw Refusal(refusal);
    }

    std::vector<Route> routes;
};

}  // namespace tandem
