// What ends a request early.
#pragma once

#include <exception>

#include <boost/beast/http/status.hpp>

namespace tandem {

namespace http = boost::beast::http;

/// The client asked for what it does not get. What fails has exceptions of its own.
struct Refusal : std::exception {
    explicit Refusal(http::status status) : status(status) {}

    http::status status;
};

}  // namespace tandem
