#include "pg/connection.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/endian/conversion.hpp>
#include <tuple>
#include <utility>

namespace tandem::pg {
namespace {

using namespace std::chrono_literals;

/// For the name lookup, the TCP connection and the login together.
constexpr auto connect_limit = 1500ms;
constexpr auto statement_limit = 2s;

constexpr int binary = 1;

/// The parameters as libpq takes them, all in binary format.
class Encoded {
public:
    explicit Encoded(const Parameters& parameters) {
        for (const auto& parameter : parameters.values()) {
            if (const auto* number = std::get_if<std::int32_t>(&parameter)) {
                numbers_.at(size_) = boost::endian::native_to_big(*number);
                add(reinterpret_cast<const char*>(&numbers_.at(size_)), sizeof *number);
            } else {
                const auto text = std::get<std::string_view>(parameter);
                // A null pointer would be the SQL null.
                add(text.empty() ? "" : text.data(), text.size());
            }
        }
    }

    [[nodiscard]] int size() const { return static_cast<int>(size_); }
    [[nodiscard]] const char* const* values() const { return values_.data(); }
    [[nodiscard]] const int* lengths() const { return lengths_.data(); }
    [[nodiscard]] static const int* formats() { return all_binary.data(); }

private:
    void add(const char* value, std::size_t length) {
        values_.at(size_) = value;
        lengths_.at(size_) = static_cast<int>(length);
        ++size_;
    }

    static constexpr std::array<int, Parameters::most> all_binary{binary, binary, binary};

