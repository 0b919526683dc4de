#include "pg/pool.hpp"

#include <boost/scope/scope_exit.hpp>

#include "log.hpp"
#include "pg/limits.hpp"

namespace tandem::pg {

Pool::Pool(const Settings& settings) : settings_(settings), places_(settings.db_pool_max) {}

Pool::Lease Pool::acquire() {
    const auto began = Clock::now();
    const auto deadline = began + acquire_limit;
    const boost::scope::scope_exit counted([&] { counts_.add(Clock::now() - began); });
    auto connection = take(deadline);
    try {
        // A connection that ended while nobody used it is seen here, without asking the server.
        if (!connection || connection->stale()) {
            connection.reset();
            connection =
                std::make_unique<Connection>(settings_.database, settings_.db_prepare, deadline);
        }
    } catch (...) {
        give_back(nullptr);
        throw;
    }
    return Lease(connection.release(), {this});
}

std::unique_ptr<Connection> Pool::take(Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (places_.empty()) {
        Waiter waiter;
        const auto place = waiters_.insert(waiters_.end(), &waiter);
        if (!waiter.ready.wait_until(lock, deadline, [&waiter] { return waiter.served; })) {
            waiters_.erase(place);
            throw Unavailable("no connection in time");
        }
        return std::move(waiter.connection);
    }
    auto connection = std::move(places_.back());
    places_.pop_back();
    return connection;
}

/// Keeps the connection or closes it, and passes the place on.
void Pool::give_back(std::unique_ptr<Connection> connection) noexcept {
    if (connection && !may_keep(*connection)) {
        connection.reset();
    }
    const std::lock_guard lock(mutex_);
    if (waiters_.empty()) {
        places_.push_back(std::move(connection));
        return;
    }
    auto* const next = waiters_.front();
    waiters_.pop_front();
    next->connection = std::move(connection);
    next->served = true;
    // Under the lock: the waiter is gone as soon as it can see that it was served.
    next->ready.notify_one();
}

bool Pool::may_keep(Connection& connection) const {
    if (!settings_.db_persistent || !connection.usable() || connection.age() >= longest_life) {
        return false;
    }
    if (settings_.db_reset) {
        try {
            connection.command("discard all");
        } catch (const Error& error) {
            log(LogLevel::warn, error.what());
        }
    }
    return connection.usable();
}

void Pool::close() {
    const std::lock_guard lock(mutex_);
    for (auto& connection : places_) {
        connection.reset();
    }
}

}  // namespace tandem::pg
