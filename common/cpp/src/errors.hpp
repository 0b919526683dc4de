// What ends a request early.
#pragma once

#include <exception>

namespace tandem {

/// By the status of the answer.
enum class Reason : unsigned {
    bad_request = 400,
    unauthorized = 401,
    not_found = 404,
    method_not_allowed = 405,
    payload_too_large = 413,
    bug = 500,
    database_unavailable = 503,
};

/// The client asked for what it does not get. What fails has exceptions of its own.
class Refusal : public std::exception {
public:
    explicit Refusal(Reason reason) : reason(reason) {}
    const char* what() const noexcept override { return "refused"; }

    Reason reason;
};

}  // namespace tandem
