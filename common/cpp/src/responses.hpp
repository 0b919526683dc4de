// Answers as Beast messages, ready to be sent.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "errors.hpp"

namespace tandem {

using Response = boost::beast::http::response<boost::beast::http::string_body>;

Response json_response(std::string body,
                       boost::beast::http::status status = boost::beast::http::status::ok);
Response text_response(std::string body);
Response html_response(std::string_view body);

/// The status and `{"error":"..."}`; `Allow` where it belongs.
Response error_response(const Refusal& refusal);

/// The same for what failed, in the database as a rule: 503 here, the cause in the log.
Response unavailable_response(const std::exception& error);

/// 431, for a head that is too long. The contract leaves its body free.
Response head_too_large_response();

/// What depends on the request and on the connection: version, keep-alive, `Date`, the length.
void finish(Response& response, unsigned version, bool keep_alive);

}  // namespace tandem
