// libpq without blocking: its requests are sent as far as the socket takes them, then Asio waits.
// https://www.postgresql.org/docs/17/libpq-async.html
#pragma once

#include <libpq-fe.h>

#include <array>
#include <bitset>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "async.hpp"
#include "pg/result.hpp"
#include "pg/target.hpp"
#include "queries.hpp"
#include "watchdog.hpp"
#include "worker.hpp"

namespace tandem::pg {

/// A text must stay where it is until the statement is answered.
using Parameter = std::variant<std::int32_t, std::string_view>;

/// Held by value: an initializer_list does not live as long as a coroutine.
class Parameters {
public:
    static constexpr std::size_t most = 3;

    template <typename... Values>
    Parameters(Values... values) : values_{Parameter(values)...}, size_(sizeof...(values)) {}

    [[nodiscard]] std::span<const Parameter> values() const { return {values_.data(), size_}; }

private:
    std::array<Parameter, most> values_;
    std::size_t size_;
};

/// Every member function may throw Error; the connection is then to be looked at with `usable`.
class Connection final : public Watched {
public:
    /// Nothing is prepared yet: that happens when a statement is used for the first time.
    static Task<std::unique_ptr<Connection>> open(Worker& worker, Target& target, bool prepare);

    ~Connection();

    /// One statement. Sends its text unless it is prepared.
    Task<Result> run(Query query, Parameters parameters);

    /// `begin`, `commit` and their like.
    Task<Result> command(const char* sql);

    /// Forgets all that the session holds, prepared statements too.
    Task<void> reset();

    /// Moves to the thread that is going to use it.
    void attach(Worker& worker);
    /// Between two users nobody watches it.
    void detach() { unlink(); }
    [[nodiscard]] Worker& worker() const { return *worker_; }

    /// Neither broken nor in the middle of something.
    [[nodiscard]] bool usable() const;
    /// Whether the server closed it, or sent what nobody asked for, while it was idle.
    [[nodiscard]] bool stale() const;
    [[nodiscard]] Clock::duration age() const { return Clock::now() - opened_; }

private:
    Connection(Worker& worker, bool prepare);

    void expire() override;
    Task<void> connect(Target& target);
    Task<Result> execute(Query query, Parameters parameters);
    Task<Result> answer(int sent);
    Task<void> wait(Descriptor::wait_type what);
    [[nodiscard]] Error error(std::string_view what) const;
    [[nodiscard]] std::string name_of(Query query) const;

    struct Finish {
        void operator()(PGconn* connection) const { PQfinish(connection); }
    };

    Worker* worker_;
    std::unique_ptr<PGconn, Finish> connection_;
    // libpq owns the file descriptor: it is released, never closed, from here.
    std::optional<Descriptor> socket_;
    std::optional<Resolver> resolver_;
    bool prepare_;
    std::bitset<query_count> prepared_;
    int generation_ = 0;
    Clock::time_point opened_ = Clock::now();
};

}  // namespace tandem::pg
