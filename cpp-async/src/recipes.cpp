// The API: recipes, notes and the dashboard.

#include <boost/json/object.hpp>

#include "requests.hpp"
#include "routes.hpp"

namespace tandem {

Task<Response> random_recipe(App& app, const Request& request, std::string_view /*id*/) {
    co_return json_response(co_await app.repository.random_recipe(session_key(request)));
}

Task<Response> recipe(App& app, const Request& request, std::string_view id) {
    const auto recipe_id = parse_recipe_id(id);
    co_return json_response(co_await app.repository.recipe(session_key(request), recipe_id));
}

Task<Response> write_note(App& app, const Request& request, std::string_view id) {
    const auto recipe_id = parse_recipe_id(id);
    const auto key = session_key(request);
    const auto text = parse_note(request.body());
    const auto note_id = co_await app.repository.write_note(key, recipe_id, text);
    co_return json_response(boost::json::object{{"id", note_id}}, http::status::created);
}

Task<Response> dashboard(App& app, const Request& request, std::string_view /*id*/) {
    co_return json_response(co_await app.repository.dashboard(session_key(request)));
}

Task<Response> pool_use(App& app, const Request& /*request*/, std::string_view /*id*/) {
    co_return json_response(app.pool.use());
}

}  // namespace tandem
