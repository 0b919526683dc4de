// The time limits of the contract for what is asked of the database.
#pragma once

#include <chrono>

namespace tandem::pg {

/// For a connection, a new one included: then the answer is 503.
inline constexpr std::chrono::milliseconds acquire_limit{1500};
inline constexpr std::chrono::seconds statement_limit{2};
/// A connection that is older is closed when it comes back.
inline constexpr std::chrono::minutes longest_life{30};

}  // namespace tandem::pg
