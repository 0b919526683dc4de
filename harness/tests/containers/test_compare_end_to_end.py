"""`tandem compare` with real containers: several applications up at once, one asked at a time."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from harness_commands import ONE_TRIAL, bench_containers, tandem

from tandem.record.result import per_variant

pytestmark = pytest.mark.docker

HONEST = ["rust-async", "rust-async:DB_POOL_MAX=2", "cpp-sync"]
LIAR = "contract/broken"


@dataclass(frozen=True)
class Compared:
    status: int
    record: Any
    said: str
    folder: Path

    @property
    def verdicts(self) -> dict[str, str]:
        """By variant, the baseline's second start among the first."""
        return {one["variant"]: one["verdict"] for one in self.record["conclusions"]["estimates"]}

    def mean(self, variant: str, metric: str) -> float | None:
        """None where it is not published."""
        every = [one for one in self.record["conclusions"]["estimates"] if "coordinates" not in one]
        means = [one["mean"] for one in every if (one["variant"], one["metric"]) == (variant, metric)]
        return means[0] if means else None


@pytest.fixture(scope="module")
def compared(kept: Path) -> Compared:
    arguments = ("compare", *HONEST, LIAR, "--scenario", "recipe", "--seed", "1", "--plan", ONE_TRIAL)
    return Compared(*tandem(*arguments, results=kept, FAULT="short-body-under-load"), kept)


@pytest.fixture(scope="module")
def undisturbed(compared: Compared) -> bool:
    """Whether the host left most windows alone. Else no figure is published, for that reason and no other."""
    session = compared.record["conclusions"]["session"]
    assert session == "ok" or "windows are void" in compared.record["reasons"][0], compared.said
    return bool(session == "ok")


def test_variants_are_measured_in_turn_and_leave_nothing(compared: Compared, undisturbed: bool) -> None:
    assert list(compared.verdicts) == [*HONEST, LIAR]
    assert (
        per_variant(compared.record["environments"])["rust-async:DB_POOL_MAX=2"]["settings"]["DB_POOL_MAX"]
        == "2"
    )
    # The last time that the block was made: a void window voids it.
    [*_, file] = sorted(compared.folder.glob("*/trials/block-1*.json"), key=lambda file: file.stat().st_mtime)
    block = json.loads(file.read_text())
    made = [one for record in block["windows"] for one in record["windows"].items()]
    disturbed = {label for label, window in made if window["verdict"] == "void"}
    for name in HONEST:
        assert compared.verdicts[name] == "ok" or name in disturbed, compared.said
        assert not undisturbed or name in disturbed or (compared.mean(name, "goodput_rps") or 0) > 100
    honest = [record for record in block["windows"] if record["spec"]["variants"] != [LIAR]]
    turns = [record for record in honest if record["spec"]["name"] != "duet"]
    order = [record["spec"]["variants"] for record in turns]
    assert len(order) == 8
    assert order[4:] == order[3::-1]  # the second round runs backwards
    # Who was asked did the work: the frozen ones used no CPU at that time, so each window has its own CPU.
    windows = [window for record in turns for window in record["windows"].values()]
    assert len(windows) == 8
    assert all(window["roles"]["app"]["cpu_cores"] > 0.05 for window in windows)
    for start in block["starts"].values():
        assert start["warm_up_requests"] > 0
    assert not bench_containers()


def test_then_the_honest_ones_are_loaded_at_once(compared: Compared, undisturbed: bool) -> None:
    """At about one rate, their statements counted together."""
    blocks = [json.loads(file.read_text()) for file in compared.folder.glob("*/trials/block-1*.json")]
    duets = [
        (block, record) for block in blocks for record in block["windows"] if record["spec"]["name"] == "duet"
    ]
    if not duets:
        assert not undisturbed
        pytest.skip("somebody had no good window, because of the host: there are no rates to follow from")
    block, duet = duets[-1]
    together = duet["windows"]
    assert list(together) == [name for name in block["spec"]["variants"] if name != LIAR]
    offered = [window["offered_rps"] for window in together.values()]
    assert offered == [offered[0] + n for n in range(4)]
    answered = sum(window["good"] + window["probes"] for window in together.values())
    assert together["rust-async"]["statements"]["session"]["calls"] == pytest.approx(answered, rel=0.01)
    assert not undisturbed or all(
        (compared.mean(name, "duet_cpu_us_per_request") or 0) > 20 for name in HONEST
    )


def test_a_variant_that_lies_is_invalid_and_the_others_are_not(compared: Compared) -> None:
    assert compared.status == 1, compared.said
    assert compared.verdicts[LIAR] == "invalid", compared.said
    assert compared.mean(LIAR, "goodput_rps") is None
