#include "work.hpp"

#include <charconv>
#include <numeric>
#include <string>

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "requests.hpp"

namespace tandem {

std::chrono::milliseconds parse_delay(const Request& request) {
    constexpr unsigned longest_ms = 10'000;
    const auto url = boost::urls::parse_origin_form(request.target());
    if (!url) {
        throw Refusal(http::status::bad_request);
    }
    unsigned delay_ms = 0;
    for (const auto& parameter : url->params()) {
        if (parameter.key == "delay_ms") {
            const auto* end = parameter.value.data() + parameter.value.size();
            const auto [stop, error] = std::from_chars(parameter.value.data(), end, delay_ms);
            if (error != std::errc{} || stop != end || delay_ms > longest_ms) {
                throw Refusal(http::status::bad_request);
            }
        }
    }
    return std::chrono::milliseconds(delay_ms);
}

std::vector<std::int32_t> parse_numbers(std::string_view body) {
    return parse_json<std::vector<std::int32_t>>(body);
}

std::int64_t sum_of(const std::vector<std::int32_t>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

Response sum_response(std::int64_t sum) {
    return text_response("Sum: " + std::to_string(sum));
}

}  // namespace tandem
