// How often the pool was asked for a connection, and how long that was waited for.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "models.hpp"

namespace tandem::pg {

/// Safe to use from several threads.
class Counts {
public:
    /// A wait in vain counts as well.
    void add(std::chrono::nanoseconds waited) {
        wait_ns_ += static_cast<std::uint64_t>(waited.count());
        ++checkouts_;
    }

    [[nodiscard]] PoolUse read() const {
        constexpr std::uint64_t ns_per_us = 1000;
        return {.checkouts = checkouts_, .wait_us = wait_ns_ / ns_per_us};
    }

private:
    std::atomic<std::uint64_t> checkouts_ = 0;
    std::atomic<std::uint64_t> wait_ns_ = 0;
};

}  // namespace tandem::pg
