// One HTTP connection, from its first request to its end.
#pragma once

#include <atomic>
#include <boost/beast/core/flat_buffer.hpp>

#include "exchange.hpp"
#include "handlers.hpp"
#include "responses.hpp"
#include "routes.hpp"
#include "stream.hpp"

namespace tandem {

/// What all connections share.
struct Service {
    Handlers& handlers;
    bool access_log;
    const std::atomic<bool>& stopping;
};

class Session {
public:
    /// Takes over the socket.
    Session(int socket, Service service);

    /// Answers requests, one after the other, until either side has had enough.
    void run();

    /// Called by another thread once the server is stopping: ends a wait for the next request.
    void end_if_idle();

private:
    bool serve_one();
    bool read_head(Parser& parser);
    Response answer(Parser& parser, ErrorCode& failure);
    ErrorCode read_body(Parser& parser);
    bool discard_body(Parser& parser);
    bool send(Response& response, const Parser& parser);

    Service service_;
    Stream stream_;
    boost::beast::flat_buffer buffer_;  // also holds what follows in a pipeline
    std::atomic<bool> idle_ = false;
};

}  // namespace tandem
