"""tandem.studies.crosscheck: what agrees, what disagrees, and what cannot be told."""

from typing import Any

import numpy as np
import pytest
from harness_engine import Answer, invalid_window, play, request, result_of, text
from harness_places import FIXTURES
from harness_samples import PROPERTY, REQUESTS, finding, good_window
from hypothesis import given
from hypothesis import strategies as st

from tandem.catalog.catalog import Catalog
from tandem.engine.stand_ins import wanted
from tandem.errors import UsageError
from tandem.record.conclusion import Contrast, Estimate
from tandem.record.request import Request
from tandem.record.result import Baselines, Concluded, Result
from tandem.record.trial import Trial, TrialSpec, WindowSpec
from tandem.record.window import Times, Verdict, Window
from tandem.studies.crosscheck.study import (
    CRITERIA,
    OHA,
    SERVICE_P50,
    VEGETA,
    CrossCheck,
    CrossChecked,
    CrossCheckOptions,
    WindowPair,
    compared,
    conclude,
    disturbances,
    is_disturbed,
    means,
    pairs_of,
)

SHIFT_MS = 5.0


def window(shift_ms: float = 0.0, **changes: Any) -> Window:
    """An open window, all of whose times are later by so much."""
    base = good_window("open").model_dump(include={"service_time_ms", "response_time_ms"}, exclude_none=True)
    times = {
        name: Times(
            **{key: value + shift_ms * (key not in ("samples", "censored")) for key, value in own.items()}
        )
        for name, own in base.items()
    }
    return good_window("open", **{**times, **changes})


def disturbed(text: str) -> Window:
    return window(findings=[finding("void", "steal", text)], verdict=Verdict.VOID)


def pair(oha: Window, vegeta: Window) -> WindowPair:
    return {OHA: oha, VEGETA: vegeta}


def pairs(shift_ms: float = 0.0, noise_ms: float = 0.02, number: int = 6) -> list[WindowPair]:
    """Pairs with a little noise; vegeta's times are shifted."""
    draw = np.random.default_rng(1).normal(0, noise_ms, (number, 2))
    return [pair(window(float(a)), window(shift_ms + float(b))) for a, b in draw]


def every(given: list[WindowPair]) -> tuple[list[Estimate], list[Contrast]]:
    found = [compared(name, given) for name in CRITERIA]
    return [one for both, _ in found for one in both], [contrast for _, contrast in found]


def words(given: list[WindowPair]) -> dict[str, str | None]:
    return {one.metric: one.word for one in every(given)[1]}


def judged(given: list[WindowPair]) -> tuple[str, list[str]]:
    return conclude(given, *every(given))


@pytest.mark.parametrize("shift_ms", [0.0, 0.1])
def test_times_within_the_tolerance_agree(shift_ms: float) -> None:
    assert {*words(pairs(shift_ms)).values()} == {"agree"}
    assert judged(pairs(shift_ms)) == ("agree", [])


@pytest.mark.parametrize("shift_ms", [SHIFT_MS, -3.0, 1.0])
def test_one_side_with_shifted_times_disagrees(shift_ms: float) -> None:
    """The control: a generator that adds time of its own, or hides some, must be noticed."""
    verdict, reasons = judged(pairs(shift_ms))
    assert verdict == "disagree"
    assert any(reason.startswith("service time p50") for reason in reasons)
    assert any(reason.startswith("oha used 0.30 of its 1 cores") for reason in reasons)


def test_noise_as_large_as_the_tolerance_decides_nothing() -> None:
    assert words(pairs(0.0, noise_ms=1.0))[SERVICE_P50] == "undecided"
    verdict, reasons = judged(pairs(0.0, noise_ms=1.0))
    assert (verdict, "service time p50, ms: more pairs are needed" in reasons) == ("undecided", True)


def test_missing_answers_of_one_side_disagree() -> None:
    verdict, reasons = judged([pair(window(), window(good=round(0.98 * REQUESTS))) for _ in range(4)])
    assert (verdict, reasons[0].startswith("right answers")) == ("disagree", True)


