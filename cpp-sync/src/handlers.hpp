// From a checked call to its answer.
#pragma once

#include <string_view>

#include "config.hpp"
#include "repository.hpp"
#include "responses.hpp"
#include "routes.hpp"
#include "users.hpp"

namespace tandem {

/// Safe to use from several threads; a call blocks until its answer is there.
class Handlers {
public:
    explicit Handlers(const Config& config)
        : tells_pool_(config.db_persistent), repository_(config) {}

    /// Whether there is a pool whose counts say something.
    [[nodiscard]] bool tells_pool() const { return tells_pool_; }

    /// The answer, whatever happens: what fails is a 503 and a line in the log.
    Response handle(const Call& call, std::string_view body);

private:
    Response answer(const Call& call, std::string_view body);

    const bool tells_pool_;
    Repository repository_;
    Users users_;
};

}  // namespace tandem
