// The scenario `work`: numbers that are added, and how long is waited.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "responses.hpp"

namespace tandem {

/// `delay_ms` of the query, 0 without one: digits up to 10000, else Refusal.
std::chrono::milliseconds parse_delay(const Request& request);

/// A JSON array of 32-bit integers, else Refusal.
std::vector<std::int32_t> parse_numbers(std::string_view body);

std::int64_t sum_of(const std::vector<std::int32_t>& numbers);
Response sum_response(std::int64_t sum);

}  // namespace tandem
