"""tandem.studies.capacity.study: the order of things, with a simulated server in place of containers."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
from harness_capacity import LABEL, STALL, VOID, WRONG, Simulated, asked, search
from harness_engine import text
from harness_places import FIXTURES
from harness_samples import finding, there
from rich.console import Console

from tandem.catalog.catalog import Catalog
from tandem.engine.estimate import Overheads, estimate_s, overheads_of
from tandem.errors import TandemError, UsageError
from tandem.record.result import Result
from tandem.record.trial import Arrivals
from tandem.record.window import Verdict
from tandem.report.markdown import pictures_in
from tandem.studies.capacity.conclusions import CapacityFound
from tandem.studies.capacity.judged import State
from tandem.studies.capacity.report import report
from tandem.studies.capacity.study import Capacity
from tandem.studies.registry import read_folder


def run(real: Catalog, results: Path, **changes: Any) -> tuple[Simulated, Result[CapacityFound]]:
    """changes: of the simulation."""
    lab = Simulated(**changes)
    result, _ = search(real, results, lab)
    assert not lab.is_up
    [folder] = results.glob("*-capacity-rust-async-capacity")
    assert read_folder(folder)[1].model_dump_json() == result.model_dump_json()
    return lab, result


def test_a_known_limit_is_found_confirmed_and_shown(real: Catalog, tmp_path: Path) -> None:
    lab, result = run(real, tmp_path)
    found = result.conclusions
    assert (result.verdict, result.reasons) == (Verdict.OK, [])
    assert found.decided
    fit = there(found.fit)
    low, high = fit.interval_rps
    assert 950 < low < 1000 < high < 1050
    assert low < there(found.capacity_rps) < high
    assert fit.start_sd < 0.03
    assert lab.visited == ["search", *(f"confirmation-{n}" for n in range(1, 6)), "behaviour"]
    assert result.trials == {Verdict.OK: 7}
    last, still = there(found.behaviour[-1].recovery), there(found.frozen)
    assert last.recovery_s == pytest.approx(last.gap_s)
    assert len(last.per_second_ms) == 20
    assert still.frozen_s == pytest.approx(2.0)
    assert still.recovery_s == 0.0
    named = {"request": result.request.model_copy(update={"plan": "capacity"})}
    assert text(report(result.model_copy(update=named))) == (FIXTURES / "capacity-report.txt").read_text()
    [way] = pictures_in(report(result))
    rows = way.spec["data"]["values"]
    names = [*(f"after {load}%" for load in (110, 150, 300)), "database frozen"]
    assert [row["variant"] for row in rows if row["_last"]] == names, "one place for each name"
    assert min(row["second"] for row in rows if row["variant"] == names[-1]) == pytest.approx(
        -still.thawed_s, abs=0.05
    )


def test_every_window_of_the_search_is_in_its_trial(real: Catalog, tmp_path: Path) -> None:
    result, trials = search(real, tmp_path, Simulated())
    searched, last = trials[0], trials[-1]
    assert searched.spec.windows == [], "it decides as it goes"
    assert [record.spec.name for record in searched.windows[:3]] == ["closed", "probe-1", "probe-2"]
    rates = [record.spec.rates_rps[LABEL] for record in searched.windows[1:]]
    assert rates == [probe.rate_rps for probe in result.conclusions.search]
    assert [probe.where for probe in result.conclusions.search][:2] == ["search/probe-1", "search/probe-2"]
    assert [trial.spec.block for trial in trials] == list(range(1, 8))
    names = [record.spec.name for record in last.windows]
    assert sorted(names[:3]) == ["load-50", "load-75", "load-90"]
    assert names[3] == "frozen"
    assert names[4:] == [f"{name}-{load}" for load in (110, 150, 300) for name in ("load", "after")]
    assert [record.spec.settled for record in last.windows[3:]] == [True] + [True, False] * 3


def test_a_record_from_before_a_load_was_added_says_what_it_said(real: Catalog, tmp_path: Path) -> None:
    result, trials = search(real, tmp_path, Simulated())
    last = trials[-1]
    added = {"load-300", "after-300", "frozen"}
    early = [one for one in last.spec.windows if one.name not in added]
    made = [one for one in last.windows if one.spec.name not in added]
    older = last.model_copy(update={"spec": last.spec.model_copy(update={"windows": early}), "windows": made})
    again = Capacity(real, result.request).conclude([*trials[:-1], older], result.baselines)
    assert (again.verdict, again.conclusions.frozen) == (Verdict.OK, None)
    assert again.conclusions.behaviour == result.conclusions.behaviour[:-1]
    assert again.conclusions.capacity == result.conclusions.capacity


@pytest.mark.parametrize("clients", [{}, {"retries": 1}])
def test_who_sent_a_window_makes_no_other_search(
    real: Catalog, tmp_path: Path, clients: dict[str, int]
) -> None:
    """Windows by vegeta are those that were asked for, when the record is concluded again."""
    plain, _ = search(real, tmp_path / "plain", Simulated())
    under = plain.request.conditions.model_copy(update={"arrivals": Arrivals(process="poisson")})
    variants = [one.model_copy(update={"scenario_changes": clients}) for one in plain.request.variants]
    result, trials = search(real, tmp_path, Simulated(), conditions=under, variants=variants)
    opened = [made.spec for trial in trials for made in trial.windows if made.spec.load == "open"]
    assert {one.generator for one in opened} == {"vegeta"}
    assert (result.verdict, result.conclusions.search) == (Verdict.OK, plain.conclusions.search)


def test_what_is_void_once_is_made_again_and_before_it_and_after_a_failure_the_server_rests(
    real: Catalog, tmp_path: Path
) -> None:
    odd = {"search/closed": VOID, "search/probe-2": VOID, "confirmation-2/probe-3": VOID}
    lab, result = run(real, tmp_path, odd=odd)
    probes = result.conclusions.search
    assert (result.verdict, probes[1].state, there(result.conclusions.fit).starts) == (Verdict.OK, "void", 6)
    assert lab.visited == ["search", *(f"confirmation-{n}" for n in range(1, 6)), "behaviour"]
    assert lab.made[:2] == ["search/closed", "search/closed-again"]
    assert lab.rates[1] == lab.rates[2]
    rests = {"void": 5.0, "failed": 2.0}
    expected = {
        f"search/probe-{number}": rests[before.state]
        for number, before in enumerate(probes[:-1], start=2)
        if before.state in rests
    }
    assert {*expected.values()} == {*rests.values()}
    slept = {name: seconds for name, seconds in lab.slept.items() if name.startswith("search/")}
    assert slept == {"search/closed-again": 5.0, **expected}
    assert (lab.slept["confirmation-1/probe-2"], lab.slept["confirmation-2/probe-4"]) == (2.0, 5.0)


def test_a_person_is_told_what_each_window_came_to(real: Catalog, tmp_path: Path) -> None:
    def shown(folder: str, **changes: Any) -> str:
        screen = io.StringIO()
        search(real, tmp_path / folder, Simulated(**changes), console=Console(file=screen, width=160))
        return screen.getvalue()

    said = shown("plain")
    assert "600/s: passed (p99 20.0 ms)" in said
    wrong = "only 74.1% of the scheduled requests were answered correctly (p99 900.0 ms)"
    assert f"1,350/s: failed: {wrong}" in said
    assert "8 probes: held at 996/s, not at 1,048/s" in said
    assert "150%: 1,000/s of" in said
    assert re.search(r"a window near [\d,]+/s needs \d+ s to measure its p99: about \d+ min remain", said)
    assert "invalid" not in said
    fast = shown("fast", limit=5000.0)
    assert "a window near" not in fast, "ten seconds are enough, as the estimate supposed"
    assert "invalid: not golden" in shown("wrong", odd={"search": WRONG})
    assert "/s: not golden" in shown("overload", odd={"behaviour/load-110": WRONG})


def void_starts(*numbers: int) -> dict[str, Any]:
    """Their first two probes are void."""
    return {f"confirmation-{number}/probe-{n}": VOID for number in numbers for n in (1, 2)}


@pytest.mark.parametrize(
    ("odd", "verdict", "reason", "last", "windows", "kept"),
    [
        ({"search": WRONG}, "invalid", "not golden", "search", 0, (0, 0, 0)),
        ({"search/closed": WRONG}, "invalid", "the closed window: not golden", "search", 1, (0, 0, 0)),
        (
            {"search/closed": VOID, "search/closed-again": VOID},
            "void",
            "the closed window: the hypervisor",
            "search",
            2,
            (0, 0, 0),
        ),
        *(
            (
                {"search/probe-2": first, "search/probe-3": second},
                "void",
                "the host disturbed the probe",
                "search",
                4,
                (3, 0, 0),
            )
            for first, second in ((VOID, VOID), (STALL, VOID), (VOID, STALL))
        ),
        ({"search/probe-4": WRONG}, "invalid", "/s: not golden", "search", 5, (3, 0, 0)),
        ({"confirmation-2/probe-2": WRONG}, "invalid", "/s: not golden", "confirmation-2", 15, (8, 5, 0)),
        ({"confirmation-3": WRONG}, "invalid", "not golden", "confirmation-3", 17, (8, 8, 0)),
        (
            void_starts(1, 3, 4),
            "void",
            "the host disturbed 3 further starts",
            "confirmation-4",
            19,
            (8, 10, 0),
        ),
        ({"behaviour": WRONG}, "invalid", "not golden", "behaviour", 29, (8, 20, 0)),
        ({"behaviour/load-110": WRONG}, "invalid", "/s: not golden", "behaviour", 34, (8, 20, 3)),
    ],
)
def test_what_ends_it_leaves_what_was_measured(
    real: Catalog,
    tmp_path: Path,
    odd: dict[str, Any],
    verdict: str,
    reason: str,
    last: str,
    windows: int,
    kept: tuple[int, ...],
) -> None:
    lab, result = run(real, tmp_path, odd=odd)
    found = result.conclusions
    assert (result.verdict, lab.visited[-1], len(lab.made)) == (verdict, last, windows)
    assert reason in result.reasons[0]
    assert (len(found.search), len(found.confirmations), len(found.behaviour)) == kept
    assert (found.capacity_rps is None) == (last != "behaviour")
    assert (found.closed_goodput_rps is None) == (kept[0] == 0)
    assert f"{verdict}: {result.reasons[0]}" in text(report(result))


@pytest.mark.parametrize(
    ("slo", "limits", "verdict", "reason"),
    [
        ("p50=50ms", {"limits": {"search": 1.0}}, Verdict.INVALID, "no rate was found at which"),
        ("p50=50ms", {"limits": {"search": 1e9}}, Verdict.INVALID, "the probes ran out at"),
        ("p99=50ms", {"limit": 1.0}, Verdict.FAILED, "p99 needs 10,000 samples: at 1/s"),
    ],
)
def test_a_search_without_a_bracket_says_why(
    real: Catalog, tmp_path: Path, slo: str, limits: dict[str, Any], verdict: Verdict, reason: str
) -> None:
    """The closed window tells of another server than the probes meet; or the server is too slow for the percentile."""
    options = {"slo": slo, "longest_s": 3600}
    result, _ = search(real, tmp_path, Simulated(**limits), options=options)
    assert result.verdict is verdict
    assert reason in result.reasons[0]


def test_a_generator_that_stalls_twice_is_the_limit(real: Catalog, tmp_path: Path) -> None:
    _, result = run(real, tmp_path, limit=10_000.0, odd={"search/probe-2": STALL, "search/probe-3": STALL})
    probe = result.conclusions.search[2]
    assert probe.state == "failed"
    assert "cannot offer" in probe.reasons[-1]


def test_void_confirmations_are_replaced_by_further_starts(real: Catalog, tmp_path: Path) -> None:
    lab, result = run(real, tmp_path, odd=void_starts(2, 4))
    assert (result.verdict, result.conclusions.capacity.n) == (Verdict.OK, 5)
    assert lab.visited == ["search", *(f"confirmation-{n}" for n in range(1, 8)), "behaviour"]
    assert [probe.state for probe in result.conclusions.confirmations].count(State.VOID) == 4


def test_a_search_that_was_luckier_than_the_other_starts_does_not_decide(
    real: Catalog, tmp_path: Path
) -> None:
    limits = {f"confirmation-{n}": 700.0 + 5 * n for n in range(1, 6)}
    _, result = run(real, tmp_path, limits=limits)
    assert result.verdict is Verdict.OK
    assert 690 < there(result.conclusions.capacity_rps) < 800
    fit = there(result.conclusions.fit)
    assert fit.interval_rps[0] < 715 < fit.interval_rps[1] < 1000
    assert fit.start_sd > 0.04, "and how far they are apart is said"


@pytest.mark.parametrize("windows", [0, 3, 12, 35])
def test_a_trial_that_breaks_ends_it(real: Catalog, tmp_path: Path, windows: int) -> None:
    lab, result = run(real, tmp_path, stops_at=windows, stops_with=TandemError)
    assert (result.verdict, len(lab.made)) == (Verdict.FAILED, windows)
    assert result.trials[Verdict.FAILED] == 1


def test_an_overload_makes_no_trial_invalid(real: Catalog, tmp_path: Path) -> None:
    odd = {"search/probe-3": [finding("invalid", "incomplete", "a fourth was not answered")]}
    _, result = run(real, tmp_path, odd=odd)
    assert (result.verdict, result.trials) == (Verdict.OK, {Verdict.OK: 7})
    other, _ = search(real, tmp_path / "closed", Simulated(odd={"search/closed": odd["search/probe-3"]}))
    assert (other.verdict, other.trials) == (Verdict.INVALID, {Verdict.INVALID: 1}), "the closed one counts"


def test_a_void_load_and_what_starts_and_ends_say_are_told(real: Catalog, tmp_path: Path) -> None:
    slow = [finding("warning", "slow-start", "it took its time")]
    _, result = run(real, tmp_path, odd={"behaviour/load-50": VOID, "confirmation-1": slow})
    assert (result.verdict, result.conclusions.behaviour[0].verdict) == (Verdict.OK, Verdict.VOID)
    assert [found.text for found in result.findings] == ["confirmation-1: it took its time"]
    told = text(report(result))
    assert "the offered rate (void)" in told
    assert "it took its time [slow-start]" in told


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"options": {"slo": "p98=50ms", "longest_s": 60}}, "such as p99=50ms, not 'p98=50ms'"),
        ({"options": {"slo": "p99=50ms"}}, "longest_s: Field required"),
        ({"variants": []}, "takes one variant, not 0"),
    ],
)
def test_a_request_that_cannot_be_made(
    real: Catalog, tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        Capacity(real, asked(tmp_path, **changes))


def test_the_time_budget(real: Catalog, tmp_path: Path) -> None:
    study = Capacity(real, asked(tmp_path))
    assert 300 < estimate_s(study.outline(), Overheads()) < 900


def test_rests_are_no_overhead(real: Catalog, tmp_path: Path) -> None:
    lab = Simulated(odd={"search/probe-2": VOID})
    _, trials = search(real, tmp_path, lab)
    assert sum(lab.slept.values()) > 5
    assert overheads_of(trials[:1]).near == pytest.approx((0.0, 1.5))


# ---- ceilings ----


@pytest.mark.parametrize(("null_rps", "bounds"), [(1050.0, 3), (5000.0, 0)])
def test_a_capacity_that_reaches_a_ceiling_is_a_bound(
    real: Catalog, tmp_path: Path, null_rps: float, bounds: int
) -> None:
    ceilings = {"null": null_rps, "database": 7000.0}
    lab = Simulated(ceilings_rps=ceilings)
    result, _ = search(real, tmp_path, lab, ceilings=True)
    assert result.baselines.ceilings_rps == ceilings
    assert lab.visited[0] == "search", "a figure of what was asked for comes first"
    looks = [name for name in lab.visited if name.startswith("look-")]
    assert "look-1-database" in looks
    assert "look-2-database" not in looks, "nothing came near it"
    assert ("look-7-null" in looks) == (bounds > 0), "it may bind, so each block looks"
    told = text(report(result))
    found = result.conclusions
    share = (found.capacity_rps or 0) / null_rps
    assert (f"the capacity is at {share * 100:.0f} % of the ceiling null" in told) == (bounds > 0)
    near = [load.share for load in found.behaviour if load.near_ceiling == "95 % of the ceiling null"]
    assert near == [1.1, 1.5, 3.0][:bounds], "the goodput of all overloads is the ceiling's"
    assert f"ceilings (in the blocks): null {null_rps:,.0f}/s, database 7,000/s" in told


def test_without_looks_only_what_the_generator_cannot_offer_is_a_bound(real: Catalog, tmp_path: Path) -> None:
    result, _ = search(real, tmp_path, Simulated())
    assert result.baselines.ceilings_rps == {}
    assert "≥" not in text(report(result))
    result.conclusions.capacity.limit = "generator"
    assert f"capacity ≥ {result.conclusions.capacity_rps}/s" in text(report(result))
