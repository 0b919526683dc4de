#include "handlers.hpp"

#include <exception>
#include <thread>
#include <utility>

#include "answers.hpp"
#include "requests.hpp"

namespace tandem {
namespace {

using boost::beast::http::status;

/// The waiting is a thread that sleeps: that is what this model has.
Response work(std::chrono::milliseconds delay, std::string_view body) {
    const auto sum = parse_numbers(body).transform(sum_of);
    if (!sum) {
        return error_response(sum.error());
    }
    if (delay > delay.zero()) {
        std::this_thread::sleep_for(delay);
    }
    return sum_response(*sum);
}

}  // namespace

Response Handlers::handle(const Call& call, std::string_view body) {
    try {
        if (auto response = immediate_answer(call, users_)) {
            return *std::move(response);
        }
        return answer(call, body);
    } catch (const std::exception& error) {
        return unavailable_response(error);
    }
}

Response Handlers::answer(const Call& call, std::string_view body) {
    switch (call.endpoint) {
        case Endpoint::work:
            return work(call.delay, body);
        case Endpoint::random_recipe:
            return json_answer(repository_.recipe(call.session_key, AnyRecipe{}));
        case Endpoint::recipe:
            return json_answer(repository_.recipe(call.session_key, call.recipe_id));
        case Endpoint::write_note: {
            const auto text = parse_note(body);
            if (!text) {
                return error_response(text.error());
            }
            return json_answer(repository_.write_note(call.session_key, call.recipe_id, *text),
                               status::created);
        }
        case Endpoint::dashboard:
            return json_answer(repository_.dashboard(call.session_key));
        case Endpoint::pool:
            return json_response(json::to_string(repository_.pool_use()));
        default:
            std::unreachable();
    }
}

}  // namespace tandem
