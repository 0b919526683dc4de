#include "pg/connection.hpp"

#include <cerrno>
#include <system_error>

#include "pg/limits.hpp"

namespace tandem::pg {

Connection::Connection(const Options& options, bool prepare, Clock::time_point deadline)
    : Protocol(prepare) {
    auto wants = connect(options);
    while (wants != Wants::nothing) {
        wait(wants, deadline);
        wants = go_on_connecting();
    }
}

Result Connection::run(const Query& query, const Parameters& parameters) {
    start(query, parameters);
    return answer();
}

Result Connection::command(const char* sql) {
    start(sql);
    return answer();
}

Result Connection::answer() {
    const auto deadline = Clock::now() + statement_limit;
    for (auto wants = advance(); wants != Wants::nothing; wants = advance()) {
        wait(wants, deadline);
    }
    return take();
}

void Connection::wait(Wants what, Clock::time_point deadline) const {
    const auto left = std::chrono::ceil<std::chrono::microseconds>(deadline - Clock::now());
    const auto end = PQgetCurrentTimeUSec() + left.count();
    int ready = 0;
    do {
        ready = left.count() <= 0
                    ? 0
                    : PQsocketPoll(socket(), what != Wants::write, what != Wants::read, end);
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0) {
        throw Unavailable(ready == 0 ? "no answer in time"
                                     : std::generic_category().message(errno));
    }
}

}  // namespace tandem::pg
