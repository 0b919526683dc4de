#include "config.hpp"

namespace tandem {

Config read_config(const Environment& environment) {
    constexpr std::size_t most_threads = 100'000;
    return {read_settings(environment), number(environment, "THREADS", 4096, most_threads)};
}

}  // namespace tandem
