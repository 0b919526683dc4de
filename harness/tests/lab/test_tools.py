"""tandem.lab.pgbench and tandem.lab.examine_lab: a scenario as a script, and what pgbench, sockperf and iperf3 print."""

from pathlib import Path

import pytest

from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError
from tandem.judge.fitness import Between
from tandem.lab.examine_lab import read_network
from tandem.lab.pgbench import PARAMETERS, Transactions, parse, script

SUMMARY = """\
pgbench (17.6 (Debian 17.6-0+deb13u1))
transaction type: /script.sql
scaling factor: 1
query mode: prepared
number of clients: 20
number of threads: 1
maximum number of tries: 1
duration: 8 s
number of transactions actually processed: 9701
number of failed transactions: 0 (0.000%)
latency average = 16.402 ms
initial connection time = 11.934 ms
tps = 1219.331874 (without initial connection time)
"""
QUERIES = "contract/sql/queries"


def test_the_rate_is_read_from_the_summary() -> None:
    assert parse(SUMMARY) == Transactions(1219.331874, 0)
    assert parse(SUMMARY.replace("transactions: 0 ", "transactions: 7 ")).failed == 7
    for line in ("tps = ", "number of failed transactions: "):
        rest = "\n".join(text for text in SUMMARY.splitlines() if not text.startswith(line))
        with pytest.raises(TandemError, match="did not report its rate"):
            parse(rest)


def test_every_query_has_its_parameters(root: Path) -> None:
    folder = root / QUERIES
    assert PARAMETERS.keys() == {file.stem for file in folder.glob("*.sql")}
    for name, variables in PARAMETERS.items():
        text = (folder / f"{name}.sql").read_text()
        assert all(f"${n}" in text for n in range(1, len(variables) + 1))
        assert f"${len(variables) + 1}" not in text


def test_a_scenario_becomes_its_statements_in_order(real: Catalog, root: Path) -> None:
    text = script(real.scenarios["recipe"], root / QUERIES)
    assert text.startswith("\\set asked random(1, 24)\nselect user_id from user_sessions_session")
    assert (text.count("\\gset"), text.count(";\n"), text.count("$")) == (2, 6, 0)
    lines = script(real.scenarios["note-write"], root / QUERIES).splitlines()
    assert lines.index("begin;") < lines.index("commit;") == len(lines) - 1, "a transaction keeps its limits"


@pytest.fixture
def printed(fixtures: Path) -> str:
    """What real sockperf 3.7 and iperf3 3.18 print, between two containers of one machine."""
    return (fixtures / "network.txt").read_text()


def test_round_trips_are_milliseconds_and_bandwidth_is_what_arrived(printed: str) -> None:
    found = read_network(printed)
    assert isinstance(found, Between)
    assert (found.round_trip_ms, found.round_trip_p99_ms) == pytest.approx((0.022843, 0.038116))
    assert (found.there_bps, found.back_bps) == pytest.approx((11_635_795_147.5, 11_317_407_157.6))


def test_what_a_tool_complained_of_is_told(printed: str) -> None:
    for broken, told in (
        (printed.replace("percentile 50.000", "percentile x"), "}"),
        (printed.replace('"end":	{', '"error": "unable to connect", "end":	{'), "unable to connect"),
        (printed[: printed.index("\n{\n", printed.index("{\n"))], "unpack"),  # one direction is missing
        ("", "no round trips"),
    ):
        assert broken != printed
        with pytest.raises(ValueError, match=told):
            read_network(broken)
