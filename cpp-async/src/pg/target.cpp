#include "pg/target.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "pg/result.hpp"

namespace tandem::pg {
namespace {

ConnectionParameters parse(const std::string& url) {
    const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(
        PQconninfoParse(url.c_str(), nullptr), &PQconninfoFree);
    if (!options) {
        throw Error("not a database URL");
    }
    ConnectionParameters parameters;
    for (const auto* option = options.get(); option->keyword != nullptr; ++option) {
        if (option->val != nullptr) {
            parameters.set(option->keyword, option->val);
        }
    }
    return parameters;
}

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

void ConnectionParameters::set(const std::string& name, const std::string& value) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
        names.push_back(name);
        values.push_back(value);
    } else {
        values[static_cast<std::size_t>(found - names.begin())] = value;
    }
}

std::string ConnectionParameters::get(std::string_view name) const {
    const auto found = std::ranges::find(names, name);
    return found == names.end() ? "" : values[static_cast<std::size_t>(found - names.begin())];
}

Target::Target(const std::string& url) : parameters_(parse(url)) {
    has_name_ = is_name(parameters_.get("host")) && parameters_.get("hostaddr").empty();
    parameters_.set("client_encoding", "UTF8");
    // Looking for a Kerberos ticket reads files, and there is none.
    if (parameters_.get("gssencmode").empty()) {
        parameters_.set("gssencmode", "disable");
    }
}

Task<ConnectionParameters> Target::resolve(Resolver& resolver) {
    auto parameters = parameters_;
    if (!has_name_) {
        co_return parameters;
    }
    std::vector<std::string> addresses;
    {
        const std::scoped_lock lock(mutex_);
        addresses = addresses_;
    }
    const auto host = parameters.get("host");
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
    parameters.set("host", repeated(host, addresses.size()));
    parameters.set("hostaddr", joined(addresses));
    co_return parameters;
}

void Target::forget() {
    const std::scoped_lock lock(mutex_);
    addresses_.clear();
}

}  // namespace tandem::pg
