// What all requests share.
#pragma once

#include <atomic>

#include "config.hpp"
#include "pg/pool.hpp"
#include "repository.hpp"
#include "users.hpp"

namespace tandem {

struct App {
    explicit App(const Config& given) : config(given), pool(config), repository(config, pool) {}

    const Config config;
    pg::Pool pool;
    Repository repository;
    Users users;
    std::atomic<int> underway = 0;  // requests that are being answered
    std::atomic<bool> stopping = false;
};

}  // namespace tandem
