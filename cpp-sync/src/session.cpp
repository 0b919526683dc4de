#include "session.hpp"

#include <sys/socket.h>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/none.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <format>
#include <string>
#include <utility>

#include "errors.hpp"
#include "log.hpp"
#include "requests.hpp"

namespace tandem {
namespace {

namespace http = boost::beast::http;

constexpr std::uint32_t head_limit = 65'536;
// Room for the longest head and for one read beyond it.
constexpr std::size_t buffer_limit = 2 * std::size_t{head_limit};
constexpr std::chrono::seconds head_time{10};
constexpr std::chrono::seconds body_time{30};

bool is_http_error(const ErrorCode& error) {
    return error.category() == make_error_code(http::error::bad_method).category();
}

bool expects_continue(const http::request_header<>& head) {
    constexpr unsigned http_1_1 = 11;
    return head.version() >= http_1_1 &&
           boost::beast::iequals(head[http::field::expect], "100-continue");
}

/// Whether what is left of a refused request is short enough to be read and thrown away. A client
/// that was not told to go on may not send it at all.
bool may_discard_body(const http::request_parser<http::string_body>& parser) {
    return parser.is_done() ||
           (!expects_continue(parser.get()) && parser.content_length().value_or(0) <= body_limit);
}

/// Ends a request that the database failed; nobody else is told why.
Response unavailable(const pg::Error& error) {
    log(LogLevel::warn, std::format("database: {} {}", error.what(), error.sqlstate()));
    return error_response(Error(Reason::database_unavailable));
}

void log_access(const http::request_header<>& head, const Response& response,
                Stream::Clock::duration took) {
    const auto line = std::format(
        "{} {} {} {} us\n", std::string_view(head.method_string()), std::string_view(head.target()),
        response.result_int(), std::chrono::duration_cast<std::chrono::microseconds>(took).count());
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
}

}  // namespace

Session::Session(int socket, Service service)
    : service_(service), stream_(socket), buffer_(buffer_limit) {}

void Session::run() {
    try {
        while (serve_one()) {
        }
    } catch (const boost::system::system_error& error) {
        log(LogLevel::debug, std::format("a client went away: {}", error.what()));
    }
}

void Session::end_if_idle() {
    if (idle_) {
        ::shutdown(stream_.native_handle(), SHUT_RD);
    }
}

bool Session::serve_one() {
    Parser parser;
    parser.header_limit(head_limit);
    parser.body_limit(boost::none);  // the order of refusal: the path first, the size later
    if (!read_head(parser)) {
        return false;
    }
    const auto started = Stream::Clock::now();
    auto response = answer(parser);
    const bool keep_alive =
        parser.keep_alive() && !broken_ && may_discard_body(parser) && !service_.stopping;
    finish(response, parser.get().version(), keep_alive);
    if (service_.access_log) {
        log_access(parser.get(), response, Stream::Clock::now() - started);
    }
    if (!send(response, parser)) {
        return false;
    }
    if (keep_alive) {
        return parser.is_done() || discard_body(parser);
    }
    if (!parser.is_done()) {
        stream_.linger();
    }
    return false;
}

/// False when the connection is over: closed, too slow, or no HTTP, which is told to the client.
bool Session::read_head(Parser& parser) {
    if (buffer_.size() == 0) {
        stream_.expect_idle(head_time);
        idle_ = true;
        // Looked at after saying idle, so that end_if_idle cannot miss this connection.
        if (service_.stopping) {
            return false;
        }
    } else {
        stream_.expires_after(head_time);
    }
    ErrorCode error;
    http::read_header(stream_, buffer_, parser, error);
    idle_ = false;
    // To Beast a body in another coding is no body at all, and the next request.
    if (!error && !parser.chunked() && parser.get().count(http::field::transfer_encoding) > 0) {
        error = http::error::bad_transfer_encoding;
    }
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
        refuse(head_too_large_response());
    } else if (is_http_error(error) && error != http::error::end_of_stream &&
               error != http::error::partial_message) {
        refuse(error_response(Error(Reason::bad_request)));
    }
    return !error;
}

Response Session::answer(Parser& parser) {
    try {
        const auto call = route(parser.get(), service_.handlers.tells_pool());
        read_body(parser);
        return service_.handlers.handle(call, parser.get().body());
    } catch (const Error& error) {
        return error_response(error);
    } catch (const pg::Error& error) {
        return unavailable(error);
    }
}

/// Throws Error if the body is too large or not HTTP, system_error if it does not come.
void Session::read_body(Parser& parser) {
    if (parser.is_done()) {
        return;
    }
    if (parser.content_length().value_or(0) > body_limit) {
        throw Error(Reason::payload_too_large);
    }
    parser.body_limit(body_limit);
    stream_.expires_after(body_time);
    ErrorCode error;
    if (expects_continue(parser.get())) {
        // Beast leaves this to its user.
        const http::response<http::empty_body> go_on(http::status::continue_,
                                                     parser.get().version());
        http::write(stream_, go_on, error);
    }
    http::read(stream_, buffer_, parser, error);
    broken_ = error.failed();
    if (error == http::error::body_limit) {
        throw Error(Reason::payload_too_large);
    }
    if (is_http_error(error) && error != http::error::partial_message) {
        throw Error(Reason::bad_request);
    }
    if (error) {
        throw boost::system::system_error(error);
    }
}

/// Takes the body of a refused request off the connection, so that the next request can follow.
bool Session::discard_body(Parser& parser) {
    parser.body_limit(body_limit);
    stream_.expires_after(body_time);
    ErrorCode error;
    http::read(stream_, buffer_, parser, error);
    return !error;
}

bool Session::send(Response& response, const Parser& parser) {
    ErrorCode error;
    http::response_serializer<http::string_body> serializer(response);
    if (parser.get().method() == http::verb::head) {
        http::write_header(stream_, serializer, error);
    } else {
        http::write(stream_, serializer, error);
    }
    return !error;
}

void Session::refuse(Response response) {
    constexpr unsigned http_1_1 = 11;
    finish(response, http_1_1, false);
    ErrorCode error;
    http::write(stream_, response, error);
    if (!error) {
        stream_.linger();
    }
}

}  // namespace tandem