@pytest.mark.parametrize("side", [OHA, VEGETA])
def test_a_gate_that_one_side_alone_fails_is_a_disagreement(side: str) -> None:
    """Where both fail it the application is wrong, and they agree about that."""
    bad = window(findings=[finding("invalid", "proxy-mismatch", "HAProxy saw none")], verdict=Verdict.INVALID)
    verdict, reasons = judged([*pairs()[:3], pair(window(), window()) | {side: bad}])
    assert verdict == "disagree"
    assert f"only under {side}: HAProxy saw none" in reasons
    assert judged([pair(bad, bad) for _ in range(3)])[0] == "agree"


def test_a_percentile_with_too_few_samples_is_not_compared() -> None:
    few = Times(samples=500, mean=5.0, p50=4.0, max=20.0)
    given = [pair(window(), window(service_time_ms=few)) for _ in range(4)]
    assert (words(given)["service_time_p99_ms"], words(given)[SERVICE_P50]) == ("not compared", "agree")
    assert judged(given)[0] == "agree"


@pytest.mark.parametrize("number", [0, 1, 2])
def test_too_few_pairs_decide_nothing(number: int) -> None:
    verdict, reasons = judged(pairs(number=number))
    assert verdict == "undecided"
    assert reasons == [f"only {number} pairs were not disturbed, and 3 are needed"]


def test_a_disturbed_pair_says_by_what() -> None:
    stolen = pair(window(), disturbed("the hypervisor took 12 %"))
    assert is_disturbed(stolen)
    assert not is_disturbed(pairs()[0])
    assert disturbances([stolen, stolen, *pairs()]) == ["left out: under vegeta the hypervisor took 12 %"]


@PROPERTY
@given(st.floats(-20, 20), st.floats(0.001, 2))
def test_exchanging_the_sides_changes_no_verdict(shift_ms: float, noise_ms: float) -> None:
    given = pairs(shift_ms, noise_ms)
    back = [pair(one[VEGETA], one[OHA]) for one in given]
    assert words(given) == words(back)
    for name in CRITERIA:
        assert means(name, every(given)[0]) == means(name, every(back)[0])[::-1]


# ---- what is made ----


def asked(pairs: int = 3, rate_rps: int | None = None, *names: str, **changes: Any) -> Request:
    options = CrossCheckOptions(pairs=pairs, window_s=5, rate_rps=rate_rps).as_options()
    fields = {"study": "crosscheck", "scenario": "index", "plan": "ceiling", "options": options, **changes}
    return request(*names, **fields)


def test_pairs_begin_with_either_generator_in_turn(real: Catalog) -> None:
    [[spec]] = CrossCheck(real, asked(rate_rps=500)).outline()
    assert [window.name for window in spec.windows] == [
        *("1-oha", "1-vegeta", "2-vegeta", "2-oha", "3-oha", "3-vegeta")
    ]
    assert all(window.generator == window.name.partition("-")[2] for window in spec.windows)
    assert {(w.load, w.seconds, w.rates_rps["rust-async"]) for w in spec.windows} == {("open", 5, 500)}
    assert wanted(CrossCheck(real, asked())) == []


def concluded(
    real: Catalog, answer: Answer, wanted: Request | None = None
) -> tuple[list[Trial], Concluded[CrossChecked]]:
    study = CrossCheck(real, wanted or asked())
    trials = play(study, answer)
    return trials, study.conclude(trials, Baselines())


def test_without_a_rate_it_is_half_of_what_a_closed_loop_reaches(real: Catalog) -> None:
    [made], found = concluded(real, lambda _, spec: good_window(spec.load, goodput_rps=2000.0))
    assert [record.spec.load for record in made.windows] == ["closed", *["open"] * 6]
    assert {record.spec.rates_rps["rust-async"] for record in made.windows[1:]} == {1000}
    assert len(pairs_of(made)) == 3
    assert (found.verdict, found.reasons, found.conclusions.word) == (Verdict.OK, [], "agree")
    assert (found.conclusions.rate_rps, found.conclusions.pairs, found.conclusions.disturbed) == (1000, 3, 0)


