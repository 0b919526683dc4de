// The scenario `work`: adds numbers, here or on a thread of the pool, then waits.

#include "work.hpp"

#include <boost/asio/co_spawn.hpp>
#include <utility>

#include "routes.hpp"

namespace tandem {
namespace {

/// Runs `function` on a thread of the pool; its result and its exception come back to this one.
template <typename Function>
auto run_on(asio::thread_pool& pool, Function function) -> Task<decltype(function())> {
    co_return co_await asio::co_spawn(
        pool,
        [function = std::move(function)]() mutable
            -> asio::awaitable<decltype(function()), asio::thread_pool::executor_type> {
            co_return function();
        },
        use_task);
}

Task<std::int64_t> sum(App& app, const std::string& body) {
    if (app.config.offload == Offload::parse_and_sum) {
        co_return co_await run_on(app.offload, [&body] { return sum_of(parse_numbers(body)); });
    }
    const auto numbers = parse_numbers(body);
    if (app.config.offload == Offload::sum) {
        co_return co_await run_on(app.offload, [&numbers] { return sum_of(numbers); });
    }
    co_return sum_of(numbers);
}

}  // namespace

Task<Response> work(App& app, const Request& request, std::string_view /*id*/) {
    const auto delay = parse_delay(request);
    const auto total = co_await sum(app, request.body());
    if (delay > delay.zero()) {
        Timer timer(co_await asio::this_coro::executor, delay);
        co_await timer.async_wait(use_task);
    }
    co_return sum_response(total);
}

}  // namespace tandem
