// The settings of this server: those of both, and that of its model.
#pragma once

#include <cstddef>

#include "settings.hpp"

namespace tandem {

struct Config : Settings {
    std::size_t threads;  // connections that are served at once; each has a thread
};

/// Throws ConfigError on the first value that makes no sense.
Config read_config(const Environment& environment);

}  // namespace tandem
