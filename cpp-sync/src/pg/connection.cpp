#include "pg/connection.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "pg/limits.hpp"

namespace tandem::pg {
namespace {

short events(Wants what) {
    switch (what) {
        case Wants::read:
            return POLLIN;
        case Wants::write:
            return POLLOUT;
        default:
            return POLLIN | POLLOUT;
    }
}

}  // namespace

Connection::Connection(const Options& options, bool prepare, Clock::time_point deadline)
    : protocol_(prepare) {
    auto wants = protocol_.connect(options);
    while (wants != Wants::nothing) {
        wait(wants, deadline);
        wants = protocol_.go_on_connecting();
    }
}

Result Connection::run(Query query, const Parameters& parameters) {
    protocol_.start(query, parameters);
    return answer();
}

Result Connection::command(const char* sql) {
    protocol_.start(sql);
    return answer();
}

void Connection::reset() {
    command("discard all");
    protocol_.forget_prepared();
}

Result Connection::answer() {
    const auto deadline = Clock::now() + statement_limit;
    for (auto wants = protocol_.advance(); wants != Wants::nothing; wants = protocol_.advance()) {
        wait(wants, deadline);
    }
    return protocol_.take();
}

void Connection::wait(Wants what, Clock::time_point deadline) const {
    pollfd watched{.fd = protocol_.socket(), .events = events(what), .revents = 0};
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        const auto limit = std::max<std::chrono::milliseconds::rep>(left.count(), 0);
        const int ready = ::poll(&watched, 1, static_cast<int>(limit));
        if (ready > 0) {
            return;
        }
        if (ready == 0) {
            throw Error("no answer in time");
        }
        if (errno != EINTR) {
            throw Error(std::system_category().message(errno));
        }
    }
}

}  // namespace tandem::pg
