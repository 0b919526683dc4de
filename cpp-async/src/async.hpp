// Asio's types with the one executor of this program. The default, any_io_executor, would add an
// indirect call to each step of each coroutine.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/basic_stream.hpp>

#include <chrono>

namespace tandem {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

using Clock = std::chrono::steady_clock;
using Executor = asio::io_context::executor_type;

template <typename T>
using Task = asio::awaitable<T, Executor>;

using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, Executor>;
using Stream = beast::basic_stream<asio::ip::tcp, Executor>;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;

inline constexpr asio::use_awaitable_t<Executor> use_task;
/// Gives the error code as the first element of a tuple instead of throwing it.
inline constexpr asio::as_tuple_t<asio::use_awaitable_t<Executor>> as_tuple{use_task};

}  // namespace tandem
