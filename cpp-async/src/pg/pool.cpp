#include "pg/pool.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <ranges>
#include <tuple>

#include "log.hpp"
#include "pg/limits.hpp"

namespace tandem::pg {
namespace {

/// The timer of a waiter is touched by its own thread only, and not before it waits.
template <typename Waiter>
void wake(std::shared_ptr<Waiter> waiter) {
    const auto executor = waiter->timer.get_executor();
    asio::post(executor, [waiter = std::move(waiter)] { waiter->timer.cancel(); });
}

}  // namespace

Lease::Lease(Pool& pool, std::unique_ptr<Connection> connection)
    : pool_(&pool), connection_(std::move(connection)) {}

// Only a lack of memory can throw here, and that may end the process.
Lease::~Lease() {  // NOLINT(bugprone-exception-escape)
    if (connection_) {
        pool_->release(std::move(connection_));
    }
}

Pool::Pool(const Config& config)
    : max_(config.db_pool_max),
      persistent_(config.db_persistent),
      prepare_(config.db_prepare),
      reset_(config.db_reset && config.db_persistent),
      target_(config.database_url) {}

Task<Lease> Pool::acquire(Worker& worker) {
    const Counts::Checkout checkout(counts_);
    const auto waiter = std::make_shared<Waiter>(worker);
    waiter->timer.expires_after(acquire_limit);
    while (auto connection = take_idle_or_wait(worker, waiter)) {
        if (!connection->stale()) {
            connection->attach(worker);
            co_return Lease(*this, std::move(connection));
        }
        discard(std::move(connection));
    }
    open_for_waiters(worker);
    // Woken or expired: what counts is what the waiter has got by then.
    co_await waiter->timer.async_wait(as_tuple);
    {
        const std::scoped_lock lock(mutex_);
        std::erase(waiters_, waiter);
    }
    if (!waiter->error.empty()) {
        throw Error(waiter->error);
    }
    if (!waiter->connection) {
        throw Error("no connection in time");
    }
    waiter->connection->attach(worker);
    co_return Lease(*this, std::move(waiter->connection));
}

/// One that this thread used last, if there is one: another thread's has to change its event loop.
/// Where there is none the waiter stands in the queue, under the same lock: one that comes back in
/// between would not be given to it.
std::unique_ptr<Connection> Pool::take_idle_or_wait(const Worker& worker,
                                                    const std::shared_ptr<Waiter>& waiter) {
    const std::scoped_lock lock(mutex_);
    if (idle_.empty()) {
        waiters_.push_back(waiter);
        return nullptr;
    }
    const auto own = std::ranges::find_if(
        idle_.rbegin(), idle_.rend(),
        [&worker](const auto& connection) { return &connection->worker() == &worker; });
    const auto found = own == idle_.rend() ? std::prev(idle_.end()) : std::prev(own.base());
    auto connection = std::move(*found);
    idle_.erase(found);
    return connection;
}

/// Opens as many as there are waiters, if there may be as many.
void Pool::open_for_waiters(Worker& worker) {
    std::size_t count = 0;
    {
        const std::scoped_lock lock(mutex_);
        if (waiters_.size() > opening_) {
            count = std::min(waiters_.size() - opening_, max_ - open_);
        }
        open_ += count;
        opening_ += count;
    }
    for (; count > 0; --count) {
        // On its own, because a name lookup can outlast what a request may wait.
        asio::co_spawn(worker.context, open(worker), asio::detached);
    }
}

Task<void> Pool::open(Worker& worker) {
    std::unique_ptr<Connection> connection;
    std::string error;  // an exception belongs to its thread
    try {
        connection = co_await Connection::open(worker, target_, prepare_);
        connection->detach();
    } catch (const std::exception& failure) {
        log(LogLevel::debug, failure.what());
        error = failure.what();
    }
    std::shared_ptr<Waiter> waiter;
    {
        const std::scoped_lock lock(mutex_);
        --opening_;
        if (connection) {
            waiter = hand_over(std::move(connection));
        } else {
            --open_;
            waiter = next_waiter();
            if (waiter) {
                waiter->error = std::move(error);
            }
        }
    }
    if (waiter) {
        wake(std::move(waiter));
    }
    open_for_waiters(worker);
}

void Pool::release(std::unique_ptr<Connection> connection) {
    const bool keep = persistent_ && connection->usable() && connection->age() < longest_life;
    if (keep && reset_) {
        // Nobody has to wait for it but the next user. The connection is still watched.
        auto& context = connection->worker().context;
        asio::co_spawn(context, reset(std::move(connection)), asio::detached);
        return;
    }
    connection->detach();
    keep ? give(std::move(connection)) : discard(std::move(connection));
}

Task<void> Pool::reset(std::unique_ptr<Connection> connection) {
    try {
        co_await connection->reset();
    } catch (const Error& error) {
        log(LogLevel::warn, error.what());
    }
    connection->detach();
    connection->usable() ? give(std::move(connection)) : discard(std::move(connection));
}

void Pool::give(std::unique_ptr<Connection> connection) {
    std::shared_ptr<Waiter> waiter;
    {
        const std::scoped_lock lock(mutex_);
        waiter = hand_over(std::move(connection));
    }
    if (waiter) {
        wake(std::move(waiter));
    }
}

/// To who has waited longest, if anybody waits. Needs the lock, and the waiter to be woken.
std::shared_ptr<Pool::Waiter> Pool::hand_over(std::unique_ptr<Connection> connection) {
    auto waiter = next_waiter();
    if (waiter) {
        waiter->connection = std::move(connection);
    } else {
        idle_.push_back(std::move(connection));
    }
    return waiter;
}

/// Closes it, and opens another if it is waited for.
void Pool::discard(std::unique_ptr<Connection> connection) {
    auto& worker = connection->worker();
    connection.reset();
    {
        const std::scoped_lock lock(mutex_);
        --open_;
    }
    open_for_waiters(worker);
}

/// Needs the lock.
std::shared_ptr<Pool::Waiter> Pool::next_waiter() {
    if (waiters_.empty()) {
        return nullptr;
    }
    auto waiter = std::move(waiters_.front());
    waiters_.pop_front();
    return waiter;
}

void Pool::close() {
    const std::scoped_lock lock(mutex_);
    idle_.clear();
}

}  // namespace tandem::pg
