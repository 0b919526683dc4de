#include "pg/pool.hpp"

#include <boost/asio/cancel_at.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/scope/scope_exit.hpp>

#include "log.hpp"
#include "pg/limits.hpp"

namespace tandem::pg {

Pool::Pool(const Settings& settings, const Executor& executor)
    : settings_(settings), places_(executor, settings.db_pool_max) {
    for (std::size_t place = 0; place < settings.db_pool_max; ++place) {
        places_.try_send(error_code(), nullptr);
    }
}

Task<Pool::Lease> Pool::acquire() {
    const auto began = Clock::now();
    const auto deadline = began + acquire_limit;
    const boost::scope::scope_exit counted([&] { counts_.add(Clock::now() - began); });
    auto connection = co_await take(deadline);
    try {
        // A connection that ended while nobody used it is seen here, without asking the server.
        if (connection && !connection->stale()) {
            connection->move_to(co_await asio::this_coro::executor);
        } else {
            connection.reset();
            connection =
                co_await Connection::open(settings_.database, settings_.db_prepare, deadline);
        }
    } catch (...) {
        give_back(nullptr);
        throw;
    }
    co_return Lease(connection.release(), {this});
}

Task<std::unique_ptr<Connection>> Pool::take(Clock::time_point deadline) {
    std::unique_ptr<Connection> free;
    if (places_.try_receive(
            [&free](error_code, auto connection) { free = std::move(connection); })) {
        co_return free;
    }
    // Of this thread's own loop: by itself it would be of the channel's.
    Timer timer(co_await asio::this_coro::executor);
    auto [error, connection] =
        co_await places_.async_receive(asio::cancel_at(timer, deadline, as_tuple));
    if (error) {
        throw Unavailable("no connection in time");
    }
    co_return std::move(connection);
}

void Pool::give_back(std::unique_ptr<Connection> connection) {
    if (connection &&
        (!settings_.db_persistent || !connection->usable() || connection->age() >= longest_life)) {
        connection.reset();
    }
    if (connection && settings_.db_reset) {
        // Nobody has to wait for it but the next user.
        const auto executor = connection->executor();
        asio::co_spawn(executor, reset(std::move(connection)), asio::detached);
        return;
    }
    places_.try_send(error_code(), std::move(connection));
}

Task<void> Pool::reset(std::unique_ptr<Connection> connection) {
    try {
        co_await connection->command("discard all");
    } catch (const std::exception& error) {
        log(LogLevel::warn, error.what());
        connection.reset();
    }
    places_.try_send(error_code(), std::move(connection));
}

void Pool::close() {
    while (places_.try_receive([](error_code, const auto& /*connection*/) {})) {
    }
}

}  // namespace tandem::pg
