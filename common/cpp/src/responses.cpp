#include "responses.hpp"

#include <cstdio>
#include <format>
#include <utility>

#include <boost/beast/http/error.hpp>
#include <boost/json/object.hpp>

#include "log.hpp"
#include "pg/result.hpp"

namespace tandem {
namespace {

std::string_view message_of(Reason reason) {
    switch (reason) {
        case Reason::unauthorized:
            return "unauthorized";
        case Reason::database_unavailable:
            return "database unavailable";
        default:
            return http::obsolete_reason(static_cast<http::status>(reason));
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
    constexpr unsigned http_1_1 = 11;
    Response response(status, http_1_1);
    response.set(http::field::content_type, type);
    response.body() = std::move(body);
    return response;
}

Response error_response(Reason reason) {
    const boost::json::object body{{"error", message_of(reason)}};
    return json_response(body, static_cast<http::status>(reason));
}

Response failure_response(const std::exception& error) {
    if (const auto* const refusal = dynamic_cast<const Refusal*>(&error)) {
        return error_response(refusal->reason);
    }
    const bool outage = dynamic_cast<const pg::Unavailable*>(&error) != nullptr;
    log(outage ? LogLevel::warn : LogLevel::error, error.what());
    return error_response(outage ? Reason::database_unavailable : Reason::bug);
}

std::optional<Response> unreadable_response(const boost::system::error_code& error) {
    const auto any_http_error = make_error_code(http::error::bad_method);
    if (error.category() != any_http_error.category() || error == http::error::end_of_stream ||
        error == http::error::partial_message) {
        return std::nullopt;
    }
    return error_response(error == http::error::body_limit ? Reason::payload_too_large
                                                           : Reason::bad_request);
}

void finish(Response& response, const Request& request, bool keep_alive) {
    response.version(request.version());
    response.set(http::field::date, http_date());
    response.keep_alive(keep_alive);
    response.prepare_payload();
}

void log_access(const Request& request, const Response& response,
                std::chrono::steady_clock::duration took) {
    const auto line =
        std::format("{} {} {} {} us\n", std::string_view(request.method_string()),
                    std::string_view(request.target()), response.result_int(),
                    std::chrono::duration_cast<std::chrono::microseconds>(took).count());
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
}

}  // namespace tandem
