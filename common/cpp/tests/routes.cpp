#include "routes.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "errors.hpp"
#include "responses.hpp"

using namespace tandem;
using boost::beast::http::verb;

namespace {

boost::beast::http::request_header<> head(verb method, std::string_view target,
                                          std::string_view cookie = {}) {
    boost::beast::http::request_header<> request;
    request.method(method);
    request.target(target);
    if (!cookie.empty()) {
        request.set(boost::beast::http::field::cookie, cookie);
    }
    return request;
}

struct Refused {
    verb method;
    std::string target;
    unsigned status;
    std::string allow = {};
};

}  // namespace

TEST_CASE("paths lead to endpoints, with or without their last slash") {
    const std::vector<std::pair<std::string, Endpoint>> paths{
        {"/", Endpoint::index},
        {"/index.htm", Endpoint::index},
        {"/healthz", Endpoint::healthz},
        {"/user", Endpoint::create_user},
        {"/user/", Endpoint::create_user},
        {"/user/7", Endpoint::user},
        {"/user/7/", Endpoint::user},
        {"/users", Endpoint::list_users},
        {"/work", Endpoint::work},
        {"/api/v1/recipes", Endpoint::random_recipe},
        {"/api/v1/recipes/x", Endpoint::recipe},
        {"/api/v1/recipes/1/notes", Endpoint::write_note},
        {"/api/v1/dashboard", Endpoint::dashboard},
        {"/pool", Endpoint::pool},
    };
    for (const auto& [path, endpoint] : paths) {
        INFO(path);
        const auto match = match_path(path);
        REQUIRE(match);
        CHECK(match->endpoint == endpoint);
    }
}

TEST_CASE("requests are refused in the order of the contract") {
    const std::vector<Refused> requests{
        {verb::get, "/nothing", 404},
        {verb::post, "/api/v1/recipes/", 404},
        {verb::get, "/api/v1/recipes/1/", 404},
        {verb::get, "/user/abc", 404},
        {verb::options, "*", 404},
        {verb::post, "/healthz?x", 405, "GET, HEAD"},
        {verb::get, "/work?delay_ms=x", 405, "POST"},
        {verb::head, "/user/", 405, "POST"},
        {verb::patch, "/user/1", 405, "GET, HEAD, PUT, DELETE"},
        {verb::get, "/api/v1/recipes/x/notes", 405, "POST"},
        {verb::post, "/user/1", 400},
        {verb::post, "/work?delay_ms=-1", 400},
        {verb::get, "/api/v1/recipes/0", 400},
        {verb::post, "/api/v1/recipes/x/notes", 400},
        {verb::get, "/api/v1/recipes/1", 401},
        {verb::head, "http://host/api/v1/dashboard", 401},
    };
    for (const auto& [method, target, status, allow] : requests) {
        INFO(target);
        const auto call = route(head(method, target), true);
        REQUIRE_FALSE(call);
        const auto response = error_response(call.error());
        CHECK(response.result_int() == status);
        CHECK(std::string(response[boost::beast::http::field::allow]) == allow);
    }
}

TEST_CASE("without a pool that counts its path does not exist") {
    CHECK(route(head(verb::get, "/pool"), true)->endpoint == Endpoint::pool);
    for (const auto method : {verb::get, verb::head, verb::post}) {
        CHECK_FALSE(route(head(method, "/pool"), false));
    }
}

TEST_CASE("a call has what its endpoint needs") {
    const auto call = route(head(verb::post, "/api/v1/recipes/5/notes?x", "sessionid=k"), true);
    REQUIRE(call);
    CHECK(call->recipe_id == 5);
    CHECK(call->session_key == "k");
    CHECK(route(head(verb::head, "/user/18446744073709551616"), true)->user_id == std::nullopt);
    CHECK(route(head(verb::post, "/work?delay_ms=20"), true)->delay ==
          std::chrono::milliseconds(20));
}

TEST_CASE("an error is canonical JSON") {
    auto response = error_response(Reason::unprocessable_content);
    finish(response, 11, true);
    CHECK(response.body() == R"({"error":"unprocessable content"})");
    CHECK(std::string(response[boost::beast::http::field::content_type]) == "application/json");
    CHECK(std::string(response[boost::beast::http::field::date]).ends_with(" GMT"));
}
