// Everything that can end a request early, and what the client is told.
#pragma once

#include <ostream>  // Boost 1.83: status.hpp needs it and does not include it
#include <stdexcept>
#include <string>
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

/// Thrown where the request ends; caught in one place, which makes the answer. `what` is for the
/// log.
class Error : public std::runtime_error {
public:
    explicit Error(Reason reason);
    Error(Reason reason, const std::string& cause);

    [[nodiscard]] Reason reason() const noexcept { return reason_; }

    /// The value of `Allow`; empty unless the reason is method_not_allowed.
    [[nodiscard]] std::string_view allow() const noexcept { return allow_; }

    /// `allow` must outlive the error: it is one of the literals of the route table.
    static Error method_not_allowed(std::string_view allow);

private:
    Reason reason_;
    std::string_view allow_;
};

}  // namespace tandem
