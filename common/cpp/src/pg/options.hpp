// How to connect: the URL's options and ours.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace tandem::pg {

/// By the names of libpq.
using Options = std::map<std::string, std::string>;

/// What the URL says, and what it leaves open; nothing if libpq cannot read it.
std::optional<Options> parse_url(const std::string& url);

}  // namespace tandem::pg
