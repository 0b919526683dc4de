// The connections of the whole process, lent to whichever thread needs one.
#pragma once

#include <boost/asio/experimental/concurrent_channel.hpp>
#include <memory>
#include <utility>

#include "async.hpp"
#include "pg/connection.hpp"
#include "pg/counts.hpp"
#include "settings.hpp"

namespace tandem::pg {

/// At most DB_POOL_MAX connections, opened on demand. Who waits is served in the order of coming.
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

    Pool(const Settings& settings, const Executor& executor);

    /// Waits 1.5 s at the most, for its turn and for a new connection together. Throws Unavailable.
    Task<Lease> acquire();

    [[nodiscard]] PoolUse use() const { return counts_.read(); }

    /// Takes leave of the server, with the connections that are idle.
    void close();

private:
    Task<std::unique_ptr<Connection>> take(Clock::time_point deadline);
    void give_back(std::unique_ptr<Connection> connection);
    Task<void> reset(std::unique_ptr<Connection> connection);

    const Settings& settings_;
    Counts counts_;
    // The places that are free. In each is a connection, or nothing where none has been opened.
    asio::experimental::concurrent_channel<Executor, void(error_code, std::unique_ptr<Connection>)>
        places_;
};

}  // namespace tandem::pg
