#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "pg/result.hpp"

using namespace std::literals;
using namespace tandem::pg;

TEST_CASE("integers are in network order") {
    CHECK(decode_int4("\x00\x00\x00\x01"sv) == 1);
    CHECK(decode_int4("\x7f\xff\xff\xff"sv) == 2'147'483'647);
    CHECK(decode_int4("\xff\xff\xff\xfe"sv) == -2);
    CHECK_THROWS_AS(decode_int4("\x00\x00\x01"sv), Error);
    CHECK_THROWS_AS(decode_int4("\x00\x00\x00\x00\x01"sv), Error);
}

TEST_CASE("moments are microseconds since 2000, cut to seconds") {
    CHECK(decode_timestamptz("\0\0\0\0\0\0\0\0"sv) == "2000-01-01T00:00:00Z");
    CHECK(decode_timestamptz("\0\0\0\0\0\x1e\x84\x7f"sv) == "2000-01-01T00:00:01Z");  // 1.999999 s
    CHECK(decode_timestamptz("\xff\xff\xff\xff\xff\xff\xff\xff"sv) == "1999-12-31T23:59:59Z");
    CHECK_THROWS_AS(decode_timestamptz("\0\0\0\0"sv), Error);
}

TEST_CASE("arrays of texts") {
    const std::string head = "\0\0\0\1\0\0\0\0\0\0\0\x19"s;
    CHECK(decode_text_array("\0\0\0\0\0\0\0\0\0\0\0\x19"sv).empty());
    CHECK(decode_text_array(head + "\0\0\0\2\0\0\0\1\0\0\0\1a\0\0\0\0"s) ==
          std::vector<std::string>{"a", ""});
    CHECK_THROWS_AS(decode_text_array(head + "\0\0\0\1\0\0\0\1\xff\xff\xff\xff"s), Error);
    CHECK_THROWS_AS(decode_text_array(head + "\0\0\0\1\0\0\0\1\0\0\0\5a"s), Error);
    CHECK_THROWS_AS(decode_text_array("\0\0\0\2\0\0\0\0\0\0\0\x19"s + "\0\0\0\1\0\0\0\1"s), Error);
}
