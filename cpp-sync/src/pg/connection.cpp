#include "pg/connection.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace tandem::pg {
namespace {

constexpr std::chrono::seconds statement_limit{2};
constexpr int binary = 1;

/// Waits until the socket has one of the events; false at the deadline.
bool poll_until(int socket, short events, Clock::time_point deadline) {
    pollfd watched{.fd = socket, .events = events, .revents = 0};
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        const auto limit = std::max<std::chrono::milliseconds::rep>(left.count(), 0);
        const int ready = ::poll(&watched, 1, static_cast<int>(limit));
        if (ready >= 0) {
            return ready > 0;
        }
        if (errno != EINTR) {
            throw Error(std::system_category().message(errno));
        }
    }
}

/// libpq ends its messages with a line break and may put several lines into one.
std::string one_line(std::string_view message) {
    std::string line(message.substr(0, message.find_last_not_of('\n') + 1));
    std::ranges::replace(line, '\n', ' ');
    return line;
}

}  // namespace

Connection::Connection(const std::string& url, bool prepare, Clock::time_point deadline)
    : prepare_(prepare) {
    // The URL goes where a database name would and is expanded; what is after it cannot be changed
    // by it. A server that stops acknowledging is given up by the kernel after 2 s.
    constexpr std::array keywords{"dbname", "client_encoding", "tcp_user_timeout",
                                  static_cast<const char*>(nullptr)};
    const std::array values{url.c_str(), "UTF8", "2000", static_cast<const char*>(nullptr)};
    connection_.reset(PQconnectStartParams(keywords.data(), values.data(), 1));
    if (!connection_ || PQstatus(connection_.get()) == CONNECTION_BAD) {
        fail();
    }
    auto state = PGRES_POLLING_WRITING;
    while (state != PGRES_POLLING_OK) {
        if (state == PGRES_POLLING_FAILED) {
            fail();
        }
        wait(state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline);
        state = PQconnectPoll(connection_.get());
    }
    // So that sending does not block either.
    PQsetnonblocking(connection_.get(), 1);
}

Result Connection::run(Query query, std::span<const char* const> parameters) {
    const auto deadline = Clock::now() + statement_limit;
    const auto& [name, sql, types] = statement(query);
    const auto count = static_cast<int>(parameters.size());
    if (!prepare_) {
        return answer(PQsendQueryParams(connection_.get(), sql, count, types.data(),
                                        parameters.data(), nullptr, nullptr, binary),
                      deadline);
    }
    prepare(query, deadline);
    return answer(PQsendQueryPrepared(connection_.get(), name, count, parameters.data(), nullptr,
                                      nullptr, binary),
                  deadline);
}

void Connection::prepare(Query query, Clock::time_point deadline) {
    const auto index = static_cast<std::size_t>(std::to_underlying(query));
    if (prepared_.test(index)) {
        return;
    }
    const auto& [name, sql, types] = statement(query);
    answer(
        PQsendPrepare(connection_.get(), name, sql, static_cast<int>(types.size()), types.data()),
        deadline);
    prepared_.set(index);
}

std::string Connection::command(const char* text) {
    const auto deadline = Clock::now() + statement_limit;
    return std::string(answer(PQsendQuery(connection_.get(), text), deadline).command());
}

void Connection::reset() {
    command("DISCARD ALL");
    prepared_.reset();
}

bool Connection::reusable() const {
    return !failed_ && PQtransactionStatus(connection_.get()) == PQTRANS_IDLE;
}

bool Connection::quiet() const {
    return !poll_until(PQsocket(connection_.get()), POLLIN, Clock::now());
}

/// Sends what libpq still holds, then reads all results; the first one is the answer.
Result Connection::answer(int sent, Clock::time_point deadline) {
    if (sent == 0) {
        fail();
    }
    while (const int unsent = PQflush(connection_.get())) {
        if (unsent < 0) {
            fail();
        }
        wait(POLLIN | POLLOUT, deadline);
        if (PQconsumeInput(connection_.get()) == 0) {
            fail();
        }
    }
    Result first(next_result(deadline));
    while (auto* another = next_result(deadline)) {
        PQclear(another);
    }
    return first;
}

/// Null when the server is ready for the next statement.
PGresult* Connection::next_result(Clock::time_point deadline) {
    while (PQisBusy(connection_.get()) != 0) {
        wait(POLLIN, deadline);
        if (PQconsumeInput(connection_.get()) == 0) {
            fail();
        }
    }
    PGresult* result = PQgetResult(connection_.get());
    const auto status = PQresultStatus(result);
    if (result != nullptr && status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        const Result owner(result);
        fail(result);
    }
    return result;
}

void Connection::wait(short events, Clock::time_point deadline) {
    if (!poll_until(PQsocket(connection_.get()), events, deadline)) {
        failed_ = true;
        throw Error("no answer in time");
    }
}

void Connection::fail(const PGresult* result) {
    failed_ = true;
    if (result == nullptr) {
        throw Error(one_line(PQerrorMessage(connection_.get())));
    }
    const char* sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    throw Error(one_line(PQresultErrorMessage(result)), sqlstate != nullptr ? sqlstate : "");
}

}  // namespace tandem::pg
