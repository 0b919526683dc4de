#include "server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <exception>
#include <format>
#include <memory>
#include <string>
#include <thread>

#include "app.hpp"
#include "log.hpp"
#include "process.hpp"
#include "session.hpp"

namespace tandem {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

/// After accept() failed, for example because no more files can be opened.
constexpr std::chrono::milliseconds accept_pause{100};

/// The first thread accepts connections; each is served by a thread of its own.
class Server {
public:
    explicit Server(const Config& config);
    void run();

private:
    void accept();
    void begin(std::shared_ptr<Session> session);
    void end();
    void drain();

    App app_;
    asio::io_context context_{1};
    asio::ip::tcp::acceptor acceptor_;
    std::size_t threads_ = 0;  // that serve a connection
};

Server::Server(const Config& config)
    : app_(config), acceptor_(context_, asio::ip::tcp::endpoint(asio::ip::tcp::v4(), config.port)) {
    log(LogLevel::info, std::format("listening on port {}", config.port));
}

void Server::run() {
    asio::signal_set signals(context_, SIGTERM, SIGINT);
    signals.async_wait([this](error_code, int) { context_.stop(); });
    accept();
    context_.run();
    log(LogLevel::info, "stopping");
    drain();
    app_.pool.close();
}

/// The next connection. When all threads are serving, further ones stay in the kernel's backlog.
void Server::accept() {
    auto session = std::make_shared<Session>(app_);
    auto& socket = session->socket();
    acceptor_.async_accept(socket, [this, session](error_code error) {
        if (error) {
            log(LogLevel::error, "accept: " + error.message());
            std::this_thread::sleep_for(accept_pause);
        } else {
            begin(session);
        }
        if (threads_ < app_.config.threads) {
            accept();
        }
    });
}

void Server::begin(std::shared_ptr<Session> session) {
    try {
        std::thread([this, session = std::move(session)]() mutable {
            try {
                session->run();
            } catch (const std::exception& error) {
                log(LogLevel::error, std::format("a connection ended: {}", error.what()));
            }
            session.reset();
            asio::post(context_, [this] { end(); });
        }).detach();
        ++threads_;
    } catch (const std::exception& error) {
        log(LogLevel::error, std::format("no further thread: {}", error.what()));
    }
}

void Server::end() {
    if (threads_-- == app_.config.threads) {
        accept();
    }
}

/// Answers the requests that are under way. Idle connections end with the process.
void Server::drain() {
    app_.stopping = true;
    acceptor_.close();
    const auto deadline = std::chrono::steady_clock::now() + drain_limit;
    do {
        std::this_thread::sleep_for(drain_pause);
    } while (app_.underway > 0 && std::chrono::steady_clock::now() < deadline);
}

}  // namespace

void serve(const Config& config) {
    // Never destroyed: the threads of idle connections still use it when the process ends.
    static auto* const server = new Server(config);  // NOLINT(cppcoreguidelines-owning-memory)
    server->run();
}

}  // namespace tandem
