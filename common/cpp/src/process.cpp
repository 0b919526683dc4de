#include "process.hpp"

#include <sys/resource.h>

#include <cstdlib>
#include <exception>

#include "log.hpp"

namespace tandem {
namespace {

/// The soft limit is low for the sake of old programs that use select().
void raise_open_file_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/// Names are looked up without a time limit, and the resolver's own is 5 s twice.
void limit_name_lookups() {
    constexpr int keep_the_users = 0;
    ::setenv("RES_OPTIONS", "timeout:1 attempts:1", keep_the_users);
}

}  // namespace

int run_process(const std::function<void()>& serve) {
    try {
        raise_open_file_limit();
        limit_name_lookups();
        serve();
        return EXIT_SUCCESS;
    } catch (const std::exception& error) {
        log(LogLevel::error, error.what());
        return EXIT_FAILURE;
    }
}

}  // namespace tandem
