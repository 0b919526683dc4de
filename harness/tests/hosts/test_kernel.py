"""tandem.hosts.description: captures of what the kernel writes, and of what psutil makes of it."""

from pathlib import Path

import pytest

from tandem.hosts.description import (
    count_established,
    kernel_parameters,
    parse_listen_overflows,
    parse_swapped,
)
from tandem.hosts.host import HostCpu

NETSTAT = """TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPHPHits
TcpExt: 0 7 9 12345
IpExt: InNoRoutes ListenOverflows
IpExt: 3 4
"""


TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0B00007F:B2F7 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 41 1
   1: 030012AC:8F2E 040012AC:1F90 01 00000000:00000000 00:00000000 00000000     0        0 42 1
   2: 030012AC:8F30 040012AC:1F90 01 00000000:00000000 02:00000000 00000000     0        0 43 2
   3: 030012AC:8F32 040012AC:1F90 08 00000000:00000001 00:00000000 00000000     0        0 44 1
   4: 030012AC:8F34 050012AC:1920 01 00000000:00000000 00:00000000 00000000     0        0 45 1
"""


def test_a_difference_of_cpu_times() -> None:
    assert HostCpu(5, 4, 3, 20).since(HostCpu(1, 2, 3, 10)) == HostCpu(4, 2, 0, 10)


def test_what_the_kernel_counts_and_what_it_does_not() -> None:
    assert parse_swapped("nr_free_pages 1\npswpin 3\npswpout 40\npgfault 5\n") == 43
    assert parse_swapped("nr_free_pages 1\n") is None
    assert parse_listen_overflows(NETSTAT) == 7
    assert {parse_listen_overflows(text) for text in ("", "TcpExt: A\nTcpExt: 1\n")} == {None}


def test_the_kernels_own_parameters() -> None:
    kept = "quiet mitigations=off isolcpus=1"
    assert kernel_parameters(kept) == kept
    assert kernel_parameters("quiet init=/sbin/x psi=1 -- --secret y") == "quiet psi=1"
    assert kernel_parameters(None) is None


@pytest.mark.parametrize(
    ("local", "remote", "number"),
    [(None, 8080, 2), (None, 6432, 1), (None, None, 3), (0x8F2E, 8080, 1), (0x8F34, 8080, 0)],
)
def test_established_connections_are_counted(local: int | None, remote: int | None, number: int) -> None:
    """One more to 8080 was closed by the other side; the one to 6432 is PgBouncer's."""
    assert count_established(TABLE.encode(), local_port=local, remote_port=remote) == number


def test_established_connections_are_counted_where_they_are_served(fixtures: Path) -> None:
    """A real table: a resolver's listener, the server's listener, one connection to it."""
    table = (fixtures / "proc-net-tcp.txt").read_bytes()
    assert count_established(table, local_port=8080) == 1
    assert count_established(table, local_port=8081) == 0
    assert count_established(table, local_port=0xC0F4) == 0, "the other end's port is not this one's"
    line = table.splitlines(keepends=True)[-1]
    assert count_established(table + line * 9_999, local_port=8080) == 10_000
    assert count_established(line.replace(b" 01 ", b" 06 "), local_port=8080) == 0, "TIME_WAIT"
    sixth = line.replace(b"020014AC", b"0000000000000000FFFF0000020014AC")
    assert count_established(sixth, local_port=8080) == 1
