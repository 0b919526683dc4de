#include "pg/options.hpp"

#include <libpq-fe.h>

#include <memory>

namespace tandem::pg {

std::optional<Options> parse_url(const std::string& url) {
    const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> parsed(
        PQconninfoParse(url.c_str(), nullptr), &PQconninfoFree);
    if (!parsed || !url.starts_with("postgres")) {
        return std::nullopt;
    }
    Options options{
        // Looking for a Kerberos ticket reads files, and there is none.
        {"gssencmode", "disable"},
        // The kernel gives up a server that stops acknowledging; the unit is ms.
        {"tcp_user_timeout", "2000"},
    };
    for (const auto* option = parsed.get(); option->keyword != nullptr; ++option) {
        if (option->val != nullptr) {
            options[option->keyword] = option->val;
        }
    }
    options["client_encoding"] = "UTF8";
    return options;
}

}  // namespace tandem::pg
