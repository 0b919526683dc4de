#include "users.hpp"

#include <catch2/catch_test_macros.hpp>

TEST_CASE("ids count up from 0, and removed ones are gone") {
    tandem::Users users;
    CHECK(users.list().empty());
    for (std::uint64_t id = 0; id < 12; ++id) {
        CHECK(users.create() == id);
    }
    CHECK(users.remove(1));
    CHECK(!users.remove(1));
    CHECK(!users.contains(1));
    CHECK(users.contains(11));
    CHECK(users.list() == "0,2,3,4,5,6,7,8,9,10,11");
}
