// The requests that are being answered.
#pragma once

#include <atomic>
#include <chrono>

namespace tandem {

/// How long they may take after the signal to stop; by contract one may take 10 s.
inline constexpr std::chrono::seconds drain_limit{11};
/// How often it is looked whether they have ended.
inline constexpr std::chrono::milliseconds drain_pause{100};

/// One of them, for as long as this lives.
class Underway {
public:
    explicit Underway(std::atomic<int>& requests) : requests_(requests) { ++requests_; }
    ~Underway() { --requests_; }
    Underway(const Underway&) = delete;
    Underway& operator=(const Underway&) = delete;

private:
    std::atomic<int>& requests_;
};

}  // namespace tandem
