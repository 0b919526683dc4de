"""`tandem compare` with real containers: several applications up at once, one asked at a time."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from harness_commands import ONE_TRIAL, bench_containers, tandem

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
    def entries(self) -> dict[str, Any]:
        return {entry["variant"]: entry for entry in self.record["conclusions"]["entries"]}


@pytest.fixture(scope="module")
def compared(kept: Path) -> Compared:
    """Once more where the host disturbed too many windows: then no figure is published."""
    arguments = ("compare", *HONEST, LIAR, "--scenario", "recipe", "--seed", "1", "--plan", ONE_TRIAL)
    for name in ("first", "second"):
        found = tandem(*arguments, results=kept / name, FAULT="short-body-under-load")
        if found[1]["verdict"] != "void":
            break
    return Compared(*found, kept / name)


def test_variants_are_measured_in_turn_and_leave_nothing(compared: Compared) -> None:
    lines = compared.entries
    assert list(lines) == [*HONEST, LIAR]
    assert compared.record["environments"]["rust-async:DB_POOL_MAX=2"]["settings"]["DB_POOL_MAX"] == "2"
    for name in HONEST:
        assert lines[name]["verdict"] == "ok", compared.said
        assert lines[name]["means"]["goodput_rps"] > 100
    # The last time that the block was made: a void window voids it.
    [*_, file] = sorted(compared.folder.glob("*/trials/block-1*.json"), key=lambda file: file.stat().st_mtime)
    block = json.loads(file.read_text())
    *turns, duet = (record for record in block["windows"] if record["spec"]["variants"] != [LIAR])
    order = [record["spec"]["variants"] for record in turns]
    assert len(order) == 8
    assert order[4:] == order[3::-1]  # the second round runs backwards
    # Who was asked did the work: the frozen ones used no CPU at that time, so each window has its own CPU.
    windows = [window for record in turns for window in record["windows"].values()]
    assert len(windows) == 8
    assert all(window["roles"]["app"]["cpu_cores"] > 0.05 for window in windows)
    for start in block["starts"].values():
        assert start["warm_up_requests"] > 0
    # Then the honest ones all at once, at about one rate, their statements counted together.
    together = duet["windows"]
    assert list(together) == [name for name in block["spec"]["variants"] if name != LIAR]
    offered = [window["offered_rps"] for window in together.values()]
    assert offered == [offered[0] + n for n in range(4)]
    answered = sum(window["good"] + window["probes"] for window in together.values())
    assert together["rust-async"]["statements"]["session"]["calls"] == pytest.approx(answered, rel=0.01)
    assert all(lines[name]["means"]["duet_cpu_us_per_request"] > 20 for name in HONEST)
    assert not bench_containers()


def test_a_variant_that_lies_is_invalid_and_the_others_are_not(compared: Compared) -> None:
    assert compared.status == 1, compared.said
    liar = compared.entries[LIAR]
    assert liar["verdict"] == "invalid", compared.said
    assert liar["means"]["goodput_rps"] is None
