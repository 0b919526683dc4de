// Accepting connections, whatever happens to one of them.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "async.hpp"
#include "exchange.hpp"
#include "log.hpp"

namespace tandem {

/// Until the acceptor is closed. `next_context` says whose event loop gets the next connection,
/// `begin` takes the socket; what it throws costs that connection and no other.
template <typename NextContext, typename Begin>
Task<void> accept_all(Acceptor& acceptor, NextContext next_context, Begin begin) {
    while (acceptor.is_open()) {
        std::string trouble;
        try {
            auto [failure, socket] = co_await acceptor.async_accept(next_context(), as_tuple);
            if (failure) {
                trouble = failure.message();
            } else {
                begin(std::move(socket));
            }
        } catch (const std::exception& error) {  // no memory
            trouble = error.what();
        }
        if (!trouble.empty() && acceptor.is_open()) {
            log(LogLevel::error, "accept: " + trouble);
            Timer timer(acceptor.get_executor(), accept_pause);
            co_await timer.async_wait(as_tuple);
        }
    }
}

}  // namespace tandem
