#include "pg/options.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <memory>

#include "pg/result.hpp"

namespace tandem::pg {

void Options::set(std::string_view name, const std::string& value) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
        names.emplace_back(name);
        values.push_back(value);
    } else {
        values[static_cast<std::size_t>(found - names.begin())] = value;
    }
}

std::string Options::get(std::string_view name) const {
    const auto found = std::ranges::find(names, name);
    return found == names.end() ? "" : values[static_cast<std::size_t>(found - names.begin())];
}

Options options_of(const std::string& url) {
    const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> parsed(
        PQconninfoParse(url.c_str(), nullptr), &PQconninfoFree);
    if (!parsed) {
        throw Error("not a database URL");
    }
    Options options;
    // Looking for a Kerberos ticket reads files, and there is none.
    options.set("gssencmode", "disable");
    // The kernel gives up a server that stops acknowledging; the unit is ms.
    options.set("tcp_user_timeout", "2000");
    for (const auto* option = parsed.get(); option->keyword != nullptr; ++option) {
        if (option->val != nullptr) {
            options.set(option->keyword, option->val);
        }
    }
    options.set("client_encoding", "UTF8");
    return options;
}

}  // namespace tandem::pg
