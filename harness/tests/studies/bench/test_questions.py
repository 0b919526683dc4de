"""tandem.studies.bench.study: the conditions, and what their windows say of the three questions."""

from pathlib import Path
from typing import Any

import pytest
from harness_engine import FakeLab, Quiet, is_golden, play, request, result_of, session
from harness_samples import good_window, quiet_roles, role

from tandem.analysis.cost import APP
from tandem.catalog.catalog import Catalog
from tandem.engine.run import run
from tandem.facts.metric import LATENCY_BOUND
from tandem.lab.prepare import check
from tandem.record.conclusion import Position
from tandem.record.request import Variant
from tandem.record.result import Baselines, Result
from tandem.record.trial import TrialSpec, WindowSpec
from tandem.record.window import Resource, Verdict, Window
from tandem.studies.bench.conclusions import APP_BOUND, CONDITIONS, CONNECTIONS, COST, WAITING, Benched
from tandem.studies.bench.report import application_bound
from tandem.studies.bench.study import Questions

NAMES = ("rust-async", "python-sync")
ASKED = request(*NAMES, study="questions", plan="smoke")


def variant(study: Questions, label: str) -> Variant:
    return next(one for one in study.variants if one.label == label)


def test_each_implementation_under_each_condition(real: Catalog) -> None:
    study = Questions(real, ASKED)
    assert len(study.variants) == 2 * len(CONDITIONS) == 12
    plain = variant(study, "rust-async @ as asked")
    assert plain == Variant(
        label="rust-async @ as asked",
        base="rust-async",
        coordinates={"question": "cost"},
        implementation="rust-async",
    )
    bound = variant(study, "rust-async @ direct, pool 4")
    assert (bound.topology, bound.settings, bound.db_rtt_ms) == ("direct", {"DB_POOL_MAX": "4"}, None)
    far = variant(study, "rust-async @ 15 ms, pool 80")
    assert (far.db_rtt_ms, far.settings) == (15, {"DB_POOL_MAX": "80"})
    assert far.scenario_changes == {"connections": CONNECTIONS}
    check(real, ASKED, study.variants)


def test_what_is_compared_stands_side_by_side(real: Catalog) -> None:
    """A block is one condition with every implementation: the host has half a minute to drift, not minutes."""
    blocks = Questions(real, ASKED).outline()
    assert len(blocks) == 3 * len(CONDITIONS)
    positions = {variant.label: variant.position for variant in Questions(real, ASKED).variants}
    told = [[positions[spec.variants[0]] for spec in block] for block in blocks]
    assert all(one.coordinates == other.coordinates for one, other in told)
    for n in range(0, len(told), len(CONDITIONS)):
        conditions = [str(one.coordinates) for one, _ in told[n : n + len(CONDITIONS)]]
        assert sorted(conditions) == sorted(str(one.coordinates) for one in CONDITIONS), (
            "each once in a round"
        )
    assert {(one.variant, other.variant) for one, other in told} == {
        ("rust-async", "python-sync"),
        ("python-sync", "rust-async"),
    }, "in either order"


def test_handler_threads_are_enough_for_the_pool(real: Catalog) -> None:
    """Two workers of ten threads hold twenty connections; for eighty there have to be more."""
    study = Questions(real, ASKED)
    assert "THREADS" not in variant(study, "python-sync @ 5 ms, pool 20").settings
    assert variant(study, "python-sync @ 5 ms, pool 80").settings["THREADS"] == "80"
    chosen = Variant(label="x", implementation="python-sync", settings={"THREADS": "3"})
    assert CONDITIONS[-1].of(chosen, real).settings["THREADS"] == "3", "what was chosen stays"


def answer(spec: TrialSpec, asked: WindowSpec) -> Window:
    """rust-async is limited by core 0 even directly, python-sync by itself; far away both reach nine tenths."""
    label = spec.variants[0]
    changes: dict[str, Any] = {"app_cpu_us_per_request": 300.0, "bottleneck": "database"}
    changes["roles"] = quiet_roles(db=role(0.95, "2"))
    if label.startswith("python"):
        changes |= {"app_cpu_us_per_request": 900.0, "bottleneck": "app-cpu"}
        changes["roles"] = quiet_roles(app=role(0.97, "4", busiest_thread_cores=0.97))
    found = good_window(**changes)
    if " ms" in label:
        found.resources = [Resource(name="d", tag="distance", utilisation=0.9, limit=0.8)]
    return found


def answered(real: Catalog) -> Result[Benched]:
    study = Questions(real, ASKED)
    made = play(study, answer)
    for trial in made:
        trial.starts[trial.spec.variants[0]].memory_rest_bytes = 20 << 20
    return result_of(ASKED, study.conclude(made, Baselines()), environments={})


def test_what_the_windows_say(real: Catalog) -> None:
    found = answered(real)
    assert found.verdict is Verdict.OK
    told = found.conclusions
    bound = [application_bound(told, Position(name, APP_BOUND.coordinates)) for name in NAMES]
    assert bound == [False, True]
    far = Position("python-sync", WAITING[-1].coordinates)
    assert [one.mean for one in told.estimates if one.metric == LATENCY_BOUND] == [pytest.approx(90)] * 8
    most = told.estimate_of("latency_bound_rps", far)
    assert most is not None
    assert most.mean == pytest.approx(400 / 0.9)
    cost = told.contrast_of(APP, Position("python-sync", COST.coordinates))
    assert cost is not None
    assert cost.ratio == pytest.approx(3.0)
    assert all(one.to == "rust-async" != one.of for one in told.contrasts)
    assert found.headline == ("rust-async 3,333 per core-s, python-sync 1,111 per core-s")


def test_the_report_is_the_golden_one(real: Catalog) -> None:
    is_golden(Questions.report(answered(real)), "questions", 400)


def test_a_session_to_its_end(real: Catalog, tmp_path: Path) -> None:
    view = Quiet()
    result, _ = run(Questions, ASKED, session(real, tmp_path, FakeLab(answer=answer), view))
    assert (result.verdict, result.trials) == (Verdict.OK, {Verdict.OK: 36})
    assert any("3 blocks cannot show that two variants differ" in line for line in view.said)
