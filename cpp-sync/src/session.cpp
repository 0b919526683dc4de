#include "session.hpp"

#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/write.hpp>

#include "body.hpp"
#include "errors.hpp"

namespace tandem {
namespace {

namespace http = boost::beast::http;

// Room for the longest head and for one read beyond it.
constexpr std::size_t buffer_limit = 2 * std::size_t{head_limit};

}  // namespace

Session::Session(int socket, Service service)
    : service_(service), stream_(socket), buffer_(buffer_limit) {}

void Session::run() {
    while (serve_one()) {
    }
}

void Session::end_if_idle() {
    if (idle_) {
        ::shutdown(stream_.native_handle(), SHUT_RD);
    }
}

bool Session::serve_one() {
    Parser parser;
    limit_head(parser);
    if (!read_head(parser)) {
        return false;
    }
    const auto started = Stream::Clock::now();
    ErrorCode failure;
    auto response = answer(parser, failure);
    if (failure && (!is_http_error(failure) || failure == http::error::partial_message)) {
        return false;  // the rest of the body does not come
    }
    const bool keep_alive =
        !failure && parser.keep_alive() && may_discard_body(parser) && !service_.stopping;
    finish(response, parser.get().version(), keep_alive);
    if (service_.access_log) {
        log_access(parser, response, Stream::Clock::now() - started);
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
        if (buffer_.capacity() > 2 * head_read) {
            buffer_.shrink_to_fit();  // a large body was read, and thousands may idle
        }
        stream_.expect_idle(head_time);
        idle_ = true;
        // Looked at after saying idle, so that end_if_idle cannot miss this connection.
        if (service_.stopping) {
            return false;
        }
    } else {
        stream_.expires_after(head_time);
    }
    buffer_.reserve(head_read);
    ErrorCode error;
    http::read_header(stream_, buffer_, parser, error);
    idle_ = false;
    if (!error && has_unknown_coding(parser)) {
        error = http::error::bad_transfer_encoding;
    }
    if (auto response = head_refusal(error)) {
        http::write(stream_, *response, error);
        if (!error) {
            stream_.linger();
        }
        return false;
    }
    return !error;
}

/// `failure` is what went wrong with the body.
Response Session::answer(Parser& parser, ErrorCode& failure) {
    const auto call = route(parser.get(), service_.handlers.tells_pool());
    if (!call) {
        return error_response(call.error());
    }
    if (is_too_large(parser)) {
        return error_response(Reason::payload_too_large);
    }
    if (!parser.is_done()) {
        failure = read_body(parser);
        if (failure) {
            return error_response(body_refusal(failure));
        }
    }
    return service_.handlers.handle(*call, parser.get().body());
}

ErrorCode Session::read_body(Parser& parser) {
    stream_.expires_after(body_time);
    ErrorCode error;
    if (expects_continue(parser.get())) {
        // Beast leaves this to its user.
        boost::asio::write(stream_, boost::asio::buffer(go_on), error);
    }
    if (!error) {
        read_body_from(stream_, buffer_, parser, error);
    }
    return error;
}

/// Takes the body of a refused request off the connection, so that the next request can follow.
bool Session::discard_body(Parser& parser) {
    stream_.expires_after(body_time);
    ErrorCode error;
    read_body_from(stream_, buffer_, parser, error);
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

}  // namespace tandem
