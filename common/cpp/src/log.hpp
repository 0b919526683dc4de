// Lines on standard error, by level. The access log goes to standard output and has a switch of its
// own.
#pragma once

#include <string_view>

namespace tandem {

enum class LogLevel : unsigned { debug, info, warn, error };

/// Before there are other threads; without it warnings and errors are logged.
void set_log_level(LogLevel least);

/// One line in one write, so lines of several threads do not mix.
void log(LogLevel level, std::string_view message);

}  // namespace tandem
