// One HTTP connection, from its first request to its end.
#pragma once

#include <atomic>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

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
    using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

    bool serve_one();
    bool read_head(Parser& parser);
    Response answer(Parser& parser);
    void read_body(Parser& parser);
    bool discard_body(Parser& parser);
    bool send(Response& response, const Parser& parser);
    void refuse(Response response);

    Service service_;
    Stream stream_;
    boost::beast::flat_buffer buffer_;  // also holds what follows in a pipeline
    std::atomic<bool> idle_ = false;
    bool broken_ = false;  // a body could not be read to its end: nothing can follow it
};

}  // namespace tandem
