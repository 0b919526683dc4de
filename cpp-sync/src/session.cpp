#include "session.hpp"

#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/scope/scope_exit.hpp>

#include "routes.hpp"

namespace tandem {
namespace {

using boost::system::error_code;
using Clock = std::chrono::steady_clock;

/// For the first request: who says nothing must not keep a thread.
constexpr std::chrono::seconds first_limit{3};
/// For the next one. The proxy's idle connections end before.
constexpr std::chrono::seconds idle_limit{75};
constexpr std::chrono::seconds body_limit{30};
constexpr std::chrono::seconds write_limit{30};
// What is read at once: Beast by itself would read 512 bytes.
constexpr std::size_t head_read = 4096;
constexpr std::size_t body_read = 32'768;

}  // namespace

void Session::run() {
    error_code ignored;
    socket().set_option(boost::asio::ip::tcp::no_delay(true), ignored);
    auto limit = first_limit;
    for (bool keep_alive = true; keep_alive; limit = idle_limit) {
        Parser parser;
        const auto failure = read(parser, limit);
        if (has_gone(failure)) {
            break;
        }
        ++app_.underway;
        const boost::scope::scope_exit answered([this] { --app_.underway; });
        const auto began = Clock::now();
        const auto& request = parser.get();
        auto response = failure ? unreadable_response(failure) : answer(app_, request);
        keep_alive = !failure && request.keep_alive() && !app_.stopping;
        finish(response, request, keep_alive);
        if (app_.config.access_log) {
            log_access(request, response, Clock::now() - began);
        }
        const auto unsent = block(
            write_limit, [&](auto done) { http::async_write(stream_, response, std::move(done)); });
        keep_alive = keep_alive && !unsent;
    }
    socket().shutdown(boost::asio::socket_base::shutdown_send, ignored);
}

error_code Session::read(Parser& parser, std::chrono::seconds limit) {
    buffer_.reserve(head_read);
    const auto error = block(limit, [&](auto done) {
        http::async_read_header(stream_, buffer_, parser, std::move(done));
    });
    if (error || parser.is_done()) {
        return error;
    }
    buffer_.reserve(body_read);
    return block(body_limit,
                 [&](auto done) { http::async_read(stream_, buffer_, parser, std::move(done)); });
}

}  // namespace tandem
