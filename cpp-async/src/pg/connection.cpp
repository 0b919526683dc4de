#include "pg/connection.hpp"

#include <fcntl.h>

#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <cerrno>
#include <system_error>
#include <tuple>
#include <utility>

#include "pg/limits.hpp"

namespace tandem::pg {
namespace {

void check(const error_code& failure) {
    if (failure) {
        throw Error(failure == asio::error::operation_aborted ? "no answer in time"
                                                              : failure.message());
    }
}

}  // namespace

Connection::Connection(Worker& worker, bool prepare) : worker_(&worker), protocol_(prepare) {
    worker.watchdog.watch(*this);
}

Task<std::unique_ptr<Connection>> Connection::open(Worker& worker, Target& target, bool prepare) {
    std::unique_ptr<Connection> connection(new Connection(worker, prepare));
    // For the name lookup, the TCP connection and the login together.
    connection->limit(acquire_limit);
    try {
        co_await connection->connect(target);
    } catch (const Error&) {
        target.forget();
        throw;
    }
    connection->no_limit();
    co_return connection;
}

Task<void> Connection::connect(Target& target) {
    resolver_.emplace(worker_->context.get_executor());
    const auto options = co_await target.resolve(*resolver_);
    resolver_.reset();

    auto wants = protocol_.connect(options);
    while (wants != Wants::nothing) {
        // libpq may take another socket for the next address.
        take_socket();
        co_await wait(wants);
        socket_.reset();
        wants = protocol_.go_on_connecting();
    }
    take_socket();
}

/// libpq closes its descriptor as soon as the server has ended the connection, and the next socket
/// gets its number. What is waited for, and forgotten later, is therefore a descriptor of our own.
void Connection::take_socket() {
    const int own = fcntl(protocol_.socket(), F_DUPFD_CLOEXEC, 0);
    if (own < 0) {
        throw Error(std::generic_category().message(errno));
    }
    socket_.emplace(worker_->context.get_executor(), own);
}

Task<Result> Connection::run(Query query, Parameters parameters) {
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
    limit(statement_limit);
    for (auto wants = protocol_.advance(); wants != Wants::nothing; wants = protocol_.advance()) {
        co_await wait(wants);
    }
    no_limit();
    co_return protocol_.take();
}

Task<void> Connection::wait(Wants what) {
    if (expired()) {
        throw Error("no answer in time");
    }
    if (what == Wants::read_or_write) {
        co_await wait_for_either();
        co_return;
    }
    const auto [failure] = co_await socket_->async_wait(
        what == Wants::read ? Descriptor::wait_read : Descriptor::wait_write, as_tuple);
    check(failure);
}

/// A statement that is larger than the socket's buffer.
Task<void> Connection::wait_for_either() {
    const auto [order, readable, writable] =
        co_await asio::experimental::make_parallel_group(
            socket_->async_wait(Descriptor::wait_read, asio::deferred),
            socket_->async_wait(Descriptor::wait_write, asio::deferred))
            .async_wait(asio::experimental::wait_for_one(), use_task);
    check(order[0] == 0 ? readable : writable);
}

void Connection::expire() {
    if (socket_) {
        socket_->cancel();
    }
    if (resolver_) {
        resolver_->cancel();
    }
}

void Connection::attach(Worker& worker) {
    if (&worker != worker_) {
        const auto socket = socket_->release();
        socket_.emplace(worker.context.get_executor(), socket);
        worker_ = &worker;
    }
    worker.watchdog.watch(*this);
}

}  // namespace tandem::pg
