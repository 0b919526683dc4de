#include "server.hpp"

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <format>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "accept.hpp"
#include "async.hpp"
#include "exchange.hpp"
#include "handlers.hpp"
#include "log.hpp"
#include "session.hpp"
#include "worker.hpp"

namespace tandem {
namespace {

/// A thread with its own handlers, so that hardly anything is shared.
struct Site {
    Site(std::size_t number, Shared& shared) : worker(number), handlers(shared, worker) {}

    Worker worker;
    Handlers handlers;
};

class Server {
public:
    explicit Server(const Config& config);
    void run();

private:
    Task<void> accept();
    Task<void> serve(Site& site, Socket socket);
    Task<void> await_signal();
    void stop_all();

    Worker& main() { return sites_.front()->worker; }

    Shared shared_;
    std::vector<std::unique_ptr<Site>> sites_;
    std::optional<Acceptor> acceptor_;
    std::atomic<std::size_t> sessions_ = 0;
    std::atomic<bool> stopping_ = false;
};

Server::Server(const Config& config) : shared_(config) {
    for (std::size_t number = 0; number < config.workers; ++number) {
        sites_.push_back(std::make_unique<Site>(number, shared_));
    }
    acceptor_.emplace(main().context, asio::ip::tcp::endpoint(asio::ip::tcp::v4(), config.port));
    log(LogLevel::info, std::format("listening on port {}", config.port));
}

void Server::run() {
    asio::co_spawn(main().context, accept(), asio::detached);
    asio::co_spawn(main().context, await_signal(), asio::detached);
    std::vector<std::jthread> threads;
    for (std::size_t number = 1; number < sites_.size(); ++number) {
        threads.emplace_back([&site = *sites_[number]] { site.worker.context.run(); });
    }
    main().context.run();
    threads.clear();
    shared_.pool.close();
}

/// Connections go to the threads in turn, so each has as many as the others. With SO_REUSEPORT
/// the kernel would choose by a hash, which is uneven with the few connections of a proxy.
Task<void> Server::accept() {
    std::size_t next = 0;
    co_await accept_all(
        *acceptor_, [&]() -> auto& { return sites_[next]->worker.context; },
        [&](Socket socket) {
            auto& site = *sites_[next];
            next = (next + 1) % sites_.size();
            ++sessions_;
            asio::co_spawn(site.worker.context, serve(site, std::move(socket)), asio::detached);
        });
}

/// Whatever happens ends this connection only.
Task<void> Server::serve(Site& site, Socket socket) {
    try {
        Session session(site.worker, site.handlers, shared_.config.access_log, std::move(socket));
        if (stopping_) {
            session.stop();
        }
        co_await session.run();
    } catch (const std::exception& error) {
        log(LogLevel::error, error.what());
    }
    if (--sessions_ == 0 && stopping_) {
        stop_all();
    }
}

Task<void> Server::await_signal() {
    asio::signal_set signals(main().context, SIGTERM, SIGINT);
    co_await signals.async_wait(use_task);
    log(LogLevel::info, "stopping");
    stopping_ = true;
    acceptor_->close();
    for (const auto& site : sites_) {
        asio::post(site->worker.context, [&site = *site] {
            site.worker.watchdog.for_each<Session>([](Session& session) { session.stop(); });
        });
    }
    if (sessions_ > 0) {
        Timer timer(main().context, drain_limit);
        co_await timer.async_wait(use_task);
        log(LogLevel::warn, "stopped with connections still open");
    }
    stop_all();
}

/// No session is left that could need one of the loops.
void Server::stop_all() {
    for (const auto& site : sites_) {
        site->worker.context.stop();
    }
}

}  // namespace

void serve(const Config& config) {
    // Never destroyed: a name lookup or a sum that still runs in a thread must not keep the
    // process, nor find its event loop gone.
    auto* const server = new Server(config);  // NOLINT(cppcoreguidelines-owning-memory)
    server->run();
}

}  // namespace tandem
