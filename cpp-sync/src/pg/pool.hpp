// A bounded pool: the connection that was used last is used next, whoever waits longest is served
// next.
#pragma once

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "pg/connection.hpp"
#include "pg/counts.hpp"
#include "settings.hpp"

namespace tandem::pg {

class Pool {
public:
    struct GiveBack {
        void operator()(Connection* connection) const {
            pool->give_back(std::unique_ptr<Connection>(connection));
        }
        Pool* pool;
    };
    /// A connection, and the right to have one, until the end of its life.
    using Lease = std::unique_ptr<Connection, GiveBack>;

    /// Opens nothing yet: the server starts, and answers, without a database.
    explicit Pool(const Settings& settings);

    /// Waits 1.5 s at the most, for its turn and for a new connection together. Throws Unavailable.
    Lease acquire();

    [[nodiscard]] PoolUse use() const { return counts_.read(); }

    /// Takes leave of the server, with the connections that are idle.
    void close();

private:
    struct Waiter {
        std::condition_variable ready;
        bool served = false;
        std::unique_ptr<Connection> connection;
    };

    std::unique_ptr<Connection> take(Clock::time_point deadline);
    void give_back(std::unique_ptr<Connection> connection) noexcept;
    bool may_keep(Connection& connection) const;

    const Settings& settings_;
    Counts counts_;
    std::mutex mutex_;
    // The places that are free. In each is a connection, or nothing where none has been opened.
    std::vector<std::unique_ptr<Connection>> places_;
    std::list<Waiter*> waiters_;
};

}  // namespace tandem::pg
