#include "pg/pool.hpp"

#include <format>
#include <utility>

#include "log.hpp"

namespace tandem::pg {
namespace {

constexpr std::chrono::milliseconds acquire_limit{1500};

}  // namespace

Pool::Pool(PoolSettings settings) : settings_(std::move(settings)), free_(settings_.max) {
    idle_.reserve(settings_.max);
}

Pool::Lease Pool::acquire() {
    const Counts::Checkout checkout(counts_);
    const auto deadline = Clock::now() + acquire_limit;
    wait_for_turn(deadline);
    Lease lease(*this);
    // A connection that ended while nobody used it is seen here, without asking the server.
    while ((lease.connection_ = take_idle()) && !lease.connection_->quiet()) {
        log(LogLevel::info, "an idle connection has ended");
    }
    if (!lease.connection_) {
        lease.connection_ =
            std::make_unique<Connection>(settings_.url, settings_.prepare, deadline);
    }
    return lease;
}

void Pool::wait_for_turn(Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (free_ > 0) {
        --free_;
        return;
    }
    Waiter waiter;
    const auto place = waiters_.insert(waiters_.end(), &waiter);
    if (!waiter.ready.wait_until(lock, deadline, [&waiter] { return waiter.served; })) {
        waiters_.erase(place);
        throw Error("no connection was free in time");
    }
}

std::unique_ptr<Connection> Pool::take_idle() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) {
        return nullptr;
    }
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    return connection;
}

/// Keeps the connection or closes it, then passes the turn on. `connection` is null if connecting
/// failed.
void Pool::release(std::unique_ptr<Connection> connection) noexcept {
    if (connection && !may_keep(*connection)) {
        connection.reset();
    }
    const std::lock_guard lock(mutex_);
    if (connection) {
        idle_.push_back(std::move(connection));
    }
    if (waiters_.empty()) {
        ++free_;
        return;
    }
    auto* next = waiters_.front();
    waiters_.pop_front();
    next->served = true;
    // Under the lock: the waiter is gone as soon as it can see that it was served.
    next->ready.notify_one();
}

bool Pool::may_keep(Connection& connection) const noexcept {
    if (!settings_.persistent || !connection.reusable()) {
        return false;
    }
    if (settings_.reset) {
        try {
            connection.reset();
        } catch (const Error& error) {
            log(LogLevel::warn, std::format("DISCARD ALL: {}", error.what()));
            return false;
        }
    }
    return true;
}

}  // namespace tandem::pg
