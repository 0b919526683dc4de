// A bounded pool: the connection that was used last is used next, whoever waits longest is served
// next.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "config.hpp"
#include "pg/connection.hpp"
#include "pg/counts.hpp"

namespace tandem::pg {

class Pool {
public:
    /// A connection, and the right to have one, until the end of its life.
    class Lease {
    public:
        explicit Lease(Pool& pool) : pool_(&pool) {}
        Lease(Lease&& other) noexcept
            : pool_(std::exchange(other.pool_, nullptr)),
              connection_(std::move(other.connection_)) {}
        Lease& operator=(Lease&&) = delete;
        ~Lease() {
            if (pool_ != nullptr) {
                pool_->release(std::move(connection_));
            }
        }

        Connection& operator*() const { return *connection_; }
        Connection* operator->() const { return connection_.get(); }

    private:
        friend class Pool;
        Pool* pool_;
        std::unique_ptr<Connection> connection_;
    };

    /// Opens nothing yet: the server starts, and answers, without a database.
    explicit Pool(const Config& config);

    /// Waits 1.5 s at the most, for its turn and for a new connection together. Throws Error.
    Lease acquire();

    [[nodiscard]] PoolUse use() const { return counts_.read(); }

private:
    struct Waiter {
        std::condition_variable ready;
        bool served = false;
    };

    void wait_for_turn(Clock::time_point deadline);
    std::unique_ptr<Connection> take_idle();
    void release(std::unique_ptr<Connection> connection) noexcept;
    bool may_keep(Connection& connection) const noexcept;

    const Options options_;
    const bool persistent_;
    const bool prepare_;
    const bool reset_;
    Counts counts_;
    std::mutex mutex_;
    std::size_t free_;  // how many more may have a connection now
    std::list<Waiter*> waiters_;
    std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace tandem::pg