def test_what_answers_wrongly_is_not_compared(real: Catalog) -> None:
    [made], found = concluded(
        real, lambda _, spec: invalid_window() if spec.load == "closed" else good_window("open")
    )
    assert len(made.windows) == 1
    assert (found.verdict, found.reasons) == (Verdict.INVALID, ["invalid: wrong"])
    assert (found.conclusions.word, found.conclusions.rate_rps) == ("undecided", None)


def test_what_answers_nothing_has_no_rate(real: Catalog) -> None:
    _, found = concluded(real, lambda *_: good_window(goodput_rps=1.0))
    assert found.verdict is Verdict.INVALID
    assert "too few right answers to derive a rate from" in found.reasons[0]
    assert "at –/s" in text(CrossCheck.report(result_of(asked(), found)))


def test_disturbed_pairs_are_left_out_and_the_better_attempt_counts(real: Catalog) -> None:
    def noisy(spec: TrialSpec, asked_for: WindowSpec) -> Window:
        bad = {1: {"1-oha"}, 2: {"1-oha", "2-vegeta"}}[spec.attempt]
        return disturbed("20 % steal") if asked_for.name in bad else window()

    made, found = concluded(real, noisy, asked(4, 500))
    assert [t.spec.attempt for t in made] == [1, 2]
    assert (found.verdict, found.conclusions.word) == (Verdict.OK, "agree")
    assert (found.conclusions.pairs, found.conclusions.disturbed) == (3, 1)
    assert "left out: under oha 20 % steal" in found.conclusions.reasons


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (request(study="crosscheck", plan="ceiling"), "needs pairs"),
        (asked(3, 500, "a", "b"), "takes one implementation"),
    ],
)
def test_what_cannot_be_asked(real: Catalog, wanted: Request, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        CrossCheck(real, wanted)


# ---- the report ----


def test_the_report(real: Catalog) -> None:
    def answered(_: TrialSpec, asked_for: WindowSpec) -> Window:
        if asked_for.name == "7-oha":
            return disturbed("20 % steal")
        return window(SHIFT_MS if asked_for.generator == VEGETA else 0.0)

    found = result_of(asked(7, 4000), concluded(real, answered, asked(7, 4000))[1])
    assert found.verdict is Verdict.INVALID
    assert found.reasons
    assert text(CrossCheck.report(found)) == (FIXTURES / "crosscheck-report.txt").read_text()
    assert Result[CrossChecked].model_validate_json(found.model_dump_json()).conclusions.word == "disagree"


REAL = (
    ((0.16237, 0.187003, 1.10669), (0.218875, 0.628567, 0.555741)),
    ((0.160184, 0.226496, 1.25588), (0.170545, 0.247215, 0.197156)),
    ((0.245015, 0.339658, 1.80116), (0.250928, 0.857973, 0.516018)),
)
"""Pairs of a real session, oha's window first: service times p50 and p90 and response time p50, in ms."""


def test_the_same_windows_give_the_same_figures() -> None:
    """As a real session gave them once: by how much vegeta's may be longer, as a share of oha's."""

    def seen(p50: float, p90: float, late: float) -> Window:
        own, response = Times(samples=2000, p50=p50, p90=p90), Times(samples=2000, p50=late)
        return good_window("open", service_time_ms=own, response_time_ms=response)

    given = [pair(seen(*oha), seen(*vegeta)) for oha, vegeta in REAL]
    estimates, contrasts = every(given)
    found = {one.metric: one for one in contrasts}
    assert (found[SERVICE_P50].word, found["service_time_p90_ms"].word) == ("agree", "undecided")
    assert means(SERVICE_P50, estimates) == pytest.approx([0.18919, 0.213449], rel=1e-5)
    difference = {
        "service_time_p90_ms": (-0.338619, 0.992351),
        "response_time_p50_ms": (-1.89891, -0.0309665),
    }
    for name, ends in difference.items():
        oha, _ = means(name, estimates)
        assert found[name].interval == pytest.approx([1 + end / oha for end in ends], rel=1e-5)
    assert judged(given) == ("agree", ["service time p90, ms: more pairs are needed"])
