#include "config.hpp"

#include <algorithm>
#include <thread>

namespace tandem {

Config read_config(const Environment& environment) {
    constexpr std::size_t most_workers = 1024;
    constexpr std::size_t most_threads = 10'000;
    // Those that this container may use.
    const auto cpus = std::max(std::thread::hardware_concurrency(), 1U);
    return {
        read_settings(environment),
        number(environment, "WORKERS", cpus, most_workers),
        number(environment, "THREADS", 32, most_threads),
        static_cast<Offload>(choice(environment, "OFFLOAD", "none", {"none", "sum", "parse+sum"})),
    };
}

}  // namespace tandem
