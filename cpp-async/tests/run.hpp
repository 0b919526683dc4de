// Runs coroutines on workers with a thread each.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "worker.hpp"

/// Until the coroutine has ended; what it throws is thrown here.
inline void run_on(tandem::Worker& worker, tandem::Task<void> task) {
    std::exception_ptr failure;
    boost::asio::co_spawn(worker.context, std::move(task), [&](std::exception_ptr thrown) {
        failure = std::move(thrown);
        worker.context.stop();
    });
    worker.context.run();
    worker.context.restart();
    if (failure) {
        std::rethrow_exception(failure);
    }
}
