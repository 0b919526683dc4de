#include "watchdog.hpp"

#include <boost/asio/post.hpp>
#include <catch2/catch_test_macros.hpp>

#include "run.hpp"

using namespace tandem;
using namespace std::chrono_literals;

namespace {

/// Never waits for anything that could be cancelled: what it asks for has always completed.
class Busy final : public Watched {
public:
    Task<void> run(Worker& worker) {
        worker.watchdog.watch(*this);
        limit(50ms);
        const auto give_up = Clock::now() + 2s;
        while (!expired() && Clock::now() < give_up) {
            co_await asio::post(worker.context, use_task);
        }
        seen = expired();
        no_limit();
        cleared = !expired();
    }

    bool seen = false;
    bool cleared = false;
    int told = 0;

private:
    void expire() override { ++told; }
};

}  // namespace

TEST_CASE("who could not be cancelled learns that its time is over") {
    Worker worker(0);
    Busy busy;
    run_on(worker, busy.run(worker));
    CHECK(busy.told == 1);
    CHECK(busy.seen);
    CHECK(busy.cleared);
}
