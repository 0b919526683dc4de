// From results to answers, and the answers that wait for nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "errors.hpp"
#include "json.hpp"
#include "responses.hpp"
#include "routes.hpp"
#include "users.hpp"

namespace tandem {

/// Nothing for the endpoints that ask the database or take their time.
std::optional<Response> immediate_answer(const Call& call, Users& users);

std::int64_t sum_of(const std::vector<std::int32_t>& numbers);
Response sum_response(std::int64_t sum);

template <typename T>
Response json_answer(const Expected<T>& result,
                     boost::beast::http::status status = boost::beast::http::status::ok) {
    return result ? json_response(json::to_string(*result), status)
                  : error_response(result.error());
}

}  // namespace tandem
