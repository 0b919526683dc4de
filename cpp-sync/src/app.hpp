// What all requests share.
#pragma once

#include <atomic>

#include "config.hpp"
#include "repository.hpp"
#include "users.hpp"

namespace tandem {

struct App {
    explicit App(const Config& given) : config(given), repository(config) {}

    const Config config;
    Repository repository;
    Users users;
    std::atomic<int> underway = 0;  // requests that are being answered
    std::atomic<bool> stopping = false;
};

}  // namespace tandem
