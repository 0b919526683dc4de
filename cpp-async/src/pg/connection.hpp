// A connection to PostgreSQL whose user waits as a coroutine.
#pragma once

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <memory>
#include <optional>

#include "async.hpp"
#include "pg/protocol.hpp"

namespace tandem::pg {

/// Every member function may throw Error; the connection is then to be looked at with `usable`.
class Connection : public Protocol {
public:
    static Task<std::unique_ptr<Connection>> open(Options options, bool prepare,
                                                  Clock::time_point deadline);

    /// One statement; the texts among the parameters stay with the caller.
    Task<Result> run(const Query& query, Parameters parameters);

    /// `begin`, `commit` and their like.
    Task<Result> command(const char* sql);

    /// Moves to the event loop of who is going to use it.
    void move_to(const Executor& executor);
    Executor executor() { return socket_->get_executor(); }

private:
    using Descriptor = asio::posix::basic_stream_descriptor<Executor>;

    using Protocol::Protocol;

    void take_socket(const Executor& executor);
    Task<Result> answer();
    Task<void> wait(Wants what, Clock::time_point deadline);

    std::optional<Descriptor> socket_;  // a duplicate of libpq's
};

}  // namespace tandem::pg
