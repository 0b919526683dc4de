#include "router.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "refused.hpp"

using namespace tandem;
using boost::beast::http::verb;

namespace {

const Router<int> router{{
    {verb::get, "/", 1},
    {verb::get, "/recipes", 2},
    {verb::get, "/recipes/{id}", 3},
    {verb::post, "/recipes/{id}/notes", 4},
    {verb::get, "/user/{id}", 5},
    {verb::delete_, "/user/{id}", 6},
}};

}  // namespace

TEST_CASE("a request goes to the handler of its path and method, with the id") {
    struct Request {
        verb method;
        std::string target;
        int handler;
        std::string id = {};
    };
    const std::vector<Request> requests{
        {verb::get, "/", 1},
        {verb::get, "/?x", 1},
        {verb::get, "/recipes", 2},
        {verb::get, "/recipes/7?x=/y", 3, "7"},
        {verb::get, "/recipes/notes", 3, "notes"},
        {verb::post, "/recipes/x/notes", 4, "x"},
        {verb::get, "/user/1", 5, "1"},
        {verb::delete_, "/user/1", 6, "1"},
    };
    for (const auto& [method, target, handler, id] : requests) {
        INFO(target);
        CHECK(router.find(method, target) == std::pair(handler, std::string_view(id)));
    }
}

TEST_CASE("another path is not found, another method not allowed") {
    for (const auto* target : {"", "*", "/nothing", "/recipes/", "/recipes/1/2", "/recipes//notes",
                               "/recipes/1/2/notes", "/user", "/user/"}) {
        INFO(target);
        CHECK(status_of([&] { return router.find(verb::get, target); }) == http::status::not_found);
    }
    const auto put = [] { return router.find(verb::put, "/user/1"); };
    CHECK(status_of(put) == http::status::method_not_allowed);
    const auto get = [] { return router.find(verb::get, "/recipes/1/notes"); };
    CHECK(status_of(get) == http::status::method_not_allowed);
}
