// One HTTP connection: reads requests, has them answered, keeps its time limits.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>

#include <cstddef>

#include "async.hpp"
#include "exchange.hpp"
#include "handlers.hpp"
#include "responses.hpp"
#include "watchdog.hpp"
#include "worker.hpp"

namespace tandem {

class Session final : public Watched {
public:
    Session(Worker& worker, Handlers& handlers, bool access_log, Socket socket);

    /// Until either side closes the connection.
    Task<void> run();

    /// Closes it, after the answer if there is a request.
    void stop();

private:
    void expire() override;
    bool has_arrived();
    Task<bool> serve_one();
    Task<error_code> read_head(Parser& parser);
    Task<Response> answer(Parser& parser, error_code& failure);
    Task<error_code> read_body(Parser& parser);
    Task<error_code> fill(std::size_t size);
    Task<error_code> send(Response& response, bool head_only);
    Task<void> refuse(error_code reason);
    Task<void> linger();

    Handlers& handlers_;
    bool access_log_;
    Socket socket_;
    boost::beast::flat_buffer buffer_;
    bool idle_ = false;  // between two requests
    bool stopping_ = false;
};

}  // namespace tandem
