"""tandem.load.idle: counting what stays open."""

from tandem.load.idle import count_established

TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0B00007F:B2F7 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 41 1
   1: 030012AC:8F2E 040012AC:1F90 01 00000000:00000000 00:00000000 00000000     0        0 42 1
   2: 030012AC:8F30 040012AC:1F90 01 00000000:00000000 02:00000000 00000000     0        0 43 2
   3: 030012AC:8F32 040012AC:1F90 08 00000000:00000001 00:00000000 00000000     0        0 44 1
   4: 030012AC:8F34 050012AC:1920 01 00000000:00000000 00:00000000 00000000     0        0 45 1
"""


def test_established_connections_to_the_port_are_counted() -> None:
    assert count_established(TABLE, 8080) == 2  # one more was closed by the other side, one is PgBouncer's
    assert count_established(TABLE, 6432) == 1
    assert count_established(TABLE.splitlines()[0], 8080) == 0
