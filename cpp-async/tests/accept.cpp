#include "accept.hpp"

#include <catch2/catch_test_macros.hpp>
#include <new>

#include "run.hpp"

using namespace tandem;

TEST_CASE("a connection that cannot be begun does not end accepting") {
    Worker worker(0);
    auto& context = worker.context;
    const asio::ip::tcp::endpoint any_port(asio::ip::address_v4::loopback(), 0);
    Acceptor acceptor(context, any_port);
    asio::io_context clients;
    asio::ip::tcp::socket first(clients);
    asio::ip::tcp::socket second(clients);
    first.connect(acceptor.local_endpoint());
    second.connect(acceptor.local_endpoint());

    int begun = 0;
    asio::co_spawn(context,
                   accept_all(
                       acceptor, [&]() -> auto& { return context; },
                       [&](const Socket&) {
                           if (++begun == 1) {
                               throw std::bad_alloc();
                           }
                           acceptor.close();
                           context.stop();
                       }),
                   [](const std::exception_ptr&) {});
    context.run_for(std::chrono::seconds(5));
    CHECK(begun == 2);
}
