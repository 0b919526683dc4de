// The connections of the whole process, lent to whichever thread needs one.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "async.hpp"
#include "config.hpp"
#include "pg/connection.hpp"
#include "pg/counts.hpp"
#include "pg/target.hpp"
#include "worker.hpp"

namespace tandem::pg {

class Pool;

/// A connection that goes back to the pool by itself.
class Lease {
public:
    Lease(Pool& pool, std::unique_ptr<Connection> connection);
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    Connection* operator->() const { return connection_.get(); }
    Connection& operator*() const { return *connection_; }

private:
    Pool* pool_;
    std::unique_ptr<Connection> connection_;
};

/// At most DB_POOL_MAX connections, opened on demand. Who waits is served in the order of coming.
class Pool {
public:
    explicit Pool(const Config& config);

    /// Throws Error after 1.5 s, or as soon as a connection cannot be opened.
    Task<Lease> acquire(Worker& worker);

    [[nodiscard]] PoolUse use() const { return counts_.read(); }

    /// Takes leave of the server, with the connections that are idle.
    void close();

private:
    friend class Lease;

    /// Somebody who waits. The timer belongs to the waiter's thread.
    struct Waiter {
        explicit Waiter(Worker& worker) : timer(worker.context) {}

        Timer timer;
        std::unique_ptr<Connection> connection;
        std::string error;
    };

    std::unique_ptr<Connection> take_idle_or_wait(const Worker& worker,
                                                  const std::shared_ptr<Waiter>& waiter);
    void open_for_waiters(Worker& worker);
    Task<void> open(Worker& worker);
    void release(std::unique_ptr<Connection> connection);
    Task<void> reset(std::unique_ptr<Connection> connection);
    void give(std::unique_ptr<Connection> connection);
    std::shared_ptr<Waiter> hand_over(std::unique_ptr<Connection> connection);
    void discard(std::unique_ptr<Connection> connection);
    std::shared_ptr<Waiter> next_waiter();

    const std::size_t max_;
    const bool persistent_;
    const bool prepare_;
    const bool reset_;
    Target target_;
    Counts counts_;

    std::mutex mutex_;
    // The one that was used last is used next, so that the others grow old.
    std::vector<std::unique_ptr<Connection>> idle_;
    std::deque<std::shared_ptr<Waiter>> waiters_;
    std::size_t open_ = 0;     // all that exist, and those that are being opened
    std::size_t opening_ = 0;  // of these
};

}  // namespace tandem::pg
