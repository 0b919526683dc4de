"""tandem.lab.network: what real sockperf 3.7 and iperf3 3.18 print, between two containers of this machine."""

from pathlib import Path

import pytest

from tandem.judge.fitness import Between
from tandem.lab import network


@pytest.fixture
def printed(fixtures: Path) -> str:
    return (fixtures / "network.txt").read_text()


def test_round_trips_are_milliseconds_and_bandwidth_is_what_arrived(printed: str) -> None:
    found = network.read(printed)
    assert found.round_trip_ms == pytest.approx(0.022843)
    assert found.round_trip_p99_ms == pytest.approx(0.038116)
    assert found.there_bps == pytest.approx(11_635_795_147.5)
    assert found.back_bps == pytest.approx(11_317_407_157.6)
    assert isinstance(found, Between)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("percentile 50.000", "percentile x", "}"),
        ('"end":	{', '"error": "unable to connect", "end":	{', "unable to connect"),
    ],
)
def test_what_a_tool_complained_of_is_told(printed: str, old: str, new: str, told: str) -> None:
    assert old in printed
    with pytest.raises(ValueError, match=told):
        network.read(printed.replace(old, new))


def test_a_direction_that_is_missing_is_no_figure(printed: str) -> None:
    first = printed.index("{\n")
    with pytest.raises(ValueError, match="unpack"):
        network.read(printed[: printed.index("\n{\n", first)])


def test_nothing_printed_is_told() -> None:
    with pytest.raises(ValueError, match="no round trips"):
        network.read("")
