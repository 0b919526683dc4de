// Time limits of sockets. A timer per read and per statement would be armed and cancelled thousands
// of times a second and hardly ever expire; a limit here is one assignment, looked at ten times a
// second.
#pragma once

#include <boost/intrusive/list.hpp>

#include "async.hpp"

namespace tandem {

/// Something with a time limit. Belongs to one thread while it is watched.
class Watched : public boost::intrusive::list_base_hook<
                    boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    Watched() = default;
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

protected:
    ~Watched() = default;

    void limit(Clock::duration time) {
        deadline_ = Clock::now() + time;
        expired_ = false;
    }
    void no_limit() {
        deadline_ = Clock::time_point::max();
        expired_ = false;
    }

    /// Whether the time is over since the last limit. To be asked before each wait: what was
    /// waited for may have completed before it could be cancelled.
    [[nodiscard]] bool expired() const { return expired_; }

private:
    friend class Watchdog;

    /// Cancels what the object waits for; the waiting coroutine sees operation_aborted later.
    virtual void expire() = 0;

    Clock::time_point deadline_ = Clock::time_point::max();
    bool expired_ = false;
};

/// Tells the objects of one thread when their time is over.
class Watchdog {
public:
    explicit Watchdog(asio::io_context& context);

    /// Until the object is destroyed or unlinked.
    void watch(Watched& object) { objects_.push_back(object); }

    /// Calls `function` on each object of that type.
    template <typename T, typename Function>
    void for_each(Function function) {
        for (auto& object : objects_) {
            if (auto* const found = dynamic_cast<T*>(&object)) {
                function(*found);
            }
        }
    }

private:
    Task<void> run();

    Timer timer_;
    boost::intrusive::list<Watched, boost::intrusive::constant_time_size<false>> objects_;
};

}  // namespace tandem
