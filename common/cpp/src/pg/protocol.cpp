#include "pg/protocol.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <format>
#include <utility>
#include <vector>

#include "log.hpp"

namespace tandem::pg {
namespace {

/// libpq's messages are of several lines, which end in a line feed.
std::string one_line(std::string text) {
    std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\t'; }, ' ');
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

/// libpq by itself prints notices on standard error.
void log_notice(void* /*unused*/, const char* message) {
    log(LogLevel::info, "database: " + one_line(message));
}

std::string_view sqlstate_of(const Result& result) {
    const auto* const sqlstate = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
    return sqlstate == nullptr ? "" : sqlstate;
}

bool succeeded(const Result& result) {
    const auto status = PQresultStatus(result.get());
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY;
}

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
    std::vector<const char*> list;
    list.reserve(texts.size() + 1);
    for (const auto& text : texts) {
        list.push_back(text.c_str());
    }
    list.push_back(nullptr);
    return list;
}

}  // namespace

Wants Protocol::connect(const Options& options) {
    connection_.reset(
        PQconnectStartParams(pointers(options.names).data(), pointers(options.values).data(), 0));
    if (!connection_ || PQstatus(connection_.get()) == CONNECTION_BAD) {
        throw error("cannot connect");
    }
    PQsetNoticeProcessor(connection_.get(), log_notice, nullptr);
    return Wants::write;
}

Wants Protocol::go_on_connecting() {
    switch (PQconnectPoll(connection_.get())) {
        case PGRES_POLLING_OK:
            PQsetnonblocking(connection_.get(), 1);
            return Wants::nothing;
        case PGRES_POLLING_READING:
            return Wants::read;
        case PGRES_POLLING_WRITING:
            return Wants::write;
        default:
            throw error("cannot connect");
    }
}

void Protocol::start(Query query, const Parameters& parameters) {
    query_ = query;
    parameters_ = parameters;
    repeated_ = false;
    next_of_query();
}

void Protocol::start(const char* command) {
    step_ = Step::commanding;
    sent(PQsendQuery(connection_.get(), command));
}

/// Prepares the statement if that is left to do, else sends it.
void Protocol::next_of_query() {
    constexpr int binary = 1;
    auto* const connection = connection_.get();
    const auto& [name, sql, types] = statement(query_);
    if (prepare_ && !prepared_[static_cast<std::size_t>(query_)]) {
        step_ = Step::preparing;
        sent(PQsendPrepare(connection, name_of(query_).c_str(), sql, static_cast<int>(types.size()),
                           types.data()));
        return;
    }
    step_ = Step::executing;
    const auto values = parameters_.values();
    sent(prepare_
             ? PQsendQueryPrepared(connection, name_of(query_).c_str(), parameters_.size(),
                                   values.data(), parameters_.lengths(), Parameters::formats(),
                                   binary)
             : PQsendQueryParams(connection, sql, parameters_.size(), types.data(), values.data(),
                                 parameters_.lengths(), Parameters::formats(), binary));
}

Wants Protocol::advance() {
    auto* const connection = connection_.get();
    if (std::exchange(waited_, false) && PQconsumeInput(connection) != 1) {
        throw error("connection lost");
    }
    for (;;) {
        const int left = PQflush(connection);
        if (left < 0) {
            throw error("cannot send");
        }
        if (left > 0 || PQisBusy(connection) != 0) {
            waited_ = true;
            // A server that is not read from may stop reading: both, until all is sent.
            return left > 0 ? Wants::read_or_write : Wants::read;
        }
        if (auto* const next = PQgetResult(connection)) {
            result_ = Result(next);
        } else if (!next_step()) {
            return Wants::nothing;
        }
    }
}

/// The server is ready for the next statement. False if that was the last one.
bool Protocol::next_step() {
    if (step_ == Step::preparing && succeeded(result_)) {
        prepared_.set(static_cast<std::size_t>(query_));
        next_of_query();
        return true;
    }
    if (step_ == Step::executing && may_repeat()) {
        // The database was replaced, or its tables were. What is left of the old statements keeps
        // their names, so the new ones get others.
        prepared_.reset();
        ++generation_;
        repeated_ = true;
        next_of_query();
        return true;
    }
    return false;
}

/// "Prepared statement does not exist", "cached plan must not change result type". In a transaction
/// nothing can be repeated but the whole.
bool Protocol::may_repeat() const {
    const auto sqlstate = sqlstate_of(result_);
    return prepare_ && !repeated_ && (sqlstate == "26000" || sqlstate == "0A000") &&
           PQtransactionStatus(connection_.get()) == PQTRANS_IDLE;
}

Result Protocol::take() {
    auto result = std::exchange(result_, {});
    if (!succeeded(result)) {
        throw Error(std::format("{} {}", one_line(PQresultErrorMessage(result.get())),
                                sqlstate_of(result)));
    }
    return result;
}

bool Protocol::usable() const {
    return PQstatus(connection_.get()) == CONNECTION_OK &&
           PQtransactionStatus(connection_.get()) == PQTRANS_IDLE;
}

bool Protocol::stale() const {
    char byte = 0;
    const auto read = recv(socket(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return read >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

void Protocol::sent(int ok) const {
    if (ok != 1) {
        throw error("cannot send");
    }
}

Error Protocol::error(std::string_view what) const {
    return Error(std::format("{}: {}", what, one_line(PQerrorMessage(connection_.get()))));
}

std::string Protocol::name_of(Query query) const {
    const auto* const name = statement(query).name;
    return generation_ == 0 ? name : std::format("{}_{}", name, generation_);
}

}  // namespace tandem::pg
