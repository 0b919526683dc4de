// The process around a server.
#pragma once

#include <chrono>
#include <functional>

namespace tandem {

/// How long requests may take after the signal to stop; by contract one may take 10 s.
inline constexpr std::chrono::seconds drain_limit{11};
/// How often it is looked whether they have ended.
inline constexpr std::chrono::milliseconds drain_pause{100};

/// Prepares the process, serves, and makes of what that throws a line and a status.
int run_process(const std::function<void()>& serve);

}  // namespace tandem
