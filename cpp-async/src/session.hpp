// One HTTP connection.
#pragma once

#include "app.hpp"
#include "async.hpp"

namespace tandem {

/// Answers requests, one after the other, until either side has had enough.
Task<void> serve_connection(App& app, Stream stream);

}  // namespace tandem
