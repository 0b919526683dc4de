#include "process.hpp"

#include <sys/resource.h>

#include <cstdlib>
#include <exception>
#include <iostream>

#include "log.hpp"
#include "settings.hpp"

namespace tandem {
namespace {

constexpr int bad_configuration = 2;

/// The soft limit is low for the sake of old programs that use select().
void raise_open_file_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
}

}  // namespace

int run_process(const std::function<void()>& serve) {
    try {
        raise_open_file_limit();
        serve();
        return EXIT_SUCCESS;
    } catch (const ConfigError& error) {
        std::cerr << error.what() << '\n';
        return bad_configuration;
    } catch (const std::exception& error) {
        log(LogLevel::error, error.what());
        return EXIT_FAILURE;
    }
}

}  // namespace tandem
