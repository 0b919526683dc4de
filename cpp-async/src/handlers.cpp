#include "handlers.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <contract_text.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "errors.hpp"
#include "json.hpp"
#include "log.hpp"
#include "requests.hpp"

namespace tandem {
namespace {

using boost::beast::http::status;
using boost::beast::http::verb;

std::int64_t sum_of(const std::vector<std::int32_t>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

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
        co_return co_await answer(call, std::move(body));
    } catch (const Error& error) {
        co_return error_response(error);
    } catch (const std::exception& error) {
        log(LogLevel::warn, error.what());
        co_return error_response(Error(Reason::database_unavailable));
    }
}

Task<Response> Handlers::answer(const Call& call, std::string body) {
    switch (call.endpoint) {
        case Endpoint::healthz:
            co_return json_response(R"({"status":"ok"})");
        case Endpoint::index:
            co_return html_response(contract_text::index);
        case Endpoint::create_user:
            co_return text_response(std::to_string(shared_.users.create()));
        case Endpoint::user:
            co_return user(call);
        case Endpoint::list_users:
            co_return text_response(shared_.users.list());
        case Endpoint::work:
            co_return co_await work(call.delay, std::move(body));
        case Endpoint::random_recipe:
            co_return json_response(
                json::to_string(co_await repository_.recipe(call.session_key, AnyRecipe{})));
        case Endpoint::recipe:
            co_return json_response(
                json::to_string(co_await repository_.recipe(call.session_key, call.recipe_id)));
        case Endpoint::write_note: {
            const auto text = parse_note(body);
            const auto id = co_await repository_.write_note(call.session_key, call.recipe_id, text);
            co_return json_response(json::to_string(id), status::created);
        }
        case Endpoint::dashboard:
            co_return json_response(
                json::to_string(co_await repository_.dashboard(call.session_key)));
        case Endpoint::pool:
            co_return json_response(json::to_string(shared_.pool.use()));
    }
    throw Error(Reason::not_found);
}

Response Handlers::user(const Call& call) {
    const bool found =
        call.user_id && (call.method == verb::delete_ ? shared_.users.remove(*call.user_id)
                                                      : shared_.users.contains(*call.user_id));
    if (!found) {
        throw Error(Reason::not_found);
    }
    return text_response(call.method == verb::get ? "{}" : "");
}

Task<Response> Handlers::work(std::chrono::milliseconds delay, std::string body) {
    std::int64_t sum = 0;
    switch (shared_.config.offload) {
        case Offload::none:
            sum = sum_of(parse_numbers(body));
            break;
        case Offload::sum:
            sum = co_await run_on(shared_.offload,
                                  [numbers = parse_numbers(body)] { return sum_of(numbers); });
            break;
        case Offload::parse_and_sum:
            sum = co_await run_on(shared_.offload,
                                  [body = std::move(body)] { return sum_of(parse_numbers(body)); });
            break;
    }
    if (delay > delay.zero()) {
        Timer timer(worker_.context, delay);
        co_await timer.async_wait(use_task);
    }
    co_return text_response("Sum: " + std::to_string(sum));
}

}  // namespace tandem
