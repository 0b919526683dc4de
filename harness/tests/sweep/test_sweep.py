"""tandem.sweep: which values, which order, what the points say."""

import io
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from harness_samples import NOW, finding, good_window
from rich.console import Console

from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError, UsageError
from tandem.old.prepare import Conditions
from tandem.record.window import Verdict
from tandem.sweep import session as sweep_session
from tandem.sweep.report import report
from tandem.sweep.sweep import (
    Asked,
    Over,
    Point,
    Step,
    Sweep,
    curve,
    curves,
    parse_over,
    point,
    reasons,
    steps,
)
from tandem.sweep.usl import law

POWERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


def asked(**changes: object) -> Asked:
    fields: dict[str, object] = {
        "implementations": ["rust-async", "contract/broken"],
        "axis": "connections",
        "values": [1, 2, 4],
        "rounds": 3,
        "scenario": "recipes",
        "topology": "full",
        "placement": "two-cores",
        "plan": "ceiling",
        "seed": 7,
        "knobs": {},
    }
    return Asked.model_validate({**fields, **changes})


def made(value: int, rate: float, round_: int = 1, name: str = "rust-async") -> Point:
    return Point(
        round=round_,
        implementation=name,
        value=value,
        verdict=Verdict.OK,
        goodput_rps=rate,
        app_cpu_us_per_request=1e6 / rate,
        service_time_mean_ms=1e3 * value / rate,
        bottleneck="database",
    )


def measured(rates: dict[int, float], spread: float = 0.01) -> list[Point]:
    """Three rounds."""
    return [made(v, r * (1 + spread * (n - 2)), n) for v, r in rates.items() for n in (1, 2, 3)]


# ---- what is asked ----


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("connections=1..512", Over("connections", POWERS)),
        ("pool=4,10,16,20,32,100", Over("pool", (4, 10, 16, 20, 32, 100))),
        ("threads=3..20", Over("threads", (3, 4, 8, 16, 20))),
        ("wait=0,1,5,20,100", Over("wait", (0, 1, 5, 20, 100))),
        ("wait=0..4", Over("wait", (0, 1, 2, 4))),
        ("pool=20, 4,4..8", Over("pool", (4, 8, 20))),
    ],
)
def test_what_can_be_swept(text: str, over: Over) -> None:
    assert parse_over(text) == over


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("conections=1..8", "no axis 'conections'. Did you mean 'connections'"),
        ("connections", "takes AXIS=VALUES"),
        ("pool=a", "'a' is neither"),
        ("pool=4,", "'' is neither"),
        ("pool=8..4", "the smaller end comes first"),
        ("pool=4", "two values at least"),
        ("connections=0..4", "1 is the least"),
        ("wait=0,5000", "1000 ms is the most"),
        ("pool=-1..4", "'-1..4' is neither"),
    ],
)
def test_what_cannot(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told.replace("?", r"\?")):
        parse_over(text)


def test_each_round_has_every_cell_once_in_an_order_of_its_own() -> None:
    order = steps(asked())
    assert Counter((s.round, s.implementation, s.value) for s in order).most_common(1)[0][1] == 1
    assert len(order) == 2 * 3 * 3
    assert [s.round for s in order] == sorted(s.round for s in order)
    assert order == steps(asked())
    assert order != steps(asked(seed=8))
    assert len({s.file for s in order}) == len(order)


def conditions(real: Catalog, **knobs: str) -> Conditions:
    return Conditions(real, "full", "shared", real.plans["ceiling"], knobs)


def test_an_axis_changes_one_thing(real: Catalog) -> None:
    under, scenario = conditions(real), real.scenarios["work"]
    pool = sweep_session.level(under, scenario, "pool", 16)
    assert (pool.under.knobs, pool.scenario) == ({"DB_POOL_MAX": "16"}, scenario)
    assert sweep_session.level(under, scenario, "threads", 4).under.knobs == {"THREADS": "4"}
    assert sweep_session.level(under, scenario, "connections", 8).scenario.connections == 8
    waiting = sweep_session.level(under, scenario, "wait", 5)
    assert (waiting.scenario.path, waiting.under.knobs) == ("/work?delay_ms=5", {})


