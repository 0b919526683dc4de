#include "requests.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "refused.hpp"

using namespace tandem;

namespace {

std::string found(std::string_view cookies) {
    Request request;
    request.set(http::field::cookie, cookies);
    return std::string(session_key(request));
}

std::string note(const std::string& text) {
    return R"({"text":")" + text + R"("})";
}

}  // namespace

TEST_CASE("recipe ids are decimal numbers from 1") {
    CHECK(parse_recipe_id("1") == 1);
    CHECK(parse_recipe_id("2147483647") == 2'147'483'647);
    for (const auto* bad :
         {"", "0", "+1", "-1", "1.0", "1e3", " 1", "1 ", "x", "%31", "2147483648"}) {
        INFO(bad);
        CHECK(status_of([&] { parse_recipe_id(bad); }) == http::status::bad_request);
    }
}

TEST_CASE("the session is found among cookies") {
    CHECK(status_of([] { session_key(Request()); }) == http::status::unauthorized);
    for (const auto* none : {"", ";", "a=b; xsessionid=k; sessionid", "sessionid=", "SESSIONID=k",
                             "sessionid=\xc3\xa9"}) {
        INFO(none);
        CHECK(status_of([&] { found(none); }) == http::status::unauthorized);
    }
    CHECK(found("sessionid=k") == "k");
    CHECK(found("a=b;sessionid=k=1;c=d") == "k=1");
    CHECK(found("a=\xff; sessionid=k") == "k");
}

TEST_CASE("a note is an object with a text") {
    CHECK(parse_note(note("a\\u00e9\\ud83d\\ude00")) == "aé😀");
    std::string longest;
    for (int count = 0; count < 10'000; ++count) {
        longest += "汤";
    }
    CHECK(parse_note(note(longest)) == longest);
    for (const auto& bad :
         {note(""), note(longest + "a"), note("\\u0000"), note("\\ud83d"), note("\xff"), note("\n"),
          std::string(), std::string("[]"), std::string("{}"), std::string(R"({"text":1})"),
          std::string(R"({"text":null})"), std::string(R"({"Text":"a"})"), std::string("\"text\""),
          std::string(R"({"text":"a")"), std::string("{'text':'a'}")}) {
        INFO(bad);
        CHECK(status_of([&] { parse_note(bad); }) == http::status::bad_request);
    }
}
