#include "pg/target.hpp"

#include <tuple>
#include <utility>

#include "pg/result.hpp"

namespace tandem::pg {
namespace {

/// One name, rather than an address, the folder of a Unix socket, or a list.
bool is_name(const std::string& host) {
    error_code error;
    asio::ip::make_address(host, error);
    return error && !host.empty() && host.find_first_of("/,") == std::string::npos;
}

/// `part` as many times as there are addresses.
std::string repeated(const std::string& part, std::size_t times) {
    auto list = part;
    for (std::size_t time = 1; time < times; ++time) {
        list += ',' + part;
    }
    return list;
}

std::string joined(const std::vector<std::string>& parts) {
    std::string list;
    for (const auto& part : parts) {
        list += list.empty() ? part : ',' + part;
    }
    return list;
}

}  // namespace

Target::Target(const std::string& url) : options_(options_of(url)) {
    has_name_ = is_name(options_.get("host")) && options_.get("hostaddr").empty();
}

Task<Options> Target::resolve(Resolver& resolver) {
    auto options = options_;
    if (!has_name_) {
        co_return options;
    }
    std::vector<std::string> addresses;
    {
        const std::scoped_lock lock(mutex_);
        addresses = addresses_;
    }
    const auto host = options.get("host");
    if (addresses.empty()) {
        const auto [failure, found] = co_await resolver.async_resolve(host, "", as_tuple);
        if (failure) {
            throw Error(host + ": " + failure.message());
        }
        for (const auto& entry : found) {
            addresses.push_back(entry.endpoint().address().to_string());
        }
        const std::scoped_lock lock(mutex_);
        addresses_ = addresses;
    }
    options.set("host", repeated(host, addresses.size()));
    options.set("hostaddr", joined(addresses));
    co_return options;
}

void Target::forget() {
    const std::scoped_lock lock(mutex_);
    addresses_.clear();
}

}  // namespace tandem::pg
