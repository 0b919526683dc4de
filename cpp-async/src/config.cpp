#include "config.hpp"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

namespace tandem {
namespace {

constexpr std::array<std::pair<const char*, Offload>, 3> offloads{{
    {"none", Offload::none},
    {"sum", Offload::sum},
    {"parse+sum", Offload::parse_and_sum},
}};

/// Those that this container may use.
std::size_t cpus() {
    return std::max(std::thread::hardware_concurrency(), 1U);
}

}  // namespace

Config read_config(const Environment& environment) {
    constexpr std::size_t most_workers = 1024;
    constexpr std::size_t most_threads = 10'000;
    return {
        read_settings(environment),
        number<std::size_t>(environment, "WORKERS", cpus(), 1, most_workers),
        number<std::size_t>(environment, "THREADS", 32, 1, most_threads),
        choice(environment, "OFFLOAD", "none", offloads),
    };
}

}  // namespace tandem
