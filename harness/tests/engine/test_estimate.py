"""tandem.engine.estimate: what a study says that it will take."""

import os
from pathlib import Path

import pytest
from harness_engine import made_trial, request, trial_spec, window_spec
from harness_samples import good_window

from tandem.catalog.catalog import Catalog
from tandem.engine.estimate import Overheads, estimate_s, overheads_of, recorded_overheads, trial_s
from tandem.engine.run import blocks_s
from tandem.record.request import Variant
from tandem.record.trial import Phase, Start, Trial, WarmUp
from tandem.record.window import DbRtt
from tandem.studies.bench.study import Bench

SIX = [request("rust-async", "rust-sync", "cpp-async", "node", "python-async", "python-sync", plan="nightly")]


def test_a_trial_is_its_starts_its_warm_ups_and_its_windows() -> None:
    overheads = Overheads(near=(4.0, 1.5), together=(4.0, 1.5))
    assert trial_s(trial_spec(), overheads) == 4 + 10 + (20 + 1.5) + (25 + 1.5)
    assert trial_s(trial_spec("1-pair", "one", "two"), overheads) == 2 * (4 + 10 + 48)
    steady = trial_spec(warm_up=WarmUp(least_s=10, steady_buckets=30, cap_s=60), windows=[])
    assert trial_s(steady, overheads) == 4 + 32, "thirty whole seconds, without the first of each part"
    assert estimate_s([[trial_spec()], [trial_spec(), trial_spec()]], overheads) == 3 * 62
    both = trial_spec("1-pair", "one", "two", windows=[window_spec("both", "one", "two")])
    assert trial_s(both, Overheads(together=(0, 0))) == 2 * 10 + 20, "loaded in one window, counted once"


def test_the_overheads_are_those_of_the_records() -> None:
    made = made_trial()
    made.overhead_s = 4.0
    for record, around in zip(made.windows, (1.0, 2.0), strict=True):
        record.duration_s = record.spec.seconds + around
    assert overheads_of([made]).near == (4.0, 1.5)


def started(implementation: str | None, seconds: float, warm_up: float = 0.0, far: bool = False) -> Trial:
    """A trial whose start took so long, and its warm-up so much longer than was asked for."""
    trip = DbRtt(setting=15, before_p50=15, during_p50=16, during_p90=17, samples=9) if far else None
    made = made_trial(trial_spec(), closed=good_window(db_rtt_ms=trip), open=None)
    made.overhead_s = seconds
    [start] = made.starts.values()
    start.implementation = implementation
    made.phases = [Phase(name="warm up", duration_s=(start.warm_up_s or 0) + warm_up)]
    [record] = made.windows
    record.duration_s = record.spec.seconds + 1
    return made


def test_a_slow_program_is_not_expected_to_start_like_a_quick_one() -> None:
    found = overheads_of([started("rust-async", 2.0)] * 40 + [started("python-sync", 8.0, warm_up=2.0)])
    assert found.near == (2, 1)
    programs = {"one": "rust-async", "two": "python-sync", "three": "node"}
    variants = [Variant(label=label, implementation=name) for label, name in programs.items()]
    named = found.named(variants, far=False).by_label
    starts_s = {label: start_s for label, (start_s, _) in named.items()}
    unknown = Overheads().near[0]
    assert starts_s == {"one": 2, "two": 10, "three": unknown}, "what is unknown is not taken for quick"


def test_a_distant_database_makes_starts_longer() -> None:
    found = overheads_of([started("node", 3.0), started("node", 7.0, far=True)])
    here = Variant(label="here", implementation="node")
    there = Variant(label="there", implementation="node", db_rtt_ms=4)
    named = found.named([here, there], far=False).by_label
    assert (named["here"], named["there"]) == ((3, 1), (7, 1))
    assert found.named([here], far=True).by_label["here"] == (7, 1)
    unknown = found.named([Variant(label="a", implementation="rust-async", db_rtt_ms=4)], far=False)
    assert unknown.by_label["a"] == Overheads().far
    assert trial_s(trial_spec("1-a", "a", windows=[]), unknown) == Overheads().far[0] + 10


def test_starts_that_share_their_end_tell_nothing_of_a_start_alone() -> None:
    """`explain` told 8 minutes for 15: comparisons, whose starts cost a second each, stood for starts of their own."""
    pair = started(None, 3.0)
    pair.starts["two"] = Start(warm_up_s=10)
    pair.phases = []
    found = overheads_of([pair] * 40)
    assert (found.near, found.far) == (Overheads().near, Overheads().far)
    assert found.together == (1.5, 1)
    assert trial_s(trial_spec("1-a", "a", windows=[]), found) == Overheads().near[0] + 10
    assert trial_s(trial_spec("1-pair", "one", "two", windows=[]), found) == 2 * 11.5


def test_a_look_at_a_stand_in_tells_nothing_of_programs() -> None:
    look = started(None, 0.5)
    look.spec = look.spec.model_copy(update={"name": "look-null"})
    assert overheads_of([look]) == Overheads()
    assert overheads_of([look, started("node", 5.0)]).near == (5, 1)


@pytest.mark.parametrize("odd", ["overhead_s", "starts", "windows"])
def test_what_tells_nothing_is_left_out(odd: str) -> None:
    made = made_trial()
    setattr(made, odd, None if odd == "overhead_s" else type(getattr(made, odd))())
    assert overheads_of([made]) == Overheads()
    assert overheads_of([]) == Overheads()


def test_the_newest_records_of_this_machine_count(tmp_path: Path) -> None:
    trials = tmp_path / "20261101T000000Z-bench-a-smoke/trials"
    trials.mkdir(parents=True)
    assert recorded_overheads(tmp_path) == Overheads()
    (trials / "half.json").write_text("{")
    assert recorded_overheads(tmp_path) == Overheads(), "an unreadable file is no reason to end"
    for number in range(50):
        made = made_trial()
        made.overhead_s = 100.0 if number < 10 else 4.0  # the first ten are the oldest
        file = trials / f"{number}.json"
        file.write_text(made.model_dump_json())
        os.utime(file, (number, number))
    assert recorded_overheads(tmp_path) == overheads_of([made_trial().model_copy(update={"overhead_s": 4.0})])


def nightly_s(real: Catalog, tmp_path: Path, **changes: object) -> float:
    """How long six implementations on one scenario take by the nightly plan, with these changes."""
    study = Bench(real, SIX[0])
    study.timing = study.timing.model_copy(update=changes)
    return blocks_s(study, tmp_path)


def test_a_night_is_enough_for_all_implementations(real: Catalog, tmp_path: Path) -> None:
    """Six on two scenarios within two hours; longer windows would still be told."""
    assert 3600 < 2 * nightly_s(real, tmp_path) < 7200
    never_steady = nightly_s(real, tmp_path, warm_up_s=real.plans["nightly"].warm_up_cap_s)
    assert 2 * never_steady < 7200, "where every warm-up reaches the cap as well"
    assert 2 * nightly_s(real, tmp_path, closed_s=35, open_s=35) > 7200


@pytest.mark.parametrize("name", ["quick", "nightly", "claim", "headline"])
def test_the_look_at_the_ceilings_is_counted(real: Catalog, tmp_path: Path, name: str) -> None:
    asked = request("rust-async", plan=name)
    seeing, blind = Bench(real, asked), Bench(real, asked)
    blind.timing = blind.timing.model_copy(update={"ceilings": False})
    assert blocks_s(seeing, tmp_path) - blocks_s(blind, tmp_path) > 20
