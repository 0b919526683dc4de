// The paths, and the handlers behind them.
#pragma once

#include <string_view>

#include "app.hpp"
#include "async.hpp"
#include "responses.hpp"

namespace tandem {

/// The answer of the handler behind the request's path, or to what it throws.
Task<Response> answer(App& app, const Request& request);

// recipes.cpp
Task<Response> random_recipe(App& app, const Request& request, std::string_view id);
Task<Response> recipe(App& app, const Request& request, std::string_view id);
Task<Response> write_note(App& app, const Request& request, std::string_view id);
Task<Response> dashboard(App& app, const Request& request, std::string_view id);
Task<Response> pool_use(App& app, const Request& request, std::string_view id);

// work.cpp
Task<Response> work(App& app, const Request& request, std::string_view id);

// users.cpp
Task<Response> create_user(App& app, const Request& request, std::string_view id);
Task<Response> read_user(App& app, const Request& request, std::string_view id);
Task<Response> replace_user(App& app, const Request& request, std::string_view id);
Task<Response> delete_user(App& app, const Request& request, std::string_view id);
Task<Response> list_users(App& app, const Request& request, std::string_view id);

}  // namespace tandem
