// One HTTP connection.
#pragma once

#include "app.hpp"
#include "async.hpp"
#include "routes.hpp"

namespace tandem {

/// Answers requests, one after the other, until either side has had enough.
Task<void> serve_connection(App& app, const Router<Handler>& router, Stream stream);

}  // namespace tandem
