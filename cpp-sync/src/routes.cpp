#include "routes.hpp"

#include <boost/json/object.hpp>
#include <contract_text.hpp>
#include <exception>

#include "router.hpp"

namespace tandem {
namespace {

using http::verb;

/// `id` is what stands for `{id}` in the path.
using Handler = Response (*)(App& app, const Request& request, std::string_view id);

Response index(App& /*app*/, const Request& /*request*/, std::string_view /*id*/) {
    return html_response(contract_text::index);
}

Response healthz(App& /*app*/, const Request& /*request*/, std::string_view /*id*/) {
    return json_response(boost::json::object{{"status", "ok"}});
}

/// `tells_pool`: whether there is a pool that counts, and with it its path.
Router<Handler> routes(bool tells_pool) {
    Router<Handler> router{{
        {verb::get, "/healthz", healthz},  // alive; never touches the database
        {verb::get, "/api/v1/recipes", random_recipe},
        {verb::get, "/api/v1/recipes/{id}", recipe},
        {verb::post, "/api/v1/recipes/{id}/notes", write_note},
        {verb::get, "/api/v1/dashboard", dashboard},
        {verb::post, "/work", work},
        {verb::get, "/", index},
        {verb::get, "/index.html", index},
        {verb::get, "/index.htm", index},
        {verb::post, "/user/", create_user},
        {verb::get, "/user/{id}", read_user},
        {verb::put, "/user/{id}", replace_user},
        {verb::delete_, "/user/{id}", delete_user},
        {verb::get, "/users/", list_users},
    }};
    if (tells_pool) {
        router.routes.push_back({verb::get, "/pool", pool_use});
    }
    return router;
}

}  // namespace

Response answer(App& app, const Request& request) {
    static const auto router = routes(app.config.db_persistent);
    try {
        const auto [handler, id] = router.find(request.method(), request.target());
        return handler(app, request, id);
    } catch (const std::exception& error) {
        return failure_response(error);
    }
}

}  // namespace tandem