    std::array<std::int32_t, Parameters::most> numbers_{};
    std::array<const char*, Parameters::most> values_{};
    std::array<int, Parameters::most> lengths_{};
    std::size_t size_ = 0;
};

/// "Prepared statement does not exist", "cached plan must not change result type".
bool is_forgotten(const Error& error) {
    return error.sqlstate() == "26000" || error.sqlstate() == "0A000";
}

/// libpq's messages are of several lines, which end in a line feed.
std::string one_line(std::string text) {
    std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\t'; }, ' ');
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

bool succeeded(const PGresult* result) {
    switch (PQresultStatus(result)) {
        case PGRES_COMMAND_OK:
        case PGRES_TUPLES_OK:
        case PGRES_EMPTY_QUERY:
            return true;
        default:
            return false;
    }
}

}  // namespace

Connection::Connection(Worker& worker, bool prepare) : worker_(&worker), prepare_(prepare) {
    worker.watchdog.watch(*this);
}

Connection::~Connection() {
    if (socket_) {
        socket_->release();
    }
}

Task<std::unique_ptr<Connection>> Connection::open(Worker& worker, Target& target, bool prepare) {
    std::unique_ptr<Connection> connection(new Connection(worker, prepare));
    connection->limit(connect_limit);
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
    const auto parameters = co_await target.resolve(*resolver_);
    resolver_.reset();

    std::vector<const char*> names;
    std::vector<const char*> values;
    for (std::size_t index = 0; index < parameters.names.size(); ++index) {
        names.push_back(parameters.names[index].c_str());
        values.push_back(parameters.values[index].c_str());
    }
    names.push_back(nullptr);
    values.push_back(nullptr);
    connection_.reset(PQconnectStartParams(names.data(), values.data(), 0));
    if (!connection_ || PQstatus(connection_.get()) == CONNECTION_BAD) {
        throw error("cannot connect");
    }
    for (auto status = PGRES_POLLING_WRITING; status != PGRES_POLLING_OK;) {
        // libpq may take another socket for the next address: it is only borrowed for one wait.
        socket_.emplace(worker_->context.get_executor(), PQsocket(connection_.get()));
        co_await wait(status == PGRES_POLLING_READING ? Descriptor::wait_read
                                                      : Descriptor::wait_write);
        socket_->release();
        socket_.reset();
        status = PQconnectPoll(connection_.get());
        if (status == PGRES_POLLING_FAILED) {
            throw error("cannot connect");
        }
    }
    PQsetnonblocking(connection_.get(), 1);
    socket_.emplace(worker_->context.get_executor(), PQsocket(connection_.get()));
}

Task<Result> Connection::run(Query query, Parameters parameters) {
    limit(statement_limit);
    const auto index = static_cast<std::size_t>(query);
    for (bool repeated = false;; repeated = true) {
        if (prepare_ && !prepared_[index]) {
            const auto& [name, sql, types] = statement(query);
            co_await answer(PQsendPrepare(connection_.get(), name_of(query).c_str(), sql,
                                          static_cast<int>(types.size()), types.data()));
            prepared_.set(index);
        }
        try {
            auto result = co_await execute(query, parameters);
            no_limit();
            co_return result;
        } catch (const Error& error) {
            if (!prepare_ || repeated || !is_forgotten(error)) {
                throw;
            }
        }
        // The database was replaced, or its tables were. What is left of the old statements keeps
        // their names, so the new ones get others.
        prepared_.reset();
        ++generation_;
    }
}

Task<Result> Connection::execute(Query query, Parameters parameters) {
    const Encoded encoded(parameters);
    const auto& [name, sql, types] = statement(query);
    if (prepare_) {
        co_return co_await answer(
            PQsendQueryPrepared(connection_.get(), name_of(query).c_str(), encoded.size(),
                                encoded.values(), encoded.lengths(), Encoded::formats(), binary));
    }
    co_return co_await answer(PQsendQueryParams(connection_.get(), sql, encoded.size(),
                                                types.data(), encoded.values(), encoded.lengths(),
                                                Encoded::formats(), binary));
}

Task<Result> Connection::command(const char* sql) {
    limit(statement_limit);
    auto result = co_await answer(PQsendQuery(connection_.get(), sql));
    no_limit();
    co_return result;
}

Task<void> Connection::reset() {
    prepared_.reset();
    co_await command("discard all");
}

/// Sends what is left to send, then reads until the server is ready for the next statement.
Task<Result> Connection::answer(int sent) {
    auto* const connection = connection_.get();
    if (sent != 1) {
        throw error("cannot send");
    }
    for (int left = PQflush(connection); left != 0; left = PQflush(connection)) {
        if (left < 0) {
            throw error("cannot send");
        }
        co_await wait(Descriptor::wait_write);
    }
    Result result;
    for (;;) {
        while (PQisBusy(connection) != 0) {
            co_await wait(Descriptor::wait_read);
            if (PQconsumeInput(connection) != 1) {
                throw error("connection lost");
            }
        }
        auto* const next = PQgetResult(connection);
        if (next == nullptr) {
            break;
        }
        result = Result(next);
    }
    if (!succeeded(result.get())) {
        const auto* const sqlstate = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
        throw Error(one_line(PQresultErrorMessage(result.get())),
                    sqlstate == nullptr ? "" : sqlstate);
    }
    co_return result;
}

Task<void> Connection::wait(Descriptor::wait_type what) {
    const auto [failure] = co_await socket_->async_wait(what, as_tuple);
    if (failure) {
        throw Error(failure == asio::error::operation_aborted ? "no answer in time"
                                                              : failure.message());
    }
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

bool Connection::usable() const {
    return PQstatus(connection_.get()) == CONNECTION_OK &&
           PQtransactionStatus(connection_.get()) == PQTRANS_IDLE;
}

bool Connection::stale() const {
    char byte = 0;
    const auto read = recv(PQsocket(connection_.get()), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return read >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

Error Connection::error(std::string_view what) const {
    return Error(std::string(what) + ": " + one_line(PQerrorMessage(connection_.get())));
}

std::string Connection::name_of(Query query) const {
    const auto* const name = statement(query).name;
    return generation_ == 0 ? name : name + ('_' + std::to_string(generation_));
}

}  // namespace tandem::pg
