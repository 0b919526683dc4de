// One HTTP connection, from its first request to its end.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>

#include "app.hpp"
#include "responses.hpp"

namespace tandem {

class Session {
public:
    explicit Session(App& app) : app_(app) {}

    /// To accept a connection with.
    boost::asio::ip::tcp::socket& socket() { return stream_.socket(); }

    /// Answers requests, one after the other, until either side has had enough.
    void run();

private:
    using Parser = http::request_parser<http::string_body>;

    /// Starts an operation of Beast and blocks until it has ended, or its time is over. Asio's own
    /// blocking calls know no time limit, so each thread has an event loop for its one connection.
    template <typename Start>
    boost::system::error_code block(std::chrono::seconds limit, Start start) {
        boost::system::error_code result;
        stream_.expires_after(limit);
        start([&result](boost::system::error_code error, std::size_t) { result = error; });
        context_.restart();
        context_.run();
        return result;
    }

    boost::system::error_code read(Parser& parser, std::chrono::seconds limit);

    App& app_;
    boost::asio::io_context context_{1};
    boost::beast::tcp_stream stream_{context_};
    boost::beast::flat_buffer buffer_;  // also holds what follows in a pipeline
};

}  // namespace tandem
