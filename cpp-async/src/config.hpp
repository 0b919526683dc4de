// The settings of this server: those of both, and those of its model.
#pragma once

#include <cstddef>

#include "settings.hpp"

namespace tandem {

/// Which CPU work of `work` leaves the event loop.
enum class Offload { none, sum, parse_and_sum };

struct Config : Settings {
    std::size_t workers;  // threads with an event loop each
    std::size_t threads;  // of the pool that OFFLOAD uses
    Offload offload;
};

/// Throws ConfigError on the first value that makes no sense.
Config read_config(const Environment& environment);

}  // namespace tandem
