// The process around a server.
#pragma once

#include <functional>

namespace tandem {

/// Prepares the process, serves, and makes of what that throws a line and a status.
int run_process(const std::function<void()>& serve);

}  // namespace tandem
