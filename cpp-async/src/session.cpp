#include "session.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/none.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <format>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "errors.hpp"
#include "requests.hpp"
#include "routes.hpp"

namespace tandem {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using namespace std::chrono_literals;

constexpr auto idle_time = 75s;
constexpr auto head_time = 10s;
constexpr auto body_time = 30s;
constexpr auto write_time = 30s;
constexpr auto linger_time = 2s;

constexpr std::uint32_t head_limit = 65'536;
constexpr std::size_t head_read = 4096;
constexpr std::size_t body_read = 32'768;

bool is_http_error(const error_code& error) {
    return error.category() == make_error_code(http::error::bad_method).category();
}

bool expects_continue(const http::request_header<>& head) {
    constexpr unsigned http_1_1 = 11;
    return head.version() >= http_1_1 && beast::iequals(head[http::field::expect], "100-continue");
}

/// Whether what is left of a refused request is short enough to be read and thrown away. A client
/// that was not told to go on may not send it at all.
bool may_discard_body(const http::request_parser<http::string_body>& parser) {
    return parser.is_done() ||
           (!expects_continue(parser.get()) && parser.content_length().value_or(0) <= body_limit);
}

void log_access(const http::request_header<>& head, const Response& response,
                Clock::duration took) {
    const auto line = std::format(
        "{} {} {} {} us\n", std::string_view(head.method_string()), std::string_view(head.target()),
        response.result_int(), std::chrono::duration_cast<std::chrono::microseconds>(took).count());
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
}

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

void Session::expire() {
    socket_.cancel();
}

/// False when the connection is over.
Task<bool> Session::serve_one() {
    Parser parser;
    parser.header_limit(head_limit);
    parser.body_limit(boost::none);  // the order of refusal: the path first, the size later
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
        log_access(parser.get(), response, Clock::now() - started);
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
            // To Beast a body in another coding is no body at all, and the next request.
            if (!parser.chunked() && parser.get().count(http::field::transfer_encoding) > 0) {
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
    std::optional<Call> call;
    try {
        call = route(parser.get(), handlers_.tells_pool());
        if (!parser.is_done() && parser.content_length().value_or(0) > body_limit) {
            throw Error(Reason::payload_too_large);
        }
    } catch (const Error& error) {
        co_return error_response(error);
    }
    if (!parser.is_done()) {
        if (expects_continue(parser.get())) {
            // Beast leaves this to its user.
            limit(write_time);
            constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
            std::tie(failure, std::ignore) =
                co_await asio::async_write(socket_, asio::buffer(go_on), as_tuple);
        }
        if (!failure) {
            failure = co_await read_body(parser);
        }
        if (failure) {
            co_return error_response(Error(failure == http::error::body_limit
                                               ? Reason::payload_too_large
                                               : Reason::bad_request));
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
    if (!is_http_error(reason)) {
        co_return;
    }
    auto response = reason == http::error::header_limit
                        ? head_too_large_response()
                        : error_response(Error(Reason::bad_request));
    constexpr unsigned http_1_1 = 11;
    finish(response, http_1_1, false);
    if (!co_await send(response, false)) {
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
