#include "log.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <format>
#include <string>
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
    if (level < threshold) {
        return;
    }
    const auto now =
        std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    const auto* name = names.at(static_cast<std::size_t>(std::to_underlying(level)));
    const auto line = std::format("{:%FT%TZ} {} {}\n", now, name, message);
    std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace tandem
