#include "work.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "refused.hpp"

using namespace tandem;
using namespace std::chrono_literals;

namespace {

std::chrono::milliseconds delay(const std::string& query) {
    Request request;
    request.target("/work" + query);
    return parse_delay(request);
}

}  // namespace

TEST_CASE("the delay is 0 to 10000 ms") {
    CHECK(delay("") == 0ms);
    CHECK(delay("?x=1&delay=2") == 0ms);
    CHECK(delay("?delay_ms=10000") == 10s);
    CHECK(delay("?%64elay%5Fms=%32%30") == 20ms);
    for (const auto* bad :
         {"?delay_ms", "?delay_ms=", "?delay_ms=-1", "?delay_ms=%2B1", "?delay_ms=1.5",
          "?delay_ms=10001", "?delay_ms=99999999999", "?delay_ms=x", "?delay_ms=%"}) {
        INFO(bad);
        CHECK(status_of([&] { delay(bad); }) == http::status::bad_request);
    }
}

TEST_CASE("numbers are 32-bit integers in one array") {
    CHECK(parse_numbers(" [ ] ").empty());
    CHECK(parse_numbers("[1, -2147483648,\n2147483647]") ==
          std::vector<std::int32_t>{1, -2'147'483'648, 2'147'483'647});
    for (const auto* bad :
         {"", "[", "[1", "[1,]", "[1] 2", "nan", "{}", "1", "null", "[1.5]", "[true]", "[null]",
          "[[1]]", "[\"1\"]", "[2147483648]", "[-2147483649]", "[18446744073709551615]"}) {
        INFO(bad);
        CHECK(status_of([&] { parse_numbers(bad); }) == http::status::bad_request);
    }
    CHECK(sum_of({2'147'483'647, 1}) == 2'147'483'648);
}
