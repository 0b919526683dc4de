#include "pg/connection.hpp"

#include <fcntl.h>

#include <boost/asio/cancel_at.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <cerrno>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include "pg/limits.hpp"

namespace tandem::pg {
namespace {

/// libpq would look a name up while the whole thread waits, so it gets the address.
Task<void> look_up(Options& options) {
    const auto host = options["host"];
    if (host.empty() || host.contains('/') || host.contains(',') || options.contains("hostaddr")) {
        co_return;
    }
    asio::ip::basic_resolver<asio::ip::tcp, Executor> resolver(co_await asio::this_coro::executor);
    const auto [error, found] = co_await resolver.async_resolve(host, "", as_tuple);
    if (error) {
        throw Unavailable(host + ": " + error.message());
    }
    options["hostaddr"] = found.begin()->endpoint().address().to_string();
}

}  // namespace

Task<std::unique_ptr<Connection>> Connection::open(Options options, bool prepare,
                                                   Clock::time_point deadline) {
    const auto executor = co_await asio::this_coro::executor;
    std::unique_ptr<Connection> connection(new Connection(prepare));
    co_await look_up(options);
    auto wants = connection->protocol_.connect(options);
    while (wants != Wants::nothing) {
        // libpq may take another socket for the next address.
        connection->take_socket(executor);
        co_await connection->wait(wants, deadline);
        connection->socket_.reset();
        wants = connection->protocol_.go_on_connecting();
    }
    connection->take_socket(executor);
    co_return connection;
}

/// libpq closes its descriptor as soon as the server has ended the connection, and the next socket
/// gets its number. What is waited for, and forgotten later, is therefore a descriptor of our own.
void Connection::take_socket(const Executor& executor) {
    const int own = fcntl(protocol_.socket(), F_DUPFD_CLOEXEC, 0);
    if (own < 0) {
        throw Unavailable(std::generic_category().message(errno));
    }
    socket_.emplace(executor, own);
}

void Connection::move_to(const Executor& executor) {
    if (socket_->get_executor() != executor) {
        const auto socket = socket_->release();
        socket_.emplace(executor, socket);
    }
}

Task<Result> Connection::run(const Query& query, Parameters parameters) {
    protocol_.start(query, parameters);
    co_return co_await answer();
}

Task<Result> Connection::command(const char* sql) {
    protocol_.start(sql);
    co_return co_await answer();
}

Task<void> Connection::reset() {
    co_await command("discard all");
    protocol_.forget_prepared();
}

Task<Result> Connection::answer() {
    const auto deadline = Clock::now() + statement_limit;
    for (auto wants = protocol_.advance(); wants != Wants::nothing; wants = protocol_.advance()) {
        co_await wait(wants, deadline);
    }
    co_return protocol_.take();
}

Task<void> Connection::wait(Wants what, Clock::time_point deadline) {
    // What is ready at once, again and again, is never cancelled.
    if (Clock::now() >= deadline) {
        throw Unavailable("no answer in time");
    }
    const auto in_time = [deadline](const auto& token) { return asio::cancel_at(deadline, token); };
    error_code error;
    if (what == Wants::read_or_write) {
        // A statement that is larger than the socket's buffer.
        const auto [order, unreadable, unwritable] =
            co_await asio::experimental::make_parallel_group(
                socket_->async_wait(Descriptor::wait_read, in_time(asio::deferred)),
                socket_->async_wait(Descriptor::wait_write, in_time(asio::deferred)))
                .async_wait(asio::experimental::wait_for_one(), use_task);
        error = order[0] == 0 ? unreadable : unwritable;
    } else {
        const auto ready = what == Wants::read ? Descriptor::wait_read : Descriptor::wait_write;
        std::tie(error) = co_await socket_->async_wait(ready, in_time(as_tuple));
    }
    if (error) {
        throw Unavailable(error == asio::error::operation_aborted ? "no answer in time"
                                                                  : error.message());
    }
}

}  // namespace tandem::pg
