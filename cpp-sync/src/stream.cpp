#include "stream.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <cerrno>

#include "exchange.hpp"

namespace tandem {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds idle_limit = idle_time;

void set_limit(int socket, int option, milliseconds limit) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(limit);
    const timeval value{
        .tv_sec = seconds.count(),
        .tv_usec = std::chrono::microseconds(limit - seconds).count(),
    };
    ::setsockopt(socket, SOL_SOCKET, option, &value, sizeof value);
}

ErrorCode last_error() {
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return boost::asio::error::timed_out;
    }
    return {errno, boost::system::system_category()};
}

}  // namespace

Stream::Stream(int socket) : socket_(socket), read_limit_(idle_limit) {
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    set_limit(socket_, SO_RCVTIMEO, idle_limit);
    set_limit(socket_, SO_SNDTIMEO, write_time);
}

Stream::~Stream() {
    ::close(socket_);
}

void Stream::expect_idle(std::chrono::seconds then) {
    idle_ = true;
    then_ = then;
}

void Stream::expires_after(std::chrono::seconds limit) {
    idle_ = false;
    deadline_ = Clock::now() + limit;
}

std::size_t Stream::read(Vectors vectors, ErrorCode& error) {
    if (!set_read_limit()) {
        error = boost::asio::error::timed_out;
        return 0;
    }
    ssize_t size = 0;
    do {
        size = ::readv(socket_, vectors.items.data(), static_cast<int>(vectors.count));
    } while (size < 0 && errno == EINTR);
    if (idle_) {
        expires_after(then_);
    }
    if (size > 0) {
        error = {};
        return static_cast<std::size_t>(size);
    }
    error = size == 0 ? ErrorCode(boost::asio::error::eof) : last_error();
    return 0;
}

std::size_t Stream::write(Vectors vectors, ErrorCode& error) {
    msghdr message{};
    message.msg_iov = vectors.items.data();
    message.msg_iovlen = vectors.count;
    ssize_t size = 0;
    do {
        size = ::sendmsg(socket_, &message, MSG_NOSIGNAL);
    } while (size < 0 && errno == EINTR);
    error = size < 0 ? last_error() : ErrorCode();
    const auto written = size < 0 ? 0 : static_cast<std::size_t>(size);
    if (!error && written < vectors.bytes) {
        // The kernel takes all that a blocking call gives it, unless the time is over.
        error = boost::asio::error::timed_out;
    }
    return written;
}

/// False if the time is up. A request that comes in one piece, as most do, needs no call here.
bool Stream::set_read_limit() {
    const auto left =
        idle_ ? idle_limit : std::chrono::ceil<milliseconds>(deadline_ - Clock::now());
    if (left.count() <= 0) {
        return false;
    }
    if (left != read_limit_) {
        set_limit(socket_, SO_RCVTIMEO, left);
        read_limit_ = left;
    }
    return true;
}

void Stream::linger() {
    constexpr std::size_t chunk = 16'384;
    std::array<char, chunk> ignored;
    expires_after(linger_time);
    ::shutdown(socket_, SHUT_WR);
    ErrorCode error;
    while (!error) {
        read_some(boost::asio::buffer(ignored), error);
    }
}

}  // namespace tandem
