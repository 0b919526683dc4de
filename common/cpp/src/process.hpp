// The process around a server.
#pragma once

#include <functional>

namespace tandem {

/// Raises the limit of open files, serves, and makes of what that throws a line and a status.
int run_process(const std::function<void()>& serve);

}  // namespace tandem
