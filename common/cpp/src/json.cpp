#include "json.hpp"

#include <chrono>
#include <format>
#include <iterator>

namespace tandem::json {
namespace {

constexpr unsigned char first_printable = 0x20;

bool must_escape(unsigned char byte) {
    return byte < first_printable || byte == '"' || byte == '\\';
}

void write_escape(std::string& out, unsigned char byte) {
    switch (byte) {
        case '"':
            out.append("\\\"");
            break;
        case '\\':
            out.append("\\\\");
            break;
        case '\b':
            out.append("\\b");
            break;
        case '\f':
            out.append("\\f");
            break;
        case '\n':
            out.append("\\n");
            break;
        case '\r':
            out.append("\\r");
            break;
        case '\t':
            out.append("\\t");
            break;
        default:
            std::format_to(std::back_inserter(out), "\\u{:04x}", byte);
    }
}

}  // namespace

void write_string(std::string& out, std::string_view text) {
    out.push_back('"');
    std::size_t written = 0;
    for (std::size_t index = 0; index < text.size(); ++index) {
        const auto byte = static_cast<unsigned char>(text[index]);
        if (must_escape(byte)) {
            out.append(text, written, index - written);
            write_escape(out, byte);
            written = index + 1;
        }
    }
    out.append(text, written);
    out.push_back('"');
}

void write_time(std::string& out, Time time) {
    const auto midnight = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(midnight);
    const std::chrono::hh_mm_ss clock(time - midnight);
    // The fields one by one: the chrono formatter takes several times as long.
    std::format_to(std::back_inserter(out), "\"{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z\"",
                   static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                   static_cast<unsigned>(date.day()), clock.hours().count(),
                   clock.minutes().count(), clock.seconds().count());
}

}  // namespace tandem::json
