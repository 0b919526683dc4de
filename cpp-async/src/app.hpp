// What all requests share.
#pragma once

#include <atomic>
#include <boost/asio/thread_pool.hpp>

#include "async.hpp"
#include "config.hpp"
#include "pg/pool.hpp"
#include "repository.hpp"
#include "users.hpp"

namespace tandem {

struct App {
    App(const Config& given, const Executor& executor)
        : config(given),
          pool(config, executor),
          repository(config, pool),
          offload(config.offload == Offload::none ? 0 : config.threads) {}

    const Config config;
    pg::Pool pool;
    Repository repository;
    Users users;
    asio::thread_pool offload;
    std::atomic<int> underway = 0;  // requests that are being answered
    std::atomic<bool> stopping = false;
};

}  // namespace tandem
