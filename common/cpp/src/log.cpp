#include "log.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <print>
#include <utility>

namespace tandem {
namespace {

LogLevel threshold = LogLevel::warn;
constexpr std::array names{"DEBUG", "INFO", "WARN", "ERROR"};

}  // namespace

void set_log_level(LogLevel least) {
    threshold = least;
}

void log(LogLevel level, std::string_view message) {
    using namespace std::chrono;
    if (level >= threshold) {
        const auto now = floor<milliseconds>(system_clock::now());
        std::println(stderr, "{:%FT%TZ} {} {}", now, names.at(std::to_underlying(level)), message);
    }
}

}  // namespace tandem
