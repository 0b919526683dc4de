// The threads, the listening socket and the orderly end.
#pragma once

#include "config.hpp"

namespace tandem {

/// Serves until SIGTERM or SIGINT, then answers the requests that are under way.
void serve(const Config& config);

}  // namespace tandem
