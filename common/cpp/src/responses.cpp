#include "responses.hpp"

#include <cstdio>
#include <format>
#include <print>
#include <utility>

#include <boost/beast/http/error.hpp>
#include <boost/json/object.hpp>

#include "log.hpp"
#include "pg/result.hpp"

namespace tandem {
namespace {

std::string_view message_of(http::status status) {
    switch (status) {
        case http::status::unauthorized:
            return "unauthorized";
        case http::status::service_unavailable:
            return "database unavailable";
        default:
            return http::obsolete_reason(status);
    }
}

/// RFC 9110, 5.6.7. It changes once a second, so each thread keeps the one that it wrote last.
std::string_view http_date() {
    thread_local std::chrono::sys_seconds written;
    thread_local std::string text;
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    if (now != written) {
        text = std::format("{:%a, %d %b %Y %H:%M:%S GMT}", now);
        written = now;
    }
    return text;
}

}  // namespace

Response make_response(http::status status, std::string_view type, std::string body) {
    Response response(status, 11, std::move(body));  // HTTP/1.1
    response.set(http::field::content_type, type);
    return response;
}

Response error_response(http::status status) {
    return json_response(boost::json::object{{"error", message_of(status)}}, status);
}

Response failure_response(const std::exception& error) {
    if (const auto* const refusal = dynamic_cast<const Refusal*>(&error)) {
        return error_response(refusal->status);
    }
    const bool outage = dynamic_cast<const pg::Unavailable*>(&error) != nullptr;
    log(outage ? LogLevel::warn : LogLevel::error, error.what());
    return error_response(outage ? http::status::service_unavailable
                                 : http::status::internal_server_error);
}

bool has_gone(const boost::system::error_code& error) {
    const auto any_http_error = make_error_code(http::error::bad_method);
    return error && (error.category() != any_http_error.category() ||
                     error == http::error::end_of_stream || error == http::error::partial_message);
}

Response unreadable_response(const boost::system::error_code& error) {
    return error_response(error == http::error::body_limit ? http::status::payload_too_large
                                                           : http::status::bad_request);
}

void finish(Response& response, const Request& request, bool keep_alive) {
    response.version(request.version());
    response.set(http::field::date, http_date());
    response.keep_alive(keep_alive);
    response.prepare_payload();
}

void log_access(const Request& request, const Response& response,
                std::chrono::steady_clock::duration took) {
    std::println("{} {} {} {} us", std::string_view(request.method_string()),
                 std::string_view(request.target()), response.result_int(),
                 std::chrono::duration_cast<std::chrono::microseconds>(took).count());
    std::fflush(stdout);
}

}  // namespace tandem
