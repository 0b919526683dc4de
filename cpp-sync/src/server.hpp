// The listening socket, the threads that serve connections, and the orderly end.
#pragma once

#include "config.hpp"

namespace tandem {

/// Serves until SIGTERM or SIGINT. Throws std::system_error if it cannot listen.
void serve(const Config& config);

}  // namespace tandem
