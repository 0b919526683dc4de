#include "responses.hpp"

#include <chrono>
#include <format>
#include <utility>

#include <boost/beast/http/field.hpp>

#include "log.hpp"

namespace tandem {
namespace {

namespace http = boost::beast::http;

Response response(http::status status, std::string_view type, std::string body) {
    constexpr unsigned http_1_1 = 11;
    Response answer(status, http_1_1);
    answer.set(http::field::content_type, type);
    answer.body() = std::move(body);
    return answer;
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

Response json_response(std::string body, http::status status) {
    return response(status, "application/json", std::move(body));
}

Response text_response(std::string body) {
    return response(http::status::ok, "text/plain; charset=utf-8", std::move(body));
}

Response html_response(std::string_view body) {
    return response(http::status::ok, "text/html; charset=utf-8", std::string(body));
}

Response error_response(const Refusal& refusal) {
    auto answer = json_response(std::format(R"({{"error":"{}"}})", message_of(refusal.reason)),
                                status_of(refusal.reason));
    if (!refusal.allow.empty()) {
        answer.set(http::field::allow, refusal.allow);
    }
    return answer;
}

Response unavailable_response(const std::exception& error) {
    log(LogLevel::warn, error.what());
    return error_response(Reason::database_unavailable);
}

Response head_too_large_response() {
    return json_response(R"({"error":"request head too large"})",
                         http::status::request_header_fields_too_large);
}

void finish(Response& response, unsigned version, bool keep_alive) {
    response.version(version);
    response.set(http::field::date, http_date());
    response.keep_alive(keep_alive);
    response.prepare_payload();
}

}  // namespace tandem
