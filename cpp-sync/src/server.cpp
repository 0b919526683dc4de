#include "server.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <format>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>

#include "exchange.hpp"
#include "handlers.hpp"
#include "log.hpp"
#include "session.hpp"

namespace tandem {
namespace {

/// Threads beyond these that have nothing to do end, and their stacks with them.
constexpr std::size_t most_spare_threads = 64;
[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::system_category(), what);
}

int listen_on(std::uint16_t port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    address.sin_port = htons(port);
    if (socket < 0 || ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket, SOMAXCONN) != 0) {
        fail("listen");
    }
    return socket;
}

/// Threads take turns to wait for a connection; the one that gets it serves it to its end, while
/// another waits for the next ("leader and followers": no queue and no switch of threads in
/// between). When all of `most` are serving, further connections stay in the kernel's backlog.
class Threads {
public:
    Threads(int listener, std::size_t most, Service service)
        : listener_(listener), most_(most), service_(service) {
        const std::lock_guard lock(mutex_);
        add();
    }

    /// Ends idle connections and waits for the others; false if some are still there at the end.
    /// The flag that the service is stopping must be set.
    bool stop() {
        ::shutdown(listener_, SHUT_RD);  // wakes those that wait in accept()
        std::unique_lock lock(mutex_);
        for (auto* session : sessions_) {
            session->end_if_idle();
        }
        return changed_.wait_for(lock, drain_limit, [this] { return count_ == 0; });
    }

private:
    /// Needs the lock. A thread is detached: `count_` is what its end is waited for by.
    void add() {
        try {
            std::thread([this] { run(); }).detach();
            ++count_;
            ++waiting_;
        } catch (const std::system_error& error) {
            log(LogLevel::error, std::format("no further thread: {}", error.what()));
        }
    }

    void run() {
        bool going_on = true;
        while (going_on) {
            const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (socket >= 0) {
                going_on = serve(socket);
            } else {
                going_on = !service_.stopping && recover();
            }
        }
        const std::lock_guard lock(mutex_);
        --count_;
        --waiting_;
        // Under the lock: `this` may be gone as soon as stop() sees the last thread end.
        changed_.notify_all();
    }

    /// After a failure of accept(). The client that went away meanwhile is no reason to wait.
    static bool recover() {
        if (errno != EINTR && errno != ECONNABORTED) {
            log(LogLevel::error, std::format("accept: {}", std::system_category().message(errno)));
            std::this_thread::sleep_for(accept_pause);
        }
        return true;
    }

    /// Serves one connection; false if this thread is not needed any more.
    bool serve(int socket) {
        Session session(socket, service_);
        const auto place = begin(session);
        try {
            session.run();
        } catch (const std::exception& error) {
            log(LogLevel::error, std::format("a connection ended: {}", error.what()));
        }
        const std::lock_guard lock(mutex_);
        sessions_.erase(place);
        ++waiting_;
        return waiting_ <= most_spare_threads;
    }

    std::list<Session*>::iterator begin(Session& session) {
        const std::lock_guard lock(mutex_);
        --waiting_;
        if (waiting_ == 0 && count_ < most_ && !service_.stopping) {
            add();
        }
        return sessions_.insert(sessions_.end(), &session);
    }

    const int listener_;
    const std::size_t most_;
    const Service service_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::list<Session*> sessions_;
    std::size_t count_ = 0;    // threads
    std::size_t waiting_ = 0;  // those of them that are in accept()
};

/// Blocks the signals for all threads that come, so that this one can wait for them.
sigset_t block_stop_signals() {
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGTERM);
    ::sigaddset(&signals, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    return signals;
}

}  // namespace

void serve(const Config& config) {
    const auto signals = block_stop_signals();
    std::atomic<bool> stopping = false;
    Handlers handlers(config);
    Threads threads(listen_on(config.port), config.threads,
                    {.handlers = handlers, .access_log = config.access_log, .stopping = stopping});
    log(LogLevel::info, std::format("listening on port {}", config.port));

    int signal = 0;
    ::sigwait(&signals, &signal);
    log(LogLevel::info, "stopping");
    stopping = true;
    if (!threads.stop()) {
        log(LogLevel::warn, "some connections did not end in time");
        // Their threads still use what this function owns.
        std::_Exit(EXIT_SUCCESS);
    }
}

}  // namespace tandem
