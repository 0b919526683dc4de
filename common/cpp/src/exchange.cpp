#include "exchange.hpp"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/none.hpp>

#include <cstdio>
#include <format>

namespace tandem {
namespace {

namespace http = boost::beast::http;

constexpr unsigned http_1_1 = 11;

}  // namespace

void limit_head(Parser& parser) {
    parser.header_limit(head_limit);
    parser.body_limit(boost::none);
}

bool is_http_error(const boost::system::error_code& error) {
    return error.category() == make_error_code(http::error::bad_method).category();
}

bool expects_continue(const http::request_header<>& head) {
    return head.version() >= http_1_1 &&
           boost::beast::iequals(head[http::field::expect], "100-continue");
}

bool has_unknown_coding(const Parser& parser) {
    return !parser.chunked() && parser.get().count(http::field::transfer_encoding) > 0;
}

bool is_too_large(const Parser& parser) {
    return !parser.is_done() && parser.content_length().value_or(0) > body_limit;
}

Refusal body_refusal(const boost::system::error_code& error) {
    return error == http::error::body_limit ? Reason::payload_too_large : Reason::bad_request;
}

bool may_discard_body(const Parser& parser) {
    return parser.is_done() || (!expects_continue(parser.get()) && !is_too_large(parser));
}

std::optional<Response> head_refusal(const boost::system::error_code& error) {
    if (!is_http_error(error) || error == http::error::end_of_stream ||
        error == http::error::partial_message) {
        return std::nullopt;
    }
    const bool too_long =
        error == http::error::header_limit || error == http::error::buffer_overflow;
    auto response = too_long ? head_too_large_response() : error_response(Reason::bad_request);
    finish(response, http_1_1, false);
    return response;
}

void log_access(const Parser& parser, const Response& response,
                std::chrono::steady_clock::duration took) {
    const auto& head = parser.get();
    const auto line = std::format(
        "{} {} {} {} us\n", std::string_view(head.method_string()), std::string_view(head.target()),
        response.result_int(), std::chrono::duration_cast<std::chrono::microseconds>(took).count());
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
}

}  // namespace tandem
