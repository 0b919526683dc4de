"""tandem.studies.bench: which trials a bench wants, what it concludes of all of them, and what a person reads."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness_engine import (
    FakeLab,
    Quiet,
    environment_of,
    is_golden,
    made_trial,
    play,
    request,
    result_of,
    session,
    told_before,
    trial_spec,
)
from harness_places import ROOT
from harness_samples import finding, good_window, quiet_roles, role, there

from tandem.analysis.cost import APP
from tandem.analysis.histogram import encode
from tandem.catalog.catalog import Catalog
from tandem.engine.run import run
from tandem.engine.stand_ins import is_look
from tandem.facts.metric import GOODPUT, LATENCY_BOUND
from tandem.judge import bottleneck
from tandem.lab.prepare import check
from tandem.record.conclusion import Position
from tandem.record.request import Variant
from tandem.record.result import Baselines, Result
from tandem.record.trial import Trial, TrialSpec, WindowSpec
from tandem.record.window import Resource, Role, Times, Verdict, Window
from tandem.studies.bench.conclusions import APP_BOUND, CONDITIONS, CONNECTIONS, COST, WAITING, Benched
from tandem.studies.bench.conclusions import conclude as conclude_trials
from tandem.studies.bench.report import application_bound
from tandem.studies.bench.study import Bench, Questions
from tandem.wording import BOTTLENECKS

ASKED = request("rust-async", "node", plan="nightly", seed=5)


def test_each_variant_once_in_each_block_closed_then_open_at_a_share_of_it(real: Catalog) -> None:
    blocks, plan = Bench(real, ASKED).outline(), real.plans["nightly"]
    assert len(blocks) == 6
    for number, block in enumerate(blocks, start=1):
        assert {spec.name for spec in block} == {f"{number}-rust-async", f"{number}-node"}
        assert all(spec.block == number for spec in block)
    assert len({block[0].variants[0] for block in blocks}) == 2, "the order changes"
    assert Bench(real, ASKED).outline() == blocks
    spec = blocks[0][0]
    closed, opened = spec.windows
    assert (closed.load, closed.seconds, closed.share) == ("closed", plan.closed_s, None)
    assert (opened.load, opened.seconds) == ("open", plan.open_s)
    assert (opened.share, opened.share_of) == (plan.open_load_fraction, closed.name)
    assert (spec.warm_up.least_s, spec.warm_up.steady_buckets) == (plan.warm_up_s, plan.steady_buckets)
    assert {w.trim_start_s for w in spec.windows} == {plan.trim_start_s}


def test_the_ceilings_are_measured_in_each_block(real: Catalog, tmp_path: Path) -> None:
    def answer(spec: TrialSpec, window: WindowSpec) -> Window:
        rate = 1040.0 if is_look(spec) else 1000.0
        return good_window(window.load, goodput_rps=rate, bottleneck="latency-bound")

    lab = FakeLab(answer=answer)
    result, _ = run(Bench, request("rust-async", "node", plan="quick"), session(real, tmp_path, lab))
    assert result.baselines.ceilings_rps == {"null": 1040.0, "database": 1040.0}
    assert result.trials == {Verdict.OK: 6}, "a look is none"
    [first, second] = result.conclusions.contexts
    assert first.ceiling_shares == dict.fromkeys(("null", "database"), pytest.approx(0.9615, rel=1e-3))
    assert there(second.not_ranked).startswith("96 % of the ceiling ")
    assert lab.visited[0].startswith("1-"), "a figure of what was asked for comes first"


def test_what_it_cannot_decide_is_told_first_and_a_figure_after_the_first_start(
    real: Catalog, tmp_path: Path
) -> None:
    view = Quiet()
    run(Bench, request("rust-async", "node", plan="quick"), session(real, tmp_path, FakeLab(), view))
    [first, *_] = [line for line in view.said if "/s" in line]
    assert any("cannot show" in line for line in view.said[: view.said.index(first)])
    assert (
        "first figure 1,000/s, 2,880 µs of CPU per request, 900 of it the application's, from one start."
        " The 5 starts that follow add an interval and the ratios within blocks"
    ) in first
    for enough in (ASKED, request("node", plan="quick")):
        [told] = told_before(Bench(real, enough))
        assert told.startswith("the first figure comes after about")


@pytest.mark.parametrize(
    ("variants", "rest"),
    [(["node"], ""), (["node", "rust-async"], ". The start that follows adds the ratios within blocks")],
)
def test_one_start_is_told_in_the_singular(
    real: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variants: list[str], rest: str
) -> None:
    monkeypatch.setitem(real.plans, "smoke", real.plans["smoke"].model_copy(update={"trials": 1}))
    view = Quiet()
    run(Bench, request(*variants), session(real, tmp_path, FakeLab(), view))
    assert any("one start of each variant gives no interval" in line for line in view.said)
    [told] = [line for line in view.said if "first figure 1,000" in line]
    assert told.endswith(f", from one start{rest}")


def test_a_bench_to_its_end(real: Catalog, tmp_path: Path) -> None:
    lab = FakeLab(verdicts={2: Verdict.VOID})
    asked = request("rust-async", "node", plan="smoke")
    result, _journal = run(Bench, asked, session(real, tmp_path, lab))
    assert result.verdict is Verdict.OK
    rates = [one for one in result.conclusions.estimates if one.metric == GOODPUT]
    assert [(one.variant, one.mean) for one in rates] == [("rust-async", 1000), ("node", 1000)]
    # The block was made again: both are there once more, and each counts once.
    assert result.trials == {Verdict.OK: 7, Verdict.VOID: 1}
    assert [one.n for one in rates] == [3, 3]
    assert result.headline == "rust-async 1,000/s, node 1,000/s"


def test_the_worst_variant_gives_the_verdict(real: Catalog) -> None:
    study = Bench(real, request("rust-async", "node"))
    specs = [spec for block in study.outline() for spec in block]
    trials = [made_trial(spec) for spec in specs]
    assert study.conclude(trials, Baselines()).verdict is Verdict.OK
    bad = next(trial for trial in trials if trial.spec.variants == ["node"])
    bad.verdict, bad.findings = Verdict.INVALID, [finding("invalid", text="wrong")]
    found = study.conclude(trials, Baselines())
    assert (found.verdict, found.reasons) == (Verdict.INVALID, [f"node: {bad.spec.key}: wrong"])
    verdicts = {one.variant: one.verdict for one in found.conclusions.estimates}
    assert verdicts == {"rust-async": Verdict.OK, "node": Verdict.INVALID}


def test_nothing_was_made(real: Catalog) -> None:
    found = Bench(real, request()).conclude([], Baselines())
    assert (found.verdict, found.reasons) == (Verdict.VOID, ["rust-async: only 0 of 3 starts are good"])


# ---- what a person reads ----

CORE_0 = {"db": role(0.52), "pgbouncer": role(0.35), "proxy": role(0.07), "loadgen": role(0.04)}


def start(label: str, block: int, rate: float, cost: float, rest: int, **roles: Role) -> Trial:
    """A fresh start that is limited by the application or by what shares core 0."""
    closed = good_window(
        goodput_rps=rate,
        app_cpu_us_per_request=cost,
        app_memory_peak_bytes=(50 + block) << 20,
        bottleneck="database" if roles else "app-cpu",
        evidence=["database 0.52 of 1 cores"] if roles else ["app 0.97 of 1 cores"],
        roles={**CORE_0, **roles} if roles else quiet_roles(app=role(0.97, "4")),
        findings=[finding("warning", "steal", "the hypervisor took 4 %")] if block == 2 else [],
    )
    hdr = encode(np.repeat([0.004 + block / 1000, 0.02], 4000))
    times = Times(samples=8000)
    opened = good_window("open", offered_rps=rate / 2, response_time_hdr=hdr, response_time_ms=times)
    made = made_trial(trial_spec(f"{block}-{label}", label, block=block), closed=closed, open=opened)
    made.starts[label].memory_rest_bytes = rest << 20
    return made


def shown(blocks: int, spoilt: bool = False) -> Result[Benched]:
    """Two whose blocks scatter by the host alone; the third is wrong, if so asked, in a start that was disturbed as well."""
    hosts = (1.0, 1.2, 0.8, 1.1, 0.9, 1.3)[:blocks]
    names = ["rust-async", "node", "python-sync"]
    trials = [
        one
        for n, host in enumerate(hosts, 1)
        for one in (
            start(names[0], n, 1000 * host, 300 / host, 12, app=role(0.3, "1")),
            start(names[1], n, 1100 * host, 270 / host * (1 + n / 1000), 20),
            start(names[2], n, 400 * host, 900 / host, 30),
        )
    ]
    if spoilt:
        trials[2].verdict = Verdict.INVALID
        trials[2].findings += [finding("invalid", text="a wrong length"), finding("void", "steal", "stolen")]
    asked = request(*names, plan="nightly")
    baselines = Baselines(ceilings_rps={"null": 20_000.0, "database": 1_050.0, "proxy": None})
    study = Bench(Catalog(ROOT), asked)
    conclusions = conclude_trials([study.variants], trials, blocks, baselines)
    hosted = environment_of(host={"cpus": 2, "cpu_model": "x", "memory_bytes": 1 << 30, "kernel": "6"})
    return result_of(
        asked,
        conclusions,
        baselines=baselines,
        made_again={"python-sync": 3} if spoilt else {},
        environments=dict.fromkeys(names, hosted),
    )


@pytest.mark.parametrize("name", ["bench", "bench-spoilt"])
def test_the_report_is_the_golden_one(name: str) -> None:
    is_golden(Bench.report(shown(3, spoilt=True) if name == "bench-spoilt" else shown(6)), name)


def test_every_bottleneck_has_words() -> None:
    tags = {tag for tag, _ in bottleneck.LIMITS.values()}
    assert (
        tags
        | {"generator-thread", "app-thread", "pool-wait", "thread-pool", "distance", bottleneck.BESIDE[0]}
        | {"latency-bound", "offered-load", "disk", "unknown"}
        == BOTTLENECKS.keys()
    )


# ---- the conditions, and what their windows say of the three questions ----


NAMES = ("rust-async", "python-sync")
QUESTIONED = request(*NAMES, study="questions", plan="smoke")


def variant(study: Questions, label: str) -> Variant:
    return next(one for one in study.variants if one.label == label)


def test_each_implementation_under_each_condition(real: Catalog) -> None:
    study = Questions(real, QUESTIONED)
    assert len(study.variants) == 2 * len(CONDITIONS) == 12
    of: dict[str, Any] = {
        "base": "rust-async",
        "implementation": "rust-async",
        "coordinates": {"question": "cost"},
    }
    assert variant(study, "rust-async @ as asked") == Variant(label="rust-async @ as asked", **of)
    bound = variant(study, "rust-async @ direct, pool 4")
    assert (bound.topology, bound.settings, bound.db_rtt_ms) == ("direct", {"DB_POOL_MAX": "4"}, None)
    far = variant(study, "rust-async @ 15 ms, pool 80")
    assert (far.db_rtt_ms, far.settings) == (15, {"DB_POOL_MAX": "80"})
    assert far.scenario_changes == {"connections": CONNECTIONS}
    check(real, QUESTIONED, study.variants)


def test_what_is_compared_stands_side_by_side(real: Catalog) -> None:
    """A block is one condition with every implementation: the host has half a minute to drift, not minutes."""
    blocks = Questions(real, QUESTIONED).outline()
    assert len(blocks) == 3 * len(CONDITIONS)
    positions = {variant.label: variant.position for variant in Questions(real, QUESTIONED).variants}
    told = [[positions[spec.variants[0]] for spec in block] for block in blocks]
    assert all(one.coordinates == other.coordinates for one, other in told)
    for n in range(0, len(told), len(CONDITIONS)):
        conditions = [str(one.coordinates) for one, _ in told[n : n + len(CONDITIONS)]]
        assert sorted(conditions) == sorted(str(one.coordinates) for one in CONDITIONS), (
            "each once in a round"
        )
    orders = {(one.variant, other.variant) for one, other in told}
    assert orders == {NAMES, NAMES[::-1]}, "in either order"


def test_handler_threads_are_enough_for_the_pool(real: Catalog) -> None:
    """Two workers of ten threads hold twenty connections; for eighty there have to be more."""
    study = Questions(real, QUESTIONED)
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
    study = Questions(real, QUESTIONED)
    made = play(study, answer)
    for trial in made:
        trial.starts[trial.spec.variants[0]].memory_rest_bytes = 20 << 20
    return result_of(QUESTIONED, study.conclude(made, Baselines()), environments={})


def test_what_the_windows_say(real: Catalog) -> None:
    found = answered(real)
    assert found.verdict is Verdict.OK
    told = found.conclusions
    bound = [application_bound(told, Position(name, APP_BOUND.coordinates)) for name in NAMES]
    assert bound == [False, True]
    far = Position("python-sync", WAITING[-1].coordinates)
    assert [one.mean for one in told.estimates if one.metric == LATENCY_BOUND] == [pytest.approx(90)] * 8
    assert told.mean_of("latency_bound_rps", far) == pytest.approx(400 / 0.9)
    cost = there(told.contrast_of(APP, Position("python-sync", COST.coordinates)))
    assert cost.ratio == pytest.approx(3.0)
    assert all(one.to == "rust-async" != one.of for one in told.contrasts)
    assert found.headline == ("rust-async 3,333 per core-s, python-sync 1,111 per core-s")


def test_the_report_of_the_questions_is_the_golden_one(real: Catalog) -> None:
    is_golden(Questions.report(answered(real)), "questions", 400)


def test_a_session_to_its_end(real: Catalog, tmp_path: Path) -> None:
    result, _ = run(Questions, QUESTIONED, session(real, tmp_path, FakeLab(answer=answer)))
    assert (result.verdict, result.trials) == (Verdict.OK, {Verdict.OK: 36})