@pytest.mark.parametrize(
    ("over", "scenario", "knobs", "told"),
    [
        (Over("wait", (0, 1)), "recipes", {}, "needs the scenario work"),
        (Over("pool", (0, 4)), "recipes", {}, "DB_POOL_MAX must be a whole number from 1, not '0'"),
        (Over("pool", (4, 8)), "recipes", {"DB_POOL_MAX": "4"}, "is what is swept"),
        (Over("pool", (4, 8)), "users", {}, "python-sync does not support users"),
    ],
)
def test_what_does_not_fit_together(
    real: Catalog, over: Over, scenario: str, knobs: dict[str, str], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        sweep_session.check(conditions(real, **knobs), real.scenarios[scenario], over, ["python-sync"])


# ---- what the points say ----


def test_a_point_of_a_window_that_is_not_ok_has_no_figures() -> None:
    step = Step(1, "rust-async", 4)
    good = point(step, good_window(), 1)
    assert (good.verdict, good.goodput_rps, good.bottleneck) == (Verdict.OK, 400.0, "unknown")
    bad = point(step, good_window(verdict=Verdict.VOID, findings=[finding("void", "steal", "20 % steal")]), 2)
    assert (bad.verdict, bad.goodput_rps, bad.reason, bad.attempts) == (Verdict.VOID, None, "20 % steal", 2)


def test_peak_c90_and_what_is_lost() -> None:
    rates = {1: 100.0, 2: 190.0, 4: 460.0, 8: 500.0, 16: 400.0}
    found = curve("rust-async", "pool", list(rates), measured(rates))
    assert found.peak_rps == pytest.approx(500)
    assert (found.peak_at, found.c90) == (8, 4)
    assert found.retrograde_loss == pytest.approx(0.2)
    assert found.usl is None
    low, high = found.levels[0].goodput_rps.interval or (0, 0)
    assert low < 100 < high


def test_a_missing_point_is_no_figure() -> None:
    rates = {1: 100.0, 2: 190.0, 4: 200.0}
    points = [p for p in measured(rates) if p.value != 4 or p.round == 1]
    found = curve("rust-async", "pool", list(rates), points)
    assert found.levels[2].goodput_rps.mean is None
    assert (found.c90, found.retrograde_loss, found.peak_at) == (None, None, 2)
    nothing = curve("rust-async", "connections", [1, 2], [])
    assert (nothing.peak_rps, nothing.c90) == (None, None)


def test_for_waiting_there_is_no_c90() -> None:
    rates = {0: 500.0, 5: 400.0}
    assert curve("rust-async", "wait", [0, 5], measured(rates)).c90 is None


def test_the_report() -> None:
    request = asked(implementations=["rust-async"], values=[1, 2, 4])
    points = measured({1: 100.0, 2: 190.0, 4: 200.0})
    points.append(
        Point(round=3, implementation="rust-async", value=4, verdict=Verdict.VOID, reason="much steal")
    )
    found = Sweep(
        started_at=NOW,
        finished_at=NOW,
        request=request,
        verdict=Verdict.OK,
        reasons=reasons(points),
        points=points,
        curves=curves(request, points),
        phases_s={"stop": 3.0},
        environment={},
    )
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(report(found))
    text = console.export_text()
    assert "peak 200/s at connections 4; 90 % of it from 2 on; 0% lost at 4" in text
    assert "no Universal Scalability Law: 3 points" in text
    assert "rust-async at 4, round 3: void: much steal" in text
    assert "time: stop 3 s" in text
    assert Sweep.model_validate_json(found.model_dump_json()).model_dump_json() == found.model_dump_json()


# ---- the law ----


def test_with_noise_it_is_still_near() -> None:
    noise = np.random.default_rng(3).normal(1, 0.01, (3, len(POWERS)))
    rates = law(np.array(POWERS, dtype=np.float64), 300, 0.05, 2e-4)
    points = [
        made(v, float(r), n)
        for n, row in enumerate(noise * rates, start=1)
        for v, r in zip(POWERS, row, strict=True)
    ]
    usl = curve("rust-async", "connections", POWERS, points).usl
    assert usl is not None
    assert usl.reason is None
    assert usl.lambda_rps == pytest.approx(300, rel=0.05)
    assert usl.sigma == pytest.approx(0.05, rel=0.1)


# ---- interrupted ----


def keep(folder: Path, request: Asked, finished: bool = False) -> None:
    (folder / "points").mkdir(parents=True)
    (folder / "request.json").write_text(request.model_dump_json())
    if finished:
        (folder / "sweep.json").write_text("{}")


def test_the_newest_unfinished_of_the_same_request_goes_on(tmp_path: Path) -> None:
    keep(tmp_path / "1-sweep-a", asked(seed=1))
    keep(tmp_path / "2-sweep-a", asked(seed=2))
    keep(tmp_path / "3-sweep-a", asked(seed=3), finished=True)
    keep(tmp_path / "4-sweep-a", asked(seed=4, rounds=9))
    folder, request = sweep_session.unfinished(tmp_path, asked(seed=99))
    assert (folder.name, request.seed) == ("2-sweep-a", 2)
    with pytest.raises(UsageError, match="no unfinished sweep"):
        sweep_session.unfinished(tmp_path, asked(axis="pool"))
    with pytest.raises(UsageError, match="no unfinished sweep"):
        sweep_session.unfinished(tmp_path, asked(db_rtt_ms=15))


def test_a_request_from_before_distances_were_in_it_is_read() -> None:
    fields = asked().model_dump()
    del fields["db_rtt_ms"]
    assert Asked.model_validate(fields) == asked()


def test_points_are_read_back(tmp_path: Path) -> None:
    keep(tmp_path / "s", asked())
    file = tmp_path / "s/points/1-rust-async-4.json"
    file.write_text(made(4, 100).model_dump_json())
    assert sweep_session.read_points(tmp_path / "s") == {file.name: made(4, 100)}
    file.write_text("{")
    with pytest.raises(TandemError, match="Remove it"):
        sweep_session.read_points(tmp_path / "s")
