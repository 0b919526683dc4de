// A connection to PostgreSQL whose user waits as a thread.
#pragma once

#include <chrono>

#include "pg/protocol.hpp"

namespace tandem::pg {

using Clock = std::chrono::steady_clock;

/// Every member function may throw Error; the connection is then to be looked at with `usable`.
class Connection : public Protocol {
public:
    /// Connects until the deadline.
    Connection(const Options& options, bool prepare, Clock::time_point deadline);

    /// One statement.
    Result run(const Query& query, const Parameters& parameters);

    /// `begin`, `commit` and their like.
    Result command(const char* sql);

private:
    Result answer();
    void wait(Wants what, Clock::time_point deadline) const;
};

}  // namespace tandem::pg
