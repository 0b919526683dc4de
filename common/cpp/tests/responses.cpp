#include "responses.hpp"

#include <boost/beast/http/error.hpp>
#include <catch2/catch_test_macros.hpp>
#include <new>
#include <string>
#include <vector>

#include "models.hpp"
#include "pg/result.hpp"
#include "standard_error.hpp"

using namespace tandem;

TEST_CASE("keys come in their order, kind first, and empty optionals are null") {
    const Note note{.id = 3,
                    .text = "t",
                    .created = "1970-01-01T00:00:00Z",
                    .modified = "2024-06-01T12:00:00Z",
                    .created_by = {.id = -1, .email = "a@b", .name = std::nullopt},
                    .last_modified_by = std::nullopt,
                    .reactions = {}};
    CHECK(json_response(note).body() ==
          R"({"kind":"note","id":3,"text":"t","created":"1970-01-01T00:00:00Z",)"
          R"("modified":"2024-06-01T12:00:00Z","created_by":{"id":-1,"email":"a@b","name":null},)"
          R"("last_modified_by":null,"reactions":[]})");
}

TEST_CASE("text is escaped no more than needed") {
    const std::vector<std::string> texts{"crème \"½\" <A&B> 汤 a\\b/c\n\t\r\b\f", "\x01\x1f\x7f"};
    CHECK(json_response(texts).body() == R"(["crème \"½\" <A&B> 汤 a\\b/c\n\t\r\b\f","\u0001\u001f)"
                                         "\x7f\"]");
}

TEST_CASE("an error is JSON") {
    auto response = error_response(http::status::unauthorized);
    finish(response, Request(), true);
    CHECK(response.result_int() == 401);
    CHECK(response.body() == R"({"error":"unauthorized"})");
    CHECK(std::string(response[http::field::content_type]) == "application/json");
    CHECK(std::string(response[http::field::date]).ends_with(" GMT"));
}

TEST_CASE("an outage is 503, everything else is a bug, and both are logged") {
    StandardError standard_error;
    CHECK(failure_response(pg::Unavailable("away")).result_int() == 503);
    CHECK(failure_response(pg::Error("no such table")).result_int() == 500);
    CHECK(failure_response(std::bad_alloc()).result_int() == 500);
    CHECK(failure_response(Refusal(http::status::not_found)).result_int() == 404);
    const auto text = standard_error.text();
    CHECK(text.contains("away"));
    CHECK(text.contains("no such table"));
    CHECK(text.contains("bad_alloc"));
    CHECK_FALSE(text.contains("refused"));
}

TEST_CASE("what cannot be read is refused, unless nobody is there") {
    CHECK(unreadable_response(http::error::bad_target).result_int() == 400);
    CHECK(unreadable_response(http::error::body_limit).result_int() == 413);
    CHECK_FALSE(has_gone({}));
    CHECK_FALSE(has_gone(http::error::bad_target));
    for (const boost::system::error_code gone :
         {make_error_code(http::error::end_of_stream),
          make_error_code(http::error::partial_message),
          make_error_code(boost::system::errc::connection_reset)}) {
        CHECK(has_gone(gone));
    }
}
