// From a checked call to its answer.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <string>

#include "async.hpp"
#include "config.hpp"
#include "pg/pool.hpp"
#include "repository.hpp"
#include "responses.hpp"
#include "routes.hpp"
#include "users.hpp"
#include "worker.hpp"

namespace tandem {

/// What the threads of this process share.
struct Shared {
    explicit Shared(const Config& config);

    const Config& config;
    pg::Pool pool;
    Users users;
    asio::thread_pool offload;
};

/// Used by one thread.
class Handlers {
public:
    Handlers(Shared& shared, Worker& worker)
        : shared_(shared),
          worker_(worker),
          repository_(shared.pool, shared.config.db_time_zone, worker) {}

    /// Whether there is a pool whose counts say something.
    [[nodiscard]] bool tells_pool() const { return shared_.config.db_persistent; }

    /// The answer, whatever happens: what fails is a 503 and a line in the log.
    Task<Response> handle(const Call& call, std::string body);

private:
    Task<Response> answer(const Call& call, std::string body);
    Task<Response> work(std::chrono::milliseconds delay, std::string body);

    Shared& shared_;
    Worker& worker_;
    Repository repository_;
};

}  // namespace tandem
