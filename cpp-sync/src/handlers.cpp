#include "handlers.hpp"

#include <contract_text.hpp>
#include <cstdint>
#include <format>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

#include "errors.hpp"
#include "json.hpp"
#include "requests.hpp"

namespace tandem {
namespace {

using boost::beast::http::status;
using boost::beast::http::verb;

/// The waiting is a thread that sleeps: that is what this model has.
Response work(std::chrono::milliseconds delay, std::string_view body) {
    const auto numbers = parse_numbers(body);
    const auto sum = std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
    if (delay.count() > 0) {
        std::this_thread::sleep_for(delay);
    }
    return text_response(std::format("Sum: {}", sum));
}

}  // namespace

Handlers::Handlers(const Config& config)
    : tells_pool_(config.db_persistent),
      repository_({.url = config.database_url,
                   .max = config.db_pool_max,
                   .persistent = config.db_persistent,
                   .prepare = config.db_prepare,
                   .reset = config.db_reset},
                  config.db_time_zone) {}

Response Handlers::handle(const Call& call, std::string_view body) {
    switch (call.endpoint) {
        case Endpoint::healthz:
            return json_response(R"({"status":"ok"})");
        case Endpoint::index:
            return html_response(contract_text::index);
        case Endpoint::create_user:
            return text_response(std::to_string(users_.create()));
        case Endpoint::user:
            return user(call);
        case Endpoint::list_users:
            return text_response(users_.list());
        case Endpoint::work:
            return work(call.delay, body);
        case Endpoint::random_recipe:
            return json_response(json::to_string(repository_.random_recipe(call.session_key)));
        case Endpoint::recipe:
            return json_response(
                json::to_string(repository_.recipe(call.session_key, call.recipe_id)));
        case Endpoint::write_note:
            return json_response(json::to_string(repository_.write_note(
                                     call.session_key, call.recipe_id, parse_note(body))),
                                 status::created);
        case Endpoint::dashboard:
            return json_response(json::to_string(repository_.dashboard(call.session_key)));
        case Endpoint::pool:
            return json_response(json::to_string(repository_.pool_use()));
    }
    std::unreachable();
}

Response Handlers::user(const Call& call) {
    const bool found =
        call.user_id && (call.method == verb::delete_ ? users_.remove(*call.user_id)
                                                      : users_.contains(*call.user_id));
    if (!found) {
        throw Error(Reason::not_found);
    }
    return text_response(call.method == verb::get ? "{}" : "");
}

}  // namespace tandem
