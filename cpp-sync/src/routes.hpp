// The paths, and the handlers behind them.
#pragma once

#include <string_view>

#include "app.hpp"
#include "responses.hpp"

namespace tandem {

/// The answer of the handler behind the request's path, or to what it throws.
Response answer(App& app, const Request& request);

// recipes.cpp
Response random_recipe(App& app, const Request& request, std::string_view id);
Response recipe(App& app, const Request& request, std::string_view id);
Response write_note(App& app, const Request& request, std::string_view id);
Response dashboard(App& app, const Request& request, std::string_view id);
Response pool_use(App& app, const Request& request, std::string_view id);

// work.cpp
Response work(App& app, const Request& request, std::string_view id);

// users.cpp
Response create_user(App& app, const Request& request, std::string_view id);
Response read_user(App& app, const Request& request, std::string_view id);
Response replace_user(App& app, const Request& request, std::string_view id);
Response delete_user(App& app, const Request& request, std::string_view id);
Response list_users(App& app, const Request& request, std::string_view id);

}  // namespace tandem
