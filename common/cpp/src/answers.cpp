#include "answers.hpp"

#include <contract_text.hpp>
#include <numeric>
#include <string>

namespace tandem {
namespace {

using boost::beast::http::verb;

Response user_answer(const Call& call, Users& users) {
    const bool found =
        call.user_id && (call.method == verb::delete_ ? users.remove(*call.user_id)
                                                      : users.contains(*call.user_id));
    if (!found) {
        return error_response(Reason::not_found);
    }
    return text_response(call.method == verb::get ? "{}" : "");
}

}  // namespace

std::optional<Response> immediate_answer(const Call& call, Users& users) {
    switch (call.endpoint) {
        case Endpoint::healthz:
            return json_response(R"({"status":"ok"})");
        case Endpoint::index:
            return html_response(contract_text::index);
        case Endpoint::create_user:
            return text_response(std::to_string(users.create()));
        case Endpoint::user:
            return user_answer(call, users);
        case Endpoint::list_users:
            return text_response(users.list());
        default:
            return std::nullopt;
    }
}

std::int64_t sum_of(const std::vector<std::int32_t>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

Response sum_response(std::int64_t sum) {
    return text_response("Sum: " + std::to_string(sum));
}

}  // namespace tandem
