"""tandem.crosscheck.crosscheck: what agrees, what disagrees, and what cannot be told."""

import io
from typing import Any

import numpy as np
import pytest
from harness_samples import NOW, PROPERTY, REQUESTS, finding, good_window
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tandem.crosscheck.crosscheck import (
    FIGURES,
    CrossCheck,
    Pair,
    compare,
    compare_all,
    conclude,
    disturbances,
    report,
)
from tandem.record.window import Times, Verdict, Window

SHIFT_MS = 5.0
SERVICE_P50 = FIGURES[1]


def window(shift_ms: float = 0.0, **changes: Any) -> Window:
    """An open window, all of whose times are later by so much."""
    base = good_window("open")

    def shifted(times: Times | None) -> Times:
        assert times is not None
        given = times.model_dump()
        return Times(
            **{
                k: v + shift_ms if k not in ("samples", "censored") and v is not None else v
                for k, v in given.items()
            }
        )

    moved = {
        "service_time_ms": shifted(base.service_time_ms),
        "response_time_ms": shifted(base.response_time_ms),
    }
    return good_window("open", **{**moved, **changes})


def pairs(shift_ms: float = 0.0, noise_ms: float = 0.02, number: int = 6) -> list[Pair]:
    """Pairs with a little noise; vegeta's times are shifted."""
    draw = np.random.default_rng(1).normal(0, noise_ms, (number, 2))
    return [Pair(window(float(a)), window(shift_ms + float(b))) for a, b in draw]


def judged(given: list[Pair]) -> tuple[str, list[str]]:
    return conclude(given, compare_all(given))


def test_the_same_times_agree() -> None:
    found = compare_all(pairs())
    assert {c.verdict for c in found} == {"agree"}
    assert judged(pairs()) == ("agree", [])


@pytest.mark.parametrize("shift_ms", [SHIFT_MS, -3.0, 1.0])
def test_one_side_with_shifted_times_disagrees(shift_ms: float) -> None:
    """The control: a generator that adds time of its own, or hides some, must be noticed."""
    verdict, reasons = judged(pairs(shift_ms))
    assert verdict == "disagree"
    assert any(reason.startswith("service time p50") for reason in reasons)
    assert any(reason.startswith("oha used 0.30 of its 1 cores") for reason in reasons)


def test_a_shift_within_the_tolerance_agrees() -> None:
    assert judged(pairs(0.1))[0] == "agree"


def test_noise_as_large_as_the_tolerance_decides_nothing() -> None:
    found = compare(SERVICE_P50, pairs(0.0, noise_ms=1.0))
    assert found.verdict == "undecided"
    verdict, reasons = judged(pairs(0.0, noise_ms=1.0))
    assert verdict == "undecided"
    assert "service time p50, ms: more pairs are needed" in reasons


def test_missing_answers_of_one_side_disagree() -> None:
    given = [Pair(window(), window(good=round(0.98 * REQUESTS))) for _ in range(4)]
    verdict, reasons = judged(given)
    assert verdict == "disagree"
    assert reasons[0].startswith("right answers")


@pytest.mark.parametrize("side", ["oha", "vegeta"])
def test_a_gate_that_one_side_alone_fails_is_a_disagreement(side: str) -> None:
    bad = window(findings=[finding("invalid", "proxy-mismatch", "HAProxy saw none")], verdict=Verdict.INVALID)
    given = [*pairs()[:3], Pair(bad, window()) if side == "oha" else Pair(window(), bad)]
    verdict, reasons = judged(given)
    assert verdict == "disagree"
    assert f"only by {side}: HAProxy saw none" in reasons


def test_a_gate_that_both_fail_is_none() -> None:
    """Then the application is wrong, and they agree about that."""
    bad = window(findings=[finding("invalid", "wrong-body")], verdict=Verdict.INVALID)
    assert judged([Pair(bad, bad) for _ in range(3)])[0] == "agree"


def test_a_percentile_with_too_few_samples_is_not_compared() -> None:
    few = Times(samples=500, mean=5.0, p50=4.0, max=20.0)
    given = [Pair(window(), window(service_time_ms=few)) for _ in range(4)]
    found = {c.figure: c for c in compare_all(given)}
    assert found["service time p99, ms"].verdict == "not compared"
    assert found["service time p99, ms"].difference is None
    assert found["service time p50, ms"].verdict == "agree"
    assert judged(given)[0] == "agree"


@pytest.mark.parametrize("number", [0, 1, 2])
def test_too_few_pairs_decide_nothing(number: int) -> None:
    verdict, reasons = judged(pairs(number=number))
    assert verdict == "undecided"
    assert reasons == [f"only {number} pairs were not disturbed, and 3 are needed"]


def test_a_disturbed_pair_says_by_what() -> None:
    stolen = Pair(window(), window(findings=[finding("void", "steal", "the hypervisor took 12 %")]))
    assert stolen.disturbed
    assert not pairs()[0].disturbed
    assert disturbances([stolen, stolen, *pairs()]) == ["left out: under vegeta the hypervisor took 12 %"]


@PROPERTY
@given(st.floats(-20, 20), st.floats(0.001, 2))
def test_exchanging_the_sides_changes_the_sign_and_no_verdict(shift_ms: float, noise_ms: float) -> None:
    there = compare_all(pairs(shift_ms, noise_ms))
    back = compare_all([Pair(pair.vegeta, pair.oha) for pair in pairs(shift_ms, noise_ms)])
    for a, b in zip(there, back, strict=True):
        assert a.verdict == b.verdict
        assert a.difference == pytest.approx(-(b.difference or 0.0))


def test_the_report() -> None:
    given = pairs(SHIFT_MS)
    comparisons = compare_all(given)
    verdict, reasons = conclude(given, comparisons)
    found = CrossCheck(
        started_at=NOW,
        implementation="rust-async",
        scenario="index",
        topology="full",
        placement="two-cores",
        rate_rps=4000,
        window_s=5,
        pairs=6,
        disturbed=1,
        versions={"oha": "1.16.0", "vegeta": "12.12.0"},
        comparisons=comparisons,
        verdict=verdict,
        reasons=reasons,
        windows=[],
        phases_s={"stop": 3.0},
    )
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(report(found))
    text = console.export_text()
    assert "rust-async, index: oha and vegeta at 4,000/s, 6 pairs of 5 s" in text
    assert "1 disturbed pairs were left out" in text
    assert "the generators: disagree" in text
    assert "time: stop 3 s" in text
    assert CrossCheck.model_validate_json(found.model_dump_json()).verdict == "disagree"
