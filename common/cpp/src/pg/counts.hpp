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
    /// One checkout, for as long as it lives. A wait in vain counts as well.
    class Checkout {
    public:
        explicit Checkout(Counts& counts) : counts_(counts) {}
        ~Checkout() {
            const auto waited = std::chrono::steady_clock::now() - began_;
            counts_.wait_ns_.fetch_add(static_cast<std::uint64_t>(waited.count()),
                                       std::memory_order_relaxed);
            counts_.checkouts_.fetch_add(1, std::memory_order_relaxed);
        }
        Checkout(const Checkout&) = delete;
        Checkout& operator=(const Checkout&) = delete;

    private:
        Counts& counts_;
        std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    };

    [[nodiscard]] PoolUse read() const {
        constexpr std::uint64_t ns_per_us = 1000;
        return {.checkouts = checkouts_.load(std::memory_order_relaxed),
                .wait_us = wait_ns_.load(std::memory_order_relaxed) / ns_per_us};
    }

private:
    std::atomic<std::uint64_t> checkouts_ = 0;
    std::atomic<std::uint64_t> wait_ns_ = 0;
};

}  // namespace tandem::pg
