"""A plan that is too short to decide anything says so before it starts, with the time that it would take."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness_engine import request, told_before

from tandem.analysis.curves import loss, loss_in_scatters
from tandem.catalog.catalog import Catalog
from tandem.engine.study import Study, warn_of_too_few
from tandem.load.rows import Floats
from tandem.record.request import Conditions, Request
from tandem.studies.bench.study import Bench, Questions
from tandem.studies.capacity.study import Capacity
from tandem.studies.compare.study import Compare
from tandem.studies.crossover.study import Crossover, CrossoverOptions
from tandem.studies.explain.design import ExplainOptions
from tandem.studies.explain.study import Explain
from tandem.studies.reproduce.study import Reproduce, request_for
from tandem.studies.sweep.study import Sweep, SweepOptions

PAIR = ("python-sync", "python-async")


def told(study: Study[Any]) -> list[str]:
    return [line for line in told_before(study) if " cannot " in line]


def asked(study: str, *names: str, plan: str, **changes: Any) -> Request:
    under = Conditions(topology="full", placement="two-cores")
    return request(*(names or PAIR), study=study, plan=plan, conditions=under, **changes)


def crossover(rounds: int) -> Request:
    options = CrossoverOptions(waits_ms=[0, 15], threads=[], pools=[], rounds=rounds)
    return asked("crossover", plan="crossover", options=options.as_options())


def explain(blocks: int) -> Request:
    options = ExplainOptions.model_validate({"blocks": blocks, "cpus": 1})
    return asked("explain", plan="explain", options=options.model_dump())


def sweep(rounds: int, *values: int) -> Request:
    options = SweepOptions(axis="connections", values=[*values], rounds=rounds)
    return asked("sweep", plan="ceiling", options=options.as_options())


def capacity(plan: str) -> Request:
    options = {"slo": "p99=50ms", "longest_s": 60}
    return asked("capacity", "rust-async", plan=plan, options=options)


def test_blocks_that_cannot_show_a_difference(real: Catalog) -> None:
    cannot = "3 blocks cannot show that two variants differ: that takes 6"
    for study, option in (
        (Bench(real, asked("bench", plan="quick")), "--plan nightly"),
        (Questions(real, asked("questions", plan="smoke")), "--plan nightly"),
        (Compare(real, asked("compare", plan="smoke")), "--plan quick"),
    ):
        [line] = told(study)
        assert line.startswith(f"{cannot} ({option}), 2 times as long. The result will be ")
    assert not told(Bench(real, asked("bench", plan="nightly")))
    assert not told(Compare(real, asked("compare", plan="quick")))
    assert not told(Compare(real, asked("compare", plan="claim"))), "it looks at 6, 9 and 12"
    assert not told(Compare(real, asked("compare", "node", plan="smoke"))), (
        "one alone is compared with itself"
    )


def test_starts_that_cannot_decide(real: Catalog) -> None:
    assert told(Crossover(real, crossover(2))) == [
        "2 rounds cannot say who wins in any cell: that takes 3 (--rounds 3), 1.5 times as long"
    ]
    assert told(Explain(real, explain(2))) == [
        "2 blocks cannot decide any factor: that takes 3 (--blocks 3), 1.5 times as long"
    ]
    short = request_for(real, "hyper-delay", "smoke", 2, 1)
    assert told(Reproduce(real, short)) == [
        "2 fresh starts cannot decide a claim: that takes 3 (--plan core), 1.5 times as long"
    ]
    enough = request_for(real, "hyper-delay", "core", 2, 1)
    files = request_for(real, "file-io", "smoke", 2, 1)
    studies: list[Study[Any]] = [
        Crossover(real, crossover(3)),
        Explain(real, explain(3)),
        Reproduce(real, enough),
        Reproduce(real, files),
    ]
    assert [told(study) for study in studies] == [[], [], [], []]


def test_a_capacity_of_too_few_starts(real: Catalog, tmp_path: Path) -> None:
    file = tmp_path / "short.toml"
    text = (real.root / "loadgen/plans/capacity.toml").read_text()
    file.write_text(text.replace("trials = 5", "trials = 1"))
    [line] = told(Capacity(real, capacity(str(file))))
    assert line.startswith("1 further fresh start cannot show how much starts differ")
    assert line.endswith("that takes 3 (--plan capacity), 3 times as long")
    assert not told(Capacity(real, capacity("capacity")))


def test_a_sweep_that_only_a_huge_loss_would_show_in(real: Catalog) -> None:
    [line] = told(Sweep(real, sweep(2, 4, 16)))
    assert line.startswith("2 rounds cannot show a loss unless it is 6 times the scatter of a start")
    assert "that takes 3 (--rounds 3)" in line
    assert not told(Sweep(real, sweep(3, 4, 16)))
    assert not told(Sweep(real, sweep(2, *range(1, 10)))), "nine values tell the noise together"


@pytest.mark.parametrize("times", [0.9, 1.1])
def test_the_loss_that_is_told_is_that_of_the_test(times: float) -> None:
    """Two values whose rests have a known standard deviation."""
    effect = times * loss_in_scatters(3, 2)
    noise = np.array([[1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]]) / np.sqrt(4 / 2)  # of standard deviation 1
    rates: Floats = np.exp(0.01 * (noise + np.array([effect, 0.0])))
    found = loss(rates)
    assert found is not None
    assert found.shown == (times > 1)


def test_what_is_enough_is_not_told() -> None:
    said: list[str] = []
    warn_of_too_few(said.append, 6, 6, "blocks", "decide")
    assert said == []
    warn_of_too_few(said.append, 1, 3, "starts", "decide", so="So what")
    assert said == ["1 start cannot decide: that takes 3, 3 times as long. So what"]
