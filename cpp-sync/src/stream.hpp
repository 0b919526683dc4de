// A blocking TCP connection with time limits, as Beast wants its streams.
#pragma once

#include <sys/uio.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <cstddef>
#include <span>

namespace tandem {

using ErrorCode = boost::system::error_code;

/// Asio's own blocking calls know no time limit: beast::tcp_stream has one for asynchronous calls
/// only, and where the kernel's SO_RCVTIMEO ends a read, Asio goes on waiting without it.
class Stream {
public:
    using Clock = std::chrono::steady_clock;

    /// Takes over an accepted socket and closes it in the end.
    explicit Stream(int socket);
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    [[nodiscard]] int native_handle() const { return socket_; }

    /// The next read may take as long as a client may idle; those after it `then` together.
    void expect_idle(std::chrono::seconds then);

    /// All reads from now on may take `limit` together.
    void expires_after(std::chrono::seconds limit);

    template <typename Buffers>
    std::size_t read_some(const Buffers& buffers, ErrorCode& error) {
        return read(gather(buffers), error);
    }

    template <typename Buffers>
    std::size_t write_some(const Buffers& buffers, ErrorCode& error) {
        return write(gather(buffers), error);
    }

    template <typename Buffers>
    std::size_t read_some(const Buffers& buffers) {
        ErrorCode error;
        const auto size = read_some(buffers, error);
        return error ? throw boost::system::system_error(error) : size;
    }

    template <typename Buffers>
    std::size_t write_some(const Buffers& buffers) {
        ErrorCode error;
        const auto size = write_some(buffers, error);
        return error ? throw boost::system::system_error(error) : size;
    }

    /// Says that nothing more will be sent, and throws away what still comes, for a while: closing
    /// with unread data would take the answer from the client.
    void linger();

private:
    static constexpr std::size_t most_vectors = 16;

    /// Some of the buffers, as the kernel wants them; reading or writing less than all is allowed.
    struct Vectors {
        std::array<iovec, most_vectors> items;
        std::size_t count = 0;
        std::size_t bytes = 0;
    };

    template <typename Buffers>
    static Vectors gather(const Buffers& buffers) {
        Vectors vectors;
        const auto end = boost::asio::buffer_sequence_end(buffers);
        for (auto it = boost::asio::buffer_sequence_begin(buffers);
             it != end && vectors.count < most_vectors; ++it) {
            const auto buffer = *it;
            vectors.items[vectors.count++] = {const_cast<void*>(buffer.data()), buffer.size()};
            vectors.bytes += buffer.size();
        }
        return vectors;
    }

    std::size_t read(Vectors vectors, ErrorCode& error);
    std::size_t write(Vectors vectors, ErrorCode& error);
    bool set_read_limit();

    int socket_;
    bool idle_ = false;
    std::chrono::seconds then_{};
    Clock::time_point deadline_;
    std::chrono::milliseconds read_limit_;  // SO_RCVTIMEO now
};

}  // namespace tandem
