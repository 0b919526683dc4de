// A connection to PostgreSQL whose user waits as a coroutine.
#pragma once

#include <memory>
#include <optional>

#include "async.hpp"
#include "pg/protocol.hpp"
#include "pg/target.hpp"
#include "watchdog.hpp"
#include "worker.hpp"

namespace tandem::pg {

/// Every member function may throw Error; the connection is then to be looked at with `usable`.
class Connection final : public Watched {
public:
    static Task<std::unique_ptr<Connection>> open(Worker& worker, Target& target, bool prepare);

    /// One statement; the texts among the parameters stay with the caller.
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

    [[nodiscard]] bool usable() const { return protocol_.usable(); }
    [[nodiscard]] bool stale() const { return protocol_.stale(); }
    [[nodiscard]] Clock::duration age() const { return protocol_.age(); }

private:
    Connection(Worker& worker, bool prepare);

    void expire() override;
    Task<void> connect(Target& target);
    void take_socket();
    Task<Result> answer();
    Task<void> wait(Wants what);
    Task<void> wait_for_either();

    Worker* worker_;
    Protocol protocol_;
    // A duplicate of libpq's.
    std::optional<Descriptor> socket_;
    std::optional<Resolver> resolver_;
};

}  // namespace tandem::pg
