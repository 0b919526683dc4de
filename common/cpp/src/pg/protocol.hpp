// A connection to PostgreSQL but for the waiting: libpq without blocking, and what is prepared on
// it. Its owner waits, with a thread or a coroutine:
// https://www.postgresql.org/docs/17/libpq-async.html
#pragma once

#include <libpq-fe.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "pg/options.hpp"
#include "pg/parameters.hpp"
#include "pg/result.hpp"
#include "queries.hpp"

namespace tandem::pg {

/// What the socket has to be ready for before it can go on.
enum class Wants { nothing, read, write, read_or_write };

/// Every function may throw Error; the connection is then to be looked at with `usable`.
class Protocol {
public:
    /// Neither broken nor in the middle of something, nor told of an outage, such as a plan that
    /// the server gave up when the tables changed.
    [[nodiscard]] bool usable() const;
    /// Whether the server closed it, or sent what nobody asked for, while it was idle.
    [[nodiscard]] bool stale() const;
    [[nodiscard]] std::chrono::steady_clock::duration age() const {
        return std::chrono::steady_clock::now() - opened_;
    }

protected:
    /// With `prepare` each statement is prepared at its first use, else its text is sent.
    explicit Protocol(bool prepare) : prepare_(prepare) {}

    /// Begins to connect. What it wants is to be waited for before each `go_on_connecting`.
    Wants connect(const Options& options);
    Wants go_on_connecting();

    /// Another one after each wait while it is connecting.
    [[nodiscard]] int socket() const { return PQsocket(connection_.get()); }

    /// Sends one statement or command; `advance` until it wants nothing, then `take`.
    void start(const Query& query, const Parameters& parameters);
    void start(const char* command);

    /// Sends what is left to send and takes in what has come.
    Wants advance();

    /// The answer of what was started. DISCARD ALL also forgets what was prepared.
    Result take();

private:
    void next_of_query();
    void sent(int ok) const;
    [[nodiscard]] Unavailable lost(std::string_view what) const;

    struct Finish {
        void operator()(PGconn* connection) const { PQfinish(connection); }
    };

    std::unique_ptr<PGconn, Finish> connection_;
    std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
    bool prepare_;
    std::set<const Query*> prepared_;
    bool usable_ = true;

    // Of what was started last.
    const Query* query_ = nullptr;
    Parameters parameters_;
    Result result_;
    bool preparing_ = false;
    bool waited_ = false;
};

}  // namespace tandem::pg
