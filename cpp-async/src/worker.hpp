// One thread, its event loop and the time limits of what runs there.
#pragma once

#include "async.hpp"
#include "watchdog.hpp"

namespace tandem {

struct Worker {
    explicit Worker(std::size_t number) : number(number) {}

    std::size_t number;
    // Says that one thread runs it, which saves Asio a wake-up with each step.
    asio::io_context context{1};
    Watchdog watchdog{context};
};

}  // namespace tandem
