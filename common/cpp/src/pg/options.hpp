// How to connect: the URL's options and ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tandem::pg {

/// Names and values, as PQconnectStartParams takes them.
struct Options {
    std::vector<std::string> names;
    std::vector<std::string> values;

    void set(std::string_view name, const std::string& value);
    [[nodiscard]] std::string get(std::string_view name) const;
};

/// What the URL says, and what it leaves open. Throws Error if libpq cannot read it.
Options options_of(const std::string& url);

}  // namespace tandem::pg
