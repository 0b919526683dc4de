#include "pg/protocol.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
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

/// Of an error of the server; "" where libpq itself lost the connection.
std::string_view sqlstate_of(const Result& result) {
    const auto* const sqlstate = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
    return sqlstate == nullptr ? "" : sqlstate;
}

/// Tells an outage from a bug by the classes of
/// https://www.postgresql.org/docs/17/errcodes-appendix.html: connection (and PgBouncer's own
/// errors), no such database, resources, operator; 0A and 26 are statements that were prepared
/// before the tables changed.
bool is_outage(std::string_view sqlstate) {
    constexpr std::array<std::string_view, 6> classes{"08", "0A", "26", "3D", "53", "57"};
    return sqlstate.empty() || std::ranges::contains(classes, sqlstate.substr(0, 2));
}

bool succeeded(const Result& result) {
    const auto status = PQresultStatus(result.get());
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY;
}

}  // namespace

Wants Protocol::connect(const Options& options) {
    std::vector<const char*> names;
    std::vector<const char*> values;
    for (const auto& [name, value] : options) {
        names.push_back(name.c_str());
        values.push_back(value.c_str());
    }
    names.push_back(nullptr);
    values.push_back(nullptr);
    connection_.reset(PQconnectStartParams(names.data(), values.data(), 0));
    if (!connection_ || PQstatus(connection_.get()) == CONNECTION_BAD) {
        throw lost("cannot connect");
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
            throw lost("cannot connect");
    }
}

void Protocol::start(const Query& query, const Parameters& parameters) {
    query_ = &query;
    parameters_ = parameters;
    next_of_query();
}

void Protocol::start(const char* command) {
    preparing_ = false;
    sent(PQsendQuery(connection_.get(), command));
}

/// Prepares the statement if that is left to do, else sends it.
void Protocol::next_of_query() {
    constexpr int binary = 1;
    auto* const connection = connection_.get();
    const auto& [name, sql, types] = *query_;
    if (prepare_ && !prepared_.contains(query_)) {
        preparing_ = true;
        sent(PQsendPrepare(connection, name, sql, static_cast<int>(types.size()), types.data()));
        return;
    }
    preparing_ = false;
    std::vector<const char*> values;
    std::vector<int> lengths;
    for (const auto& parameter : parameters_) {
        values.push_back(parameter.bytes.data());
        lengths.push_back(static_cast<int>(parameter.bytes.size()));
    }
    const std::vector<int> formats(values.size(), binary);
    const auto count = static_cast<int>(values.size());
    sent(prepare_ ? PQsendQueryPrepared(connection, name, count, values.data(), lengths.data(),
                                        formats.data(), binary)
                  : PQsendQueryParams(connection, sql, count, types.data(), values.data(),
                                      lengths.data(), formats.data(), binary));
}

Wants Protocol::advance() {
    auto* const connection = connection_.get();
    if (std::exchange(waited_, false) && PQconsumeInput(connection) != 1) {
        throw lost("connection lost");
    }
    for (;;) {
        const int left = PQflush(connection);
        if (left < 0) {
            throw lost("cannot send");
        }
        if (left > 0 || PQisBusy(connection) != 0) {
            waited_ = true;
            // A server that is not read from may stop reading: both, until all is sent.
            return left > 0 ? Wants::read_or_write : Wants::read;
        }
        if (auto* const next = PQgetResult(connection)) {
            result_ = Result(next);
        } else if (std::exchange(preparing_, false) && succeeded(result_)) {
            prepared_.insert(query_);
            next_of_query();
        } else {
            return Wants::nothing;
        }
    }
}

Result Protocol::take() {
    auto result = std::exchange(result_, {});
    if (succeeded(result)) {
        if (result.command() == "DISCARD ALL") {
            prepared_.clear();
        }
        return result;
    }
    const auto sqlstate = sqlstate_of(result);
    const auto message =
        std::format("{} {}", one_line(PQresultErrorMessage(result.get())), sqlstate);
    if (is_outage(sqlstate)) {
        usable_ = false;
        throw Unavailable(message);
    }
    throw Error(message);
}

bool Protocol::usable() const {
    return usable_ && PQstatus(connection_.get()) == CONNECTION_OK &&
           PQtransactionStatus(connection_.get()) == PQTRANS_IDLE;
}

bool Protocol::stale() const {
    char byte = 0;
    const auto read = recv(socket(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return read >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

void Protocol::sent(int ok) const {
    if (ok != 1) {
        throw lost("cannot send");
    }
}

Unavailable Protocol::lost(std::string_view what) const {
    return Unavailable(std::format("{}: {}", what, one_line(PQerrorMessage(connection_.get()))));
}

}  // namespace tandem::pg
