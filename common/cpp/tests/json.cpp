#include "json.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>

using namespace tandem;

TEST_CASE("keys come in their order, kind first, and empty optionals are null") {
    const Note note{.id = 3,
                    .text = "t",
                    .created = Time(std::chrono::seconds(0)),
                    .modified = Time(std::chrono::seconds(1'717'243'200)),
                    .created_by = {.id = -1, .email = "a@b", .name = std::nullopt},
                    .last_modified_by = std::nullopt,
                    .reactions = {}};
    CHECK(json::to_string(note) ==
          R"({"kind":"note","id":3,"text":"t","created":"1970-01-01T00:00:00Z",)"
          R"("modified":"2024-06-01T12:00:00Z","created_by":{"id":-1,"email":"a@b","name":null},)"
          R"("last_modified_by":null,"reactions":[]})");
}

TEST_CASE("text is escaped no more than needed") {
    const std::vector<std::string> texts{"crème \"½\" <A&B> 汤 a\\b/c\n\t\r\b\f", "\x01\x1f\x7f"};
    CHECK(json::to_string(texts) == R"(["crème \"½\" <A&B> 汤 a\\b/c\n\t\r\b\f","\u0001\u001f)"
                                    "\x7f\"]");
}

TEST_CASE("numbers reach both ends of their range") {
    const std::vector<std::int32_t> numbers{-2'147'483'648, 2'147'483'647};
    CHECK(json::to_string(numbers) == "[-2147483648,2147483647]");
}
