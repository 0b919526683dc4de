#include "handlers.hpp"

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <utility>

#include "answers.hpp"
#include "errors.hpp"
#include "requests.hpp"

namespace tandem {
namespace {

using boost::beast::http::status;

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

}  // namespace

Shared::Shared(const Config& config)
    : config(config), pool(config), offload(config.offload == Offload::none ? 0 : config.threads) {}

Task<Response> Handlers::handle(const Call& call, std::string body) {
    try {
        if (auto response = immediate_answer(call, shared_.users)) {
            co_return *std::move(response);
        }
        co_return co_await answer(call, std::move(body));
    } catch (const std::exception& error) {
        co_return unavailable_response(error);
    }
}

Task<Response> Handlers::answer(const Call& call, std::string body) {
    switch (call.endpoint) {
        case Endpoint::work:
            co_return co_await work(call.delay, std::move(body));
        case Endpoint::random_recipe:
            co_return json_answer(co_await repository_.recipe(call.session_key, AnyRecipe{}));
        case Endpoint::recipe:
            co_return json_answer(co_await repository_.recipe(call.session_key, call.recipe_id));
        case Endpoint::write_note: {
            const auto text = parse_note(body);
            if (!text) {
                co_return error_response(text.error());
            }
            co_return json_answer(
                co_await repository_.write_note(call.session_key, call.recipe_id, *text),
                status::created);
        }
        case Endpoint::dashboard:
            co_return json_answer(co_await repository_.dashboard(call.session_key));
        case Endpoint::pool:
            co_return json_response(json::to_string(shared_.pool.use()));
        default:
            std::unreachable();
    }
}

Task<Response> Handlers::work(std::chrono::milliseconds delay, std::string body) {
    Expected<std::int64_t> sum = 0;
    switch (shared_.config.offload) {
        case Offload::none:
            sum = parse_numbers(body).transform(sum_of);
            break;
        case Offload::sum:
            if (auto numbers = parse_numbers(body)) {
                sum = co_await run_on(shared_.offload,
                                      [numbers = *std::move(numbers)] { return sum_of(numbers); });
            } else {
                sum = std::unexpected(numbers.error());
            }
            break;
        case Offload::parse_and_sum:
            sum = co_await run_on(shared_.offload, [body = std::move(body)] {
                return parse_numbers(body).transform(sum_of);
            });
            break;
    }
    if (!sum) {
        co_return error_response(sum.error());
    }
    if (delay > delay.zero()) {
        Timer timer(worker_.context, delay);
        co_await timer.async_wait(use_task);
    }
    co_return sum_response(*sum);
}

}  // namespace tandem
