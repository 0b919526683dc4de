#include "watchdog.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace tandem {
namespace {

constexpr std::chrono::milliseconds tick{100};

}  // namespace

Watchdog::Watchdog(asio::io_context& context) : timer_(context) {
    asio::co_spawn(context, run(), asio::detached);
}

Task<void> Watchdog::run() {
    for (;;) {
        timer_.expires_after(tick);
        co_await timer_.async_wait(use_task);
        const auto now = Clock::now();
        for (auto& object : objects_) {
            if (object.deadline_ <= now) {
                object.no_limit();
                object.expired_ = true;
                object.expire();
            }
        }
    }
}

}  // namespace tandem
