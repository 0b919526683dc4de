#include "body.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/beast/_experimental/test/stream.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace tandem;

TEST_CASE("a body is read in large pieces") {
    const std::string body(1'000'000, ' ');
    boost::asio::io_context context;
    boost::beast::test::stream stream(context);
    stream.append("POST /work HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) +
                  "\r\n\r\n" + body);
    boost::beast::flat_buffer buffer(2 * std::size_t{head_limit});
    Parser parser;
    limit_head(parser);
    boost::system::error_code error;
    boost::beast::http::read_header(stream, buffer, parser, error);
    REQUIRE(!error);
    const auto before = stream.nread();
    read_body_from(stream, buffer, parser, error);
    REQUIRE(!error);
    CHECK(parser.get().body() == body);
    CHECK(stream.nread() - before <= body.size() / body_read + 2);
}
