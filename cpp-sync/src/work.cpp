// The scenario `work`: adds numbers, then waits. The waiting is a thread that sleeps.

#include "work.hpp"

#include <thread>

#include "routes.hpp"

namespace tandem {

Response work(App& /*app*/, const Request& request, std::string_view /*id*/) {
    const auto delay = parse_delay(request);
    const auto total = sum_of(parse_numbers(request.body()));
    std::this_thread::sleep_for(delay);
    return sum_response(total);
}

}  // namespace tandem
