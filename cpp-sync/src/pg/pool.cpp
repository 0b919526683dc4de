#include "pg/pool.hpp"

#include <utility>

#include "log.hpp"
#include "pg/limits.hpp"

namespace tandem::pg {

Pool::Pool(const Config& config)
    : options_(options_of(config.database_url)),
      persistent_(config.db_persistent),
      prepare_(config.db_prepare),
      reset_(config.db_reset && config.db_persistent),
      free_(config.db_pool_max) {
    idle_.reserve(config.db_pool_max);
}

Pool::Lease Pool::acquire() {
    const Counts::Checkout checkout(counts_);
    const auto deadline = Clock::now() + acquire_limit;
    wait_for_turn(deadline);
    Lease lease(*this);
    // A connection that ended while nobody used it is seen here, without asking the server.
    while ((lease.connection_ = take_idle()) && lease.connection_->stale()) {
    }
    if (!lease.connection_) {
        lease.connection_ = std::make_unique<Connection>(options_, prepare_, deadline);
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
        throw Error("no connection in time");
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
    if (!persistent_ || !connection.usable() || connection.age() >= longest_life) {
        return false;
    }
    if (reset_) {
        try {
            connection.reset();
        } catch (const Error& error) {
            log(LogLevel::warn, error.what());
        }
    }
    return connection.usable();
}

}  // namespace tandem::pg
