#include "requests.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <ranges>
#include <string>
#include <utility>

#include <boost/beast/http/field.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace tandem {
namespace {

namespace http = boost::beast::http;
namespace json = boost::json;

constexpr std::uint32_t longest_delay_ms = 10'000;
constexpr std::size_t longest_note = 10'000;

bool is_digit(char character) {
    return '0' <= character && character <= '9';
}

/// Nothing if there is anything but digits, or more than the type can hold.
template <typename Number>
std::optional<Number> parse_digits(std::string_view text) {
    Number number{};
    if (!is_digits(text) ||
        std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{}) {
        return std::nullopt;
    }
    return number;
}

/// What is no escape stays as it is.
std::string percent_decoded(std::string_view text) {
    constexpr std::size_t digits = 2;
    constexpr int hexadecimal = 16;
    std::string out;
    while (!text.empty()) {
        unsigned char byte = 0;
        const auto code = text.substr(1, digits);
        const auto* end = code.data() + code.size();
        const auto read = std::from_chars(code.data(), end, byte, hexadecimal);
        if (text.front() == '%' && code.size() == digits && read.ptr == end) {
            out.push_back(static_cast<char>(byte));
            text.remove_prefix(1 + digits);
        } else {
            out.push_back(text.front());
            text.remove_prefix(1);
        }
    }
    return out;
}

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_printable_ascii(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return ' ' < c && c <= '~'; });
}

/// Parser events: collects the numbers of one flat array without a tree of values. It reads on
/// after an item of another kind, because what is not JSON at all comes first in the order of
/// refusal.
class NumbersHandler {
public:
    // The names and signatures are those that basic_parser asks for.
    static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_array_size = max_object_size;
    static constexpr std::size_t max_key_size = max_object_size;
    static constexpr std::size_t max_string_size = max_object_size;

    std::vector<std::int32_t> numbers;
    bool matches = true;

    bool on_document_begin(json::error_code&) { return true; }
    bool on_document_end(json::error_code&) { return true; }
    bool on_array_begin(json::error_code&) {
        matches = matches && depth_++ == 0;
        return true;
    }
    bool on_array_end(std::size_t, json::error_code&) { return true; }
    bool on_object_begin(json::error_code&) { return other(); }
    bool on_object_end(std::size_t, json::error_code&) { return true; }
    bool on_key_part(json::string_view, std::size_t, json::error_code&) { return true; }
    bool on_key(json::string_view, std::size_t, json::error_code&) { return true; }
    bool on_string_part(json::string_view, std::size_t, json::error_code&) { return true; }
    bool on_string(json::string_view, std::size_t, json::error_code&) { return other(); }
    bool on_number_part(json::string_view, json::error_code&) { return true; }
    bool on_int64(std::int64_t number, json::string_view, json::error_code&) {
        if (depth_ != 1 || !std::in_range<std::int32_t>(number)) {
            return other();
        }
        numbers.push_back(static_cast<std::int32_t>(number));
        return true;
    }
    bool on_uint64(std::uint64_t, json::string_view, json::error_code&) { return other(); }
    bool on_double(double, json::string_view, json::error_code&) { return other(); }
    bool on_bool(bool, json::error_code&) { return other(); }
    bool on_null(json::error_code&) { return other(); }
    bool on_comment_part(json::string_view, json::error_code&) { return true; }
    bool on_comment(json::string_view, json::error_code&) { return true; }

private:
    bool other() {
        matches = false;
        return true;
    }

    std::size_t depth_ = 0;  // never decreases: a second array does not match anyway
};

/// Of valid UTF-8: every byte that does not continue a character begins one.
std::size_t count_characters(std::string_view text) {
    constexpr unsigned continuation_mask = 0xC0;
    constexpr unsigned continuation = 0x80;
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char byte) {
        return (static_cast<unsigned char>(byte) & continuation_mask) != continuation;
    }));
}

}  // namespace

std::optional<std::int32_t> parse_recipe_id(std::string_view text) {
    return text.starts_with('0') ? std::nullopt : parse_digits<std::int32_t>(text);
}

bool is_digits(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, is_digit);
}

std::optional<std::uint64_t> parse_user_id(std::string_view digits) {
    return parse_digits<std::uint64_t>(digits);
}

Expected<std::chrono::milliseconds> parse_delay(std::string_view query) {
    // Names and values may be percent-encoded: https://url.spec.whatwg.org/#urlencoded-parsing
    constexpr std::string_view name = "delay_ms";
    std::optional<std::chrono::milliseconds> found;
    for (const auto part : std::views::split(query, '&')) {
        const std::string_view parameter(part);
        const auto equals = parameter.find('=');
        if (percent_decoded(parameter.substr(0, equals)) != name) {
            continue;
        }
        const auto value = equals == std::string_view::npos ? "" : parameter.substr(equals + 1);
        const auto delay = parse_digits<std::uint32_t>(percent_decoded(value));
        if (found || !delay || *delay > longest_delay_ms) {
            return refuse(Reason::bad_request);
        }
        found = std::chrono::milliseconds(*delay);
    }
    return found.value_or(std::chrono::milliseconds(0));
}

std::optional<std::string> session_key(const http::fields& headers) {
    constexpr std::string_view name = "sessionid=";
    std::string_view key;
    const auto [first, last] = headers.equal_range(http::field::cookie);
    for (const auto& header : std::ranges::subrange(first, last)) {
        for (const auto part : std::views::split(std::string_view(header.value()), ';')) {
            const auto pair = trim(std::string_view(part));
            if (pair.starts_with(name)) {
                key = pair.substr(name.size());
            }
        }
    }
    if (key.empty() || !is_printable_ascii(key)) {
        return std::nullopt;
    }
    return std::string(key);
}

Expected<std::vector<std::int32_t>> parse_numbers(std::string_view body) {
    json::basic_parser<NumbersHandler> parser(json::parse_options{});
    json::error_code error;
    const auto read = parser.write_some(false, body.data(), body.size(), error);
    if (error || read != body.size()) {
        return refuse(Reason::bad_request);
    }
    if (!parser.handler().matches) {
        return refuse(Reason::unprocessable_content);
    }
    return std::move(parser.handler().numbers);
}

Expected<std::string> parse_note(std::string_view body) {
    json::monotonic_resource memory;  // the tree is thrown away as a whole
    json::error_code error;
    const auto document = json::parse(body, error, &memory);
    if (error) {
        return refuse(Reason::bad_request);
    }
    const auto* object = document.if_object();
    const auto* member =
        object != nullptr && object->size() == 1 ? object->if_contains("text") : nullptr;
    const auto* text = member != nullptr ? member->if_string() : nullptr;
    if (text == nullptr || text->empty() || text->find('\0') != json::string::npos ||
        count_characters(*text) > longest_note) {
        return refuse(Reason::unprocessable_content);
    }
    return std::string(text->data(), text->size());
}

}  // namespace tandem
