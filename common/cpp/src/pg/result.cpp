#include "pg/result.hpp"

#include <boost/endian/conversion.hpp>

namespace tandem::pg {
namespace {

/// Takes a number in network order off the front.
template <class Integer>
Integer take(std::string_view& bytes) {
    if (bytes.size() < sizeof(Integer)) {
        throw Error("a value is too short");
    }
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    const auto number =
        boost::endian::endian_load<Integer, sizeof(Integer), boost::endian::order::big>(data);
    bytes.remove_prefix(sizeof(Integer));
    return number;
}

template <class Integer>
Integer whole(std::string_view bytes) {
    const auto number = take<Integer>(bytes);
    if (!bytes.empty()) {
        throw Error("a value is too long");
    }
    return number;
}

}  // namespace

std::int32_t decode_int4(std::string_view bytes) {
    return whole<std::int32_t>(bytes);
}

/// Microseconds since the year 2000, in UTC whatever the session's time zone is. Cut to seconds.
Time decode_timestamptz(std::string_view bytes) {
    constexpr std::chrono::sys_days epoch{std::chrono::year{2000} / 1 / 1};
    const std::chrono::microseconds since{whole<std::int64_t>(bytes)};
    return std::chrono::floor<std::chrono::seconds>(epoch + since);
}

/// Dimensions, a flag for nulls, the element type; per dimension length and lower bound; then each
/// element with its length before it. Written by array_send in PostgreSQL's arrayfuncs.c.
std::vector<std::string> decode_text_array(std::string_view bytes) {
    const auto dimensions = take<std::int32_t>(bytes);
    take<std::int32_t>(bytes);
    take<std::int32_t>(bytes);
    if (dimensions == 0) {
        return {};
    }
    const auto length = take<std::int32_t>(bytes);
    take<std::int32_t>(bytes);
    if (dimensions != 1 || length < 0) {
        throw Error("an array has more than one dimension");
    }
    std::vector<std::string> elements;
    for (std::int32_t index = 0; index < length; ++index) {
        const auto size = take<std::int32_t>(bytes);
        if (size < 0 || static_cast<std::size_t>(size) > bytes.size()) {
            throw Error("an element of an array is null or too long");
        }
        elements.emplace_back(bytes.substr(0, static_cast<std::size_t>(size)));
        bytes.remove_prefix(static_cast<std::size_t>(size));
    }
    return elements;
}

std::optional<std::int32_t> Row::optional_int4(int column) const {
    return is_null(column) ? std::nullopt : std::optional{int4(column)};
}

std::optional<std::string> Row::optional_text(int column) const {
    return is_null(column) ? std::nullopt : std::optional{text(column)};
}

std::optional<Time> Row::optional_timestamptz(int column) const {
    return is_null(column) ? std::nullopt : std::optional{timestamptz(column)};
}

std::string_view Row::bytes(int column) const {
    if (is_null(column)) {
        throw Error("a value is null");
    }
    return {PQgetvalue(result_, row_, column),
            static_cast<std::size_t>(PQgetlength(result_, row_, column))};
}

}  // namespace tandem::pg
