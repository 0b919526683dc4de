#include "errors.hpp"

#include <array>
#include <utility>

namespace tandem {
namespace {

using boost::beast::http::status;

struct Answer {
    status code;
    std::string_view message;
};

/// In the order of Reason.
constexpr std::array answers{
    Answer{status::bad_request, "bad request"},
    Answer{status::unauthorized, "unauthorized"},
    Answer{status::not_found, "not found"},
    Answer{status::method_not_allowed, "method not allowed"},
    Answer{status::payload_too_large, "payload too large"},
    Answer{status::unprocessable_entity, "unprocessable content"},
    Answer{status::service_unavailable, "database unavailable"},
};

const Answer& answer_of(Reason reason) {
    return answers.at(static_cast<std::size_t>(std::to_underlying(reason)));
}

}  // namespace

status status_of(Reason reason) {
    return answer_of(reason).code;
}

std::string_view message_of(Reason reason) {
    return answer_of(reason).message;
}

}  // namespace tandem
