// Runs a coroutine on an event loop.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <utility>

#include "async.hpp"

/// Until the coroutine has ended; what it throws is thrown here.
inline void run_on(tandem::asio::io_context& context, tandem::Task<void> task) {
    std::exception_ptr failure;
    boost::asio::co_spawn(context, std::move(task), [&](std::exception_ptr thrown) {
        failure = std::move(thrown);
        context.stop();
    });
    context.run();
    context.restart();
    if (failure) {
        std::rethrow_exception(failure);
    }
}
