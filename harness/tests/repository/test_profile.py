"""checks.profile: what is told of a window, of perf's report and of strace's table."""

import pytest

from checks.profile import by_owner, per_request, whose

PERF = """
# Samples: 7K of event 'cpu-clock'
#
# Children      Self  Symbol
#
    88.10%     0.20%  [k] entry_SYSCALL_64_after_hwframe
    31.00%     0.10%  [k] __x64_sys_futex                                     -      -
    12.00%     9.00%  [.] serde_json::ser::format_escaped_str
     6.50%     1.50%  [k] __schedule
"""
STRACE = """strace: Process 4242 attached with 34 threads
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.600000           3      4000       120 futex
 30.00    0.300000           3      2000           write
 10.00    0.100000          50         1           brk
------ ----------- ----------- --------- --------- ----------------
100.00    1.000000           3      6001       120 total
"""


def test_calls_are_told_for_each_request_the_most_first() -> None:
    assert [line.split() for line in per_request(STRACE, 2000).splitlines()] == [
        ["2.000", "futex"],
        ["1.000", "write"],
    ]


@pytest.mark.parametrize(
    ("file", "symbol", "owner"),
    [
        ("[kernel.kallsyms]", "[k] tcp_sendmsg_locked", "kernel"),
        ("libc.so.6", "[.] __memmove_avx_unaligned_erms", "libc.so.6"),
        ("libstdc++.so.6.0.33", "[.] std::string::append(char const*)", "libstdc++.so.6.0.33"),
        ("rust-async", "[.] <tokio::net::tcp::stream::TcpStream as core::ops::Drop>::drop", "tokio"),
        ("rust-async", "[.] <&mut hyper::proto::h1::Conn<T>>::poll", "hyper"),
        ("rust-async", "[.] core::ptr::drop_in_place<tokio::Task>", "std"),
        ("rust-async", "[.] rust_async::handlers::index", "rust_async, the implementation's own"),
        ("server", "[.] void boost::asio::detail::dispatch<tandem::Job>()", "boost::asio"),
        ("server", "[.] tandem::Router::find", "tandem, the implementation's own"),
        ("python3.13", "[.] _PyEval_EvalFrameDefault", "python3.13"),
        ("[JIT] tid 7", "[.] LazyCompile:~reply", "[JIT] tid 7"),
    ],
)
def test_whose_a_function_is(file: str, symbol: str, owner: str) -> None:
    assert whose(file, symbol, "rust-async") == owner


def test_a_request_is_divided_among_the_owners() -> None:
    report = """# Overhead;Shared Object;Symbol
 50.00%  ;[kernel.kallsyms];[k] __x64_sys_write                  ;-      -
 30.00%;rust-async;[.] hyper::proto::h1::encode<[u8; 4]>
 10.00%;[kernel.kallsyms];[k] schedule
  9.90%;rust-async;[.] rust_async::main
  0.10%;libc.so.6;[.] malloc
"""
    assert by_owner(report, "rust-async", 20.0).splitlines() == [
        "   60.0 %    12.0 µs  kernel",
        "   30.0 %     6.0 µs  hyper",
        "    9.9 %     2.0 µs  rust_async, the implementation's own",
    ]
    assert by_owner(report, "rust-async", None).splitlines()[0] == "   60.0 %  kernel"
