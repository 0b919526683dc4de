// Answers as Beast messages, ready to be sent.
#pragma once

#include <chrono>
#include <exception>
#include <string>
#include <string_view>

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/json/serialize.hpp>

#include "errors.hpp"

namespace tandem {

using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

Response make_response(http::status status, std::string_view type, std::string body);

inline Response text_response(std::string body) {
    return make_response(http::status::ok, "text/plain; charset=utf-8", std::move(body));
}

inline Response html_response(std::string_view body) {
    return make_response(http::status::ok, "text/html; charset=utf-8", std::string(body));
}

/// A described struct as JSON: its members in the order of their declaration.
template <typename T>
Response json_response(const T& value, http::status status = http::status::ok) {
    return make_response(status, "application/json", boost::json::serialize(value));
}

/// The status and `{"error":"..."}`.
Response error_response(http::status status);

/// The answer to what was thrown: a refusal; or with a line in the log 503 if the database is away
/// or too busy, and 500 for a bug.
Response failure_response(const std::exception& error);

/// Whether nothing could be read because the client has gone or said nothing.
bool has_gone(const boost::system::error_code& error);
/// The answer to what else could not be read.
Response unreadable_response(const boost::system::error_code& error);

/// Sets what depends on the request and on the connection: version, keep-alive, date, length.
void finish(Response& response, const Request& request, bool keep_alive);

/// Writes a line on standard output.
void log_access(const Request& request, const Response& response,
                std::chrono::steady_clock::duration took);

}  // namespace tandem
