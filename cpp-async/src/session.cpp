#include "session.hpp"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/scope/scope_exit.hpp>
#include <tuple>
#include <utility>

#include "responses.hpp"
#include "routes.hpp"

namespace tandem {
namespace {

using Parser = http::request_parser<http::string_body>;

/// For the next request to come, whole. The proxy's idle connections end before.
constexpr std::chrono::seconds read_limit{75};
constexpr std::chrono::seconds write_limit{30};
// What is read at once: Beast by itself would read 512 bytes.
constexpr std::size_t head_read = 4096;
constexpr std::size_t body_read = 32'768;

Task<error_code> read(Stream& stream, beast::flat_buffer& buffer, Parser& parser) {
    stream.expires_after(read_limit);
    buffer.reserve(head_read);
    auto [error, size] = co_await http::async_read_header(stream, buffer, parser, as_tuple);
    if (!error && !parser.is_done()) {
        buffer.reserve(body_read);
        std::tie(error, size) = co_await http::async_read(stream, buffer, parser, as_tuple);
    }
    co_return error;
}

}  // namespace

Task<void> serve_connection(App& app, Stream stream) {
    error_code ignored;
    stream.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
    beast::flat_buffer buffer;  // also holds what follows in a pipeline
    for (bool keep_alive = true; keep_alive;) {
        Parser parser;
        const auto failure = co_await read(stream, buffer, parser);
        if (has_gone(failure)) {
            break;
        }
        ++app.underway;
        const boost::scope::scope_exit answered([&app] { --app.underway; });
        const auto began = Clock::now();
        const auto& request = parser.get();
        auto response = failure ? unreadable_response(failure) : co_await answer(app, request);
        keep_alive = !failure && request.keep_alive() && !app.stopping;
        finish(response, request, keep_alive);
        if (app.config.access_log) {
            log_access(request, response, Clock::now() - began);
        }
        stream.expires_after(write_limit);
        const auto [error, size] = co_await http::async_write(stream, response, as_tuple);
        keep_alive = keep_alive && !error;
    }
    stream.socket().shutdown(asio::socket_base::shutdown_send, ignored);
}

}  // namespace tandem
