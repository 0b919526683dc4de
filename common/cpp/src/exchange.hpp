// What a server decides about one request and its answer, whatever way it waits for them.
#pragma once

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "errors.hpp"
#include "requests.hpp"
#include "responses.hpp"

namespace tandem {

using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

// The proxy's idle connections end before these.
inline constexpr std::chrono::seconds idle_time{75};
inline constexpr std::chrono::seconds head_time{10};
inline constexpr std::chrono::seconds body_time{30};
inline constexpr std::chrono::seconds write_time{30};
inline constexpr std::chrono::seconds linger_time{2};
/// How long requests may take after the signal to stop; by contract one may take 10 s.
inline constexpr std::chrono::seconds drain_limit{11};
/// After accept() failed, for example because no more files can be opened.
inline constexpr std::chrono::milliseconds accept_pause{100};

inline constexpr std::uint32_t head_limit = 65'536;
/// What is read at once: Beast by itself would read bodies in pieces of 512 bytes.
inline constexpr std::size_t head_read = 4096;
inline constexpr std::size_t body_read = 32'768;

inline constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";

/// Sets the limits for a request's head. The body's comes later: the path is refused first.
void limit_head(Parser& parser);

bool is_http_error(const boost::system::error_code& error);

bool expects_continue(const boost::beast::http::request_header<>& head);

/// To Beast a body in another coding than chunks is no body at all, and the next request.
bool has_unknown_coding(const Parser& parser);

/// Whether the body is larger than allowed by what its head says.
bool is_too_large(const Parser& parser);

/// What a body is refused with that could not be read to its end.
Refusal body_refusal(const boost::system::error_code& error);

/// Whether what is left of a refused request is short enough to be read and thrown away. A client
/// that was not told to go on may not send it at all.
bool may_discard_body(const Parser& parser);

/// The answer to a head that is no HTTP or too long; nothing if there is nobody to be told.
std::optional<Response> head_refusal(const boost::system::error_code& error);

/// One line per request on standard output.
void log_access(const Parser& parser, const Response& response,
                std::chrono::steady_clock::duration took);

}  // namespace tandem
