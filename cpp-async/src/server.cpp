#include "server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <deque>
#include <exception>
#include <format>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app.hpp"
#include "async.hpp"
#include "log.hpp"
#include "process.hpp"
#include "session.hpp"

namespace tandem {
namespace {

/// After accept() failed, for example because no more files can be opened.
constexpr std::chrono::milliseconds accept_pause{100};

using EventLoops = std::deque<asio::io_context>;

/// Without these coroutines there is no server: what one throws ends the process.
constexpr auto rethrow = [](const std::exception_ptr& error) {
    if (error) {
        std::rethrow_exception(error);
    }
};

/// Connections go to the threads in turn, so each has as many as the others. With SO_REUSEPORT
/// the kernel would choose by a hash, which is uneven with the few connections of a proxy.
Task<void> accept(App& app, EventLoops& loops, Acceptor& acceptor) {
    for (std::size_t next = 0; acceptor.is_open(); ++next) {
        auto& loop = loops[next % loops.size()];
        auto [error, socket] = co_await acceptor.async_accept(loop, as_tuple);
        if (!error) {
            asio::co_spawn(loop, serve_connection(app, Stream(std::move(socket))), asio::detached);
        } else if (acceptor.is_open()) {
            log(LogLevel::error, "accept: " + error.message());
            Timer timer(acceptor.get_executor(), accept_pause);
            co_await timer.async_wait(use_task);
        }
    }
}

/// Upon the signal: answers the requests that are under way. Idle connections end with the process.
Task<void> stop(App& app, EventLoops& loops, Acceptor& acceptor) {
    asio::signal_set signals(acceptor.get_executor(), SIGTERM, SIGINT);
    co_await signals.async_wait(use_task);
    log(LogLevel::info, "stopping");
    app.stopping = true;
    acceptor.close();
    const auto deadline = Clock::now() + drain_limit;
    do {
        Timer timer(acceptor.get_executor(), drain_pause);
        co_await timer.async_wait(use_task);
    } while (app.underway > 0 && Clock::now() < deadline);
    for (auto& loop : loops) {
        loop.stop();
    }
}

}  // namespace

void serve(const Config& config) {
    // Never destroyed: a name lookup or a sum that still runs in a thread must not keep the
    // process, nor find its event loop gone.
    static auto& loops = *new EventLoops;  // NOLINT(cppcoreguidelines-owning-memory)
    while (loops.size() < config.workers) {
        loops.emplace_back(1);  // one thread runs it, which saves Asio a wake-up with each step
    }
    auto& main = loops.front();
    static auto& app = *new App(config, main.get_executor());
    Acceptor acceptor(main, asio::ip::tcp::endpoint(asio::ip::tcp::v4(), config.port));
    log(LogLevel::info, std::format("listening on port {}", config.port));
    asio::co_spawn(main, accept(app, loops, acceptor), rethrow);
    asio::co_spawn(main, stop(app, loops, acceptor), rethrow);
    std::vector<std::jthread> threads;
    threads.reserve(loops.size());
    for (auto& loop : loops) {
        threads.emplace_back([&loop] {
            const auto work = asio::make_work_guard(loop);
            loop.run();
        });
    }
    threads.clear();
    app.pool.close();
}

}  // namespace tandem
