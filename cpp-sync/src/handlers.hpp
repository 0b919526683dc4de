// What each endpoint answers.
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
    explicit Handlers(const Config& config);

    /// Whether there is a pool whose counts say something.
    [[nodiscard]] bool tells_pool() const { return tells_pool_; }

    /// Throws Error, and pg::Error where the database fails.
    Response handle(const Call& call, std::string_view body);

private:
    Response user(const Call& call);

    const bool tells_pool_;
    Repository repository_;
    Users users_;
};

}  // namespace tandem
