// Everything that can end a request early, and what the client is told.
#pragma once

#include <expected>
#include <ostream>  // Boost 1.83: status.hpp needs it and does not include it
#include <string_view>

#include <boost/beast/http/status.hpp>

namespace tandem {

enum class Reason {
    bad_request,
    unauthorized,
    not_found,
    method_not_allowed,
    payload_too_large,
    unprocessable_content,
    database_unavailable,
};

boost::beast::http::status status_of(Reason reason);

/// The word of the contract, for the body of the answer.
std::string_view message_of(Reason reason);

/// An answer that the contract expects, and therefore a value: exceptions are for what fails.
struct Refusal {
    /// `allow` must outlive the refusal: it is one of the literals of the route table.
    Refusal(Reason reason, std::string_view allow = {}) : reason(reason), allow(allow) {}

    Reason reason;
    std::string_view allow;  // the value of `Allow`; empty unless the method is not allowed
};

/// What was asked for, or why the request ends here.
template <typename T>
using Expected = std::expected<T, Refusal>;

inline std::unexpected<Refusal> refuse(Reason reason, std::string_view allow = {}) {
    return std::unexpected(Refusal(reason, allow));
}

}  // namespace tandem
