#include "pg/connection.hpp"

#include <fcntl.h>

#include <boost/asio/cancel_at.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <cerrno>
#include <functional>
#include <string>
#include <system_error>
#include <tuple>
#include <variant>

#include "pg/limits.hpp"

namespace tandem::pg {
namespace {

using namespace asio::experimental::awaitable_operators;

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
    auto wants = connection->connect(options);
    connection->take_socket(executor);
    while (wants != Wants::nothing) {
        co_await connection->wait(wants, deadline);
        wants = connection->go_on_connecting();
        connection->take_socket(executor);  // libpq may have taken another one
    }
    co_return connection;
}

/// libpq closes its descriptor as soon as the server has ended the connection, and the next socket
/// gets its number. What is waited for, and forgotten later, is therefore a descriptor of our own.
void Connection::take_socket(const Executor& executor) {
    const int own = fcntl(socket(), F_DUPFD_CLOEXEC, 0);
    if (own < 0) {
        throw Unavailable(std::generic_category().message(errno));
    }
    socket_.emplace(executor, own);
}

void Connection::move_to(const Executor& executor) {
    if (socket_->get_executor() != executor) {
        socket_.emplace(executor, socket_->release());
    }
}

Task<Result> Connection::run(const Query& query, Parameters parameters) {
    start(query, parameters);
    co_return co_await answer();
}

Task<Result> Connection::command(const char* sql) {
    start(sql);
    co_return co_await answer();
}

Task<Result> Connection::answer() {
    const auto deadline = Clock::now() + statement_limit;
    for (auto wants = advance(); wants != Wants::nothing; wants = advance()) {
        co_await wait(wants, deadline);
    }
    co_return take();
}

Task<void> Connection::wait(Wants what, Clock::time_point deadline) {
    // What is ready at once, again and again, is never cancelled.
    if (Clock::now() >= deadline) {
        throw Unavailable("no answer in time");
    }
    const auto ready = [&](Descriptor::wait_type how) {
        return socket_->async_wait(how, asio::cancel_at(deadline, as_tuple));
    };
    error_code error;
    if (what == Wants::read_or_write) {
        // A statement that is larger than the socket's buffer.
        const auto first = co_await (ready(Descriptor::wait_read) || ready(Descriptor::wait_write));
        std::tie(error) = std::visit(std::identity(), first);
    } else {
        const bool read = what == Wants::read;
        std::tie(error) = co_await ready(read ? Descriptor::wait_read : Descriptor::wait_write);
    }
    if (error) {
        throw Unavailable(error == asio::error::operation_aborted ? "no answer in time"
                                                                  : error.message());
    }
}

}  // namespace tandem::pg
