#include "pg/result.hpp"

#include <boost/endian/conversion.hpp>
#include <chrono>
#include <format>

namespace tandem::pg {
namespace {

/// A number in network order.
template <typename Integer>
Integer number(std::string_view bytes) {
    if (bytes.size() != sizeof(Integer)) {
        throw Error("a number has the wrong length");
    }
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    return boost::endian::endian_load<Integer, sizeof(Integer), boost::endian::order::big>(data);
}

/// Takes bytes off the front.
std::string_view take(std::string_view& bytes, std::size_t size) {
    if (bytes.size() < size) {
        throw Error("a value is too short");
    }
    const auto taken = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return taken;
}

}  // namespace

std::int32_t decode_int4(std::string_view bytes) {
    return number<std::int32_t>(bytes);
}

/// Microseconds since the year 2000, in UTC whatever the session's time zone is.
std::string decode_timestamptz(std::string_view bytes) {
    using namespace std::chrono;
    constexpr sys_days epoch{year{2000} / 1 / 1};
    const auto time = floor<seconds>(epoch + microseconds{number<std::int64_t>(bytes)});
    const auto midnight = floor<days>(time);
    const year_month_day date(midnight);
    const hh_mm_ss clock(time - midnight);
    // The fields one by one: the chrono formatter takes several times as long.
    return std::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

/// Dimensions, a flag for nulls, the element type; per dimension length and lower bound; then each
/// element with its length before it. Written by array_send in PostgreSQL's arrayfuncs.c.
std::vector<std::string> decode_text_array(std::string_view bytes) {
    const auto next = [&] { return number<std::int32_t>(take(bytes, sizeof(std::int32_t))); };
    const auto dimensions = next();
    next();
    next();
    if (dimensions == 0) {
        return {};
    }
    next();
    next();
    if (dimensions != 1) {
        throw Error("an array has more than one dimension");
    }
    std::vector<std::string> elements;
    while (!bytes.empty()) {
        // The length of a null is -1, which is too long for any value.
        elements.emplace_back(take(bytes, static_cast<std::size_t>(next())));
    }
    return elements;
}

std::string Row::text(int column) const {
    constexpr Oid timestamptz = 1184;  // of pg_type, which never changes
    return PQftype(result_, column) == timestamptz ? decode_timestamptz(bytes(column))
                                                   : std::string(bytes(column));
}

std::string_view Row::bytes(int column) const {
    if (is_null(column)) {
        throw Error("a value is null");
    }
    return {PQgetvalue(result_, row_, column),
            static_cast<std::size_t>(PQgetlength(result_, row_, column))};
}

}  // namespace tandem::pg
