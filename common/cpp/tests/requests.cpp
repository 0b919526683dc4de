#include "requests.hpp"

#include <catch2/catch_test_macros.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "errors.hpp"

using namespace tandem;

namespace {

std::optional<std::string> found(std::initializer_list<std::string_view> cookies) {
    boost::beast::http::fields headers;
    for (const auto cookie : cookies) {
        headers.insert(boost::beast::http::field::cookie, cookie);
    }
    return session_key(headers);
}

std::string note(const std::string& text) {
    return R"({"text":")" + text + R"("})";
}

}  // namespace

TEST_CASE("recipe ids are plain decimal numbers") {
    CHECK(parse_recipe_id("1") == 1);
    CHECK(parse_recipe_id("2147483647") == 2'147'483'647);
    for (const auto* bad : {"", "0", "01", "+1", "-1", "1.0", "1e3", " 1", "1 ", "x", "１", "%31",
                            "2147483648", "99999999999999999999"}) {
        INFO(bad);
        CHECK(!parse_recipe_id(bad));
    }
}

TEST_CASE("the delay is 0 to 10000 ms") {
    using std::chrono::milliseconds;
    CHECK(parse_delay("") == milliseconds(0));
    CHECK(parse_delay("x=1&delay=2") == milliseconds(0));
    CHECK(parse_delay("x=%zz&delay_ms=20") == milliseconds(20));
    CHECK(parse_delay("delay_ms=10000") == milliseconds(10'000));
    CHECK(parse_delay("%64elay%5Fms=%32%30") == milliseconds(20));
    CHECK(parse_delay("x%=1&%=2&%6=3") == milliseconds(0));
    for (const auto* bad :
         {"delay_ms", "delay_ms=", "delay_ms=-1", "delay_ms=+1", "delay_ms=1.5", "delay_ms=10001",
          "delay_ms=99999999999", "delay_ms=x", "delay_ms=%", "delay_ms=1%", "delay_ms=%2B1",
          "delay_ms=1%00", "delay_ms=%+1", "%64elay_ms=x", "delay_ms=1&%64elay_ms=1",
          "delay_ms=1&delay_ms=1", "delay_ms=1&x&delay_ms"}) {
        INFO(bad);
        CHECK(parse_delay(bad).error().reason == Reason::bad_request);
    }
}

TEST_CASE("the session is found among cookies and headers") {
    CHECK(!found({}));
    CHECK(!found({"a=b; xsessionid=k; sessionid"}));
    CHECK(!found({"sessionid="}));
    CHECK(!found({"sessionid=\xc3\xa9"}));
    CHECK(found({"a=b;sessionid=k=1;c=d"}) == "k=1");
    CHECK(found({"a=\xff; sessionid=k"}) == "k");
    CHECK(found({"a=b", "sessionid=k"}) == "k");
    CHECK(found({"sessionid=k; sessionid=l"}) == "l");
}

TEST_CASE("numbers are 32-bit integers in one array") {
    CHECK(parse_numbers(" [ ] ")->empty());
    CHECK(parse_numbers("[1, -2147483648,\n2147483647]") ==
          std::vector<std::int32_t>{1, -2'147'483'648, 2'147'483'647});
    for (const auto* other : {"{}", "1", "null", "\"1\"", "[1.0]", "[1.5]", "[1e2]", "[true]",
                              "[null]", "[[1]]", "[[],1]", "[{}]", "[\"1\"]", "[2147483648]",
                              "[-2147483649]", "[18446744073709551615]", "{\"a\":[1]}"}) {
        INFO(other);
        CHECK(parse_numbers(other).error().reason == Reason::unprocessable_content);
    }
    for (const auto* bad : {"", " ", "[", "]", "[1", "[1,]", "[1] 2", "[1][2]", "nan", "[01]",
                            "[+1]", "[\"a\",", "[\"\xff\"]", "\xef\xbb\xbf[1]"}) {
        INFO(bad);
        CHECK(parse_numbers(bad).error().reason == Reason::bad_request);
    }
    CHECK(parse_numbers(std::string(100'000, '[')).error().reason == Reason::bad_request);
}

TEST_CASE("a note is an object with a text and nothing else") {
    CHECK(parse_note(note("a\\u00e9\\ud83d\\ude00")) == "aé😀");
    std::string longest;
    for (int count = 0; count < 10'000; ++count) {
        longest += "汤";
    }
    CHECK(parse_note(note(longest)) == longest);
    for (const auto& other : {note(""), note(longest + "a"), note("\\u0000"), std::string("[]"),
                              std::string("{}"), std::string(R"({"text":1})"),
                              std::string(R"({"text":null})"), std::string(R"({"Text":"a"})"),
                              std::string(R"({"text":"a","more":1})"), std::string("\"text\"")}) {
        CHECK(parse_note(other).error().reason == Reason::unprocessable_content);
    }
    for (const auto& bad : {std::string(), note("\\ud83d"), note("\xff"), note("\n"),
                            std::string(R"({"text":"a")"), std::string("{'text':'a'}")}) {
        CHECK(parse_note(bad).error().reason == Reason::bad_request);
    }
}
