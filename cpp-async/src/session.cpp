#include "session.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/write.hpp>
#include <tuple>
#include <utility>

#include "requests.hpp"
#include "routes.hpp"

namespace tandem {
namespace {

namespace http = boost::beast::http;

}  // namespace

Session::Session(Worker& worker, Handlers& handlers, bool access_log, Socket socket)
    : handlers_(handlers), access_log_(access_log), socket_(std::move(socket)) {
    worker.watchdog.watch(*this);
}

Task<void> Session::run() {
    error_code ignored;
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    while (co_await serve_one()) {
    }
}

void Session::stop() {
    stopping_ = true;
    if (idle_ && !has_arrived()) {
        socket_.cancel();
    }
}

/// A request that the kernel has already taken is answered even if the process is to stop.
bool Session::has_arrived() {
    error_code error;
    return socket_.available(error) > 0;
}

/// Closed, not only cancelled: what was waited for may have completed already, and then the next
/// wait has to fail.
void Session::expire() {
    error_code ignored;
    socket_.close(ignored);
}

/// False when the connection is over.
Task<bool> Session::serve_one() {
    Parser parser;
    limit_head(parser);
    if (const auto failure = co_await read_head(parser)) {
        co_await refuse(failure);
        co_return false;
    }
    const auto started = Clock::now();
    error_code failure;
    auto response = co_await answer(parser, failure);
    if (failure && !is_http_error(failure)) {
        co_return false;  // the rest of the body does not come
    }
    const bool keep_alive =
        !failure && parser.keep_alive() && may_discard_body(parser) && !stopping_;
    finish(response, parser.get().version(), keep_alive);
    if (access_log_) {
        log_access(parser, response, Clock::now() - started);
    }
    if (co_await send(response, parser.get().method() == http::verb::head)) {
        co_return false;
    }
    if (keep_alive) {
        co_return parser.is_done() || !co_await read_body(parser);
    }
    if (!parser.is_done()) {
        co_await linger();
    }
    co_return false;
}

Task<error_code> Session::read_head(Parser& parser) {
    std::size_t size = 0;
    if (buffer_.size() > 0) {
        limit(head_time);  // the client did not wait for the last answer
    } else {
        if (stopping_ && !has_arrived()) {
            co_return asio::error::operation_aborted;
        }
        if (buffer_.capacity() > 2 * head_read) {
            buffer_.shrink_to_fit();  // a large body was read, and thousands may idle
        }
        idle_ = true;
        limit(idle_time);
        const auto failure = co_await fill(head_read);
        idle_ = false;
        if (failure) {
            co_return failure;
        }
    }
    for (bool slow = false;; slow = true) {
        error_code error;
        while (buffer_.size() > 0 && !error && !parser.is_header_done()) {
            const auto used = parser.put(buffer_.data(), error);
            buffer_.consume(used);
            size += used;
        }
        // The parser's own limit is for what it has not used yet.
        if (size + (parser.is_header_done() ? 0 : buffer_.size()) > head_limit) {
            co_return http::error::header_limit;
        }
        if (parser.is_header_done()) {
            no_limit();
            if (has_unknown_coding(parser)) {
                co_return http::error::bad_transfer_encoding;
            }
            co_return error_code{};
        }
        if (error && error != http::error::need_more) {
            co_return error;
        }
        if (!slow) {
            limit(head_time);
        }
        if (const auto failure = co_await fill(head_read)) {
            co_return failure;
        }
    }
}

/// `failure` is what went wrong with the body.
Task<Response> Session::answer(Parser& parser, error_code& failure) {
    const auto call = route(parser.get(), handlers_.tells_pool());
    if (!call) {
        co_return error_response(call.error());
    }
    if (is_too_large(parser)) {
        co_return error_response(Reason::payload_too_large);
    }
    if (!parser.is_done()) {
        if (expects_continue(parser.get())) {
            // Beast leaves this to its user.
            limit(write_time);
            std::tie(failure, std::ignore) =
                co_await asio::async_write(socket_, asio::buffer(go_on), as_tuple);
        }
        if (!failure) {
            failure = co_await read_body(parser);
        }
        if (failure) {
            co_return error_response(body_refusal(failure));
        }
    }
    co_return co_await handlers_.handle(*call, std::move(parser.get().body()));
}

Task<error_code> Session::read_body(Parser& parser) {
    parser.body_limit(body_limit);
    limit(body_time);
    while (!parser.is_done()) {
        error_code error;
        if (buffer_.size() > 0) {
            buffer_.consume(parser.put(buffer_.data(), error));
        }
        // A chunk's head that does not end is the only thing that stays in the buffer.
        if ((error && error != http::error::need_more) || buffer_.size() > head_limit) {
            co_return error ? error : http::error::bad_chunk;
        }
        if (!parser.is_done() && (error || buffer_.size() == 0)) {
            if (const auto failure = co_await fill(body_read)) {
                co_return failure;
            }
        }
    }
    no_limit();
    co_return error_code{};
}

Task<error_code> Session::fill(std::size_t size) {
    const auto [failure, received] =
        co_await socket_.async_read_some(buffer_.prepare(size), as_tuple);
    buffer_.commit(received);
    co_return failure;
}

Task<error_code> Session::send(Response& response, bool head_only) {
    limit(write_time);
    http::response_serializer<http::string_body> serializer(response);
    error_code failure;
    if (head_only) {
        std::tie(failure, std::ignore) =
            co_await http::async_write_header(socket_, serializer, as_tuple);
    } else {
        std::tie(failure, std::ignore) = co_await http::async_write(socket_, serializer, as_tuple);
    }
    no_limit();
    co_return failure;
}

/// Tells the client what is wrong with its request's head, if it can still be told.
Task<void> Session::refuse(error_code reason) {
    auto response = head_refusal(reason);
    if (response && !co_await send(*response, false)) {
        co_await linger();
    }
}

/// Reads on for a moment: to close a connection that has unread data resets it, and the client
/// might lose the answer.
Task<void> Session::linger() {
    error_code ended;
    socket_.shutdown(Socket::shutdown_send, ended);
    limit(linger_time);
    while (!ended) {
        buffer_.clear();
        ended = co_await fill(head_read);
    }
}

}  // namespace tandem
