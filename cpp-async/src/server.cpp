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

class Server {
public:
    explicit Server(const Config& config);
    void run();

private:
    static std::deque<asio::io_context> event_loops(std::size_t workers);
    Task<void> accept();
    Task<void> stop();

    std::deque<asio::io_context> contexts_;
    asio::io_context& main_;
    App app_;
    Acceptor acceptor_;
};

Server::Server(const Config& config)
    : contexts_(event_loops(config.workers)),
      main_(contexts_.front()),
      app_(config, main_.get_executor()),
      acceptor_(main_, asio::ip::tcp::endpoint(asio::ip::tcp::v4(), config.port)) {
    log(LogLevel::info, std::format("listening on port {}", config.port));
}

/// As many as there are to be threads.
std::deque<asio::io_context> Server::event_loops(std::size_t workers) {
    std::deque<asio::io_context> contexts;
    while (contexts.size() < workers) {
        contexts.emplace_back(1);  // one thread runs it, which saves Asio a wake-up with each step
    }
    return contexts;
}

void Server::run() {
    asio::co_spawn(main_, accept(), asio::detached);
    asio::co_spawn(main_, stop(), asio::detached);
    std::vector<std::jthread> threads;
    threads.reserve(contexts_.size());
    for (auto& context : contexts_) {
        threads.emplace_back([&context] {
            const auto work = asio::make_work_guard(context);
            context.run();
        });
    }
    threads.clear();
    app_.repository.close();
}

/// Connections go to the threads in turn, so each has as many as the others. With SO_REUSEPORT
/// the kernel would choose by a hash, which is uneven with the few connections of a proxy.
Task<void> Server::accept() {
    std::size_t next = 0;
    while (acceptor_.is_open()) {
        std::string trouble;
        try {
            auto& context = contexts_[next++ % contexts_.size()];
            auto [error, socket] = co_await acceptor_.async_accept(context, as_tuple);
            if (error) {
                trouble = error.message();
            } else {
                asio::co_spawn(context, serve_connection(app_, Stream(std::move(socket))),
                               asio::detached);
            }
        } catch (const std::exception& error) {  // no memory
            trouble = error.what();
        }
        if (!trouble.empty() && acceptor_.is_open()) {
            log(LogLevel::error, "accept: " + trouble);
            Timer timer(main_, accept_pause);
            co_await timer.async_wait(use_task);
        }
    }
}

/// Upon the signal: answers the requests that are under way. Idle connections end with the process.
Task<void> Server::stop() {
    asio::signal_set signals(main_, SIGTERM, SIGINT);
    co_await signals.async_wait(use_task);
    log(LogLevel::info, "stopping");
    app_.stopping = true;
    acceptor_.close();
    const auto deadline = Clock::now() + drain_limit;
    do {
        Timer timer(main_, drain_pause);
        co_await timer.async_wait(use_task);
    } while (app_.underway > 0 && Clock::now() < deadline);
    for (auto& context : contexts_) {
        context.stop();
    }
}

}  // namespace

void serve(const Config& config) {
    // Never destroyed: a name lookup or a sum that still runs in a thread must not keep the
    // process, nor find its event loop gone.
    static auto* const server = new Server(config);  // NOLINT(cppcoreguidelines-owning-memory)
    server->run();
}

}  // namespace tandem
