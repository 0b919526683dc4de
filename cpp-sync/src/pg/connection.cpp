#include "pg/connection.hpp"

#include <cerrno>
#include <system_error>

#include "pg/limits.hpp"

namespace tandem::pg {

Connection::Connection(const Options& options, bool prepare, Clock::time_point deadline)
    : protocol_(prepare) {
    auto wants = protocol_.connect(options);
    while (wants != Wants::nothing) {
        wait(wants, deadline);
        wants = protocol_.go_on_connecting();
    }
}

Result Connection::run(const Query& query, const Parameters& parameters) {
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
    const auto left = std::chrono::ceil<std::chrono::microseconds>(deadline - Clock::now());
    const auto end = PQgetCurrentTimeUSec() + left.count();
    int ready = 0;
    do {
        ready = left.count() <= 0 ? 0
                                  : PQsocketPoll(protocol_.socket(), what != Wants::write,
                                                 what != Wants::read, end);
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0) {
        throw Unavailable(ready == 0 ? "no answer in time"
                                     : std::generic_category().message(errno));
    }
}

}  // namespace tandem::pg
