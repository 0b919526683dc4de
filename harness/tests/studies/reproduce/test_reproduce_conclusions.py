"""What a reproduction concludes: claims, rows, the whole, and how it is told."""

import math

import numpy as np
import pytest
from harness_engine import text
from harness_experiments import FAST, OURS, SLOW, made, reproduction, trials
from harness_samples import PROPERTY
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis.ratios import MARGIN, Ratio, compare, compare_many
from tandem.record.result import Result
from tandem.record.window import Verdict
from tandem.studies.reproduce.claims import Says, adjusted, implied, ratio, size, verdict
from tandem.studies.reproduce.conclusions import Reproduced, figure
from tandem.studies.reproduce.report import judged, markdown, report
from tandem.wording import ratio_with_interval

RATES = {SLOW: 100.0, FAST: 370.0, OURS: 369.0}


# ---- claims ----


@pytest.mark.parametrize(
    ("says", "ratios", "word"),
    [
        ("more", [2.0, 2.1, 1.9], "stands"),
        ("more", [0.5, 0.52, 0.48], "reversed"),
        ("less", [0.5, 0.52, 0.48], "stands"),
        ("less", [2.0, 2.1, 1.9], "reversed"),
        ("more", [1.001, 1.0, 0.999], "gone"),
        ("more", [1.011, 1.01, 1.009], "gone"),
        ("more", [1.5, 0.9, 1.1], "not decided"),
        ("more", [8.0], "not decided"),
        ("more", [], "not decided"),
        ("same", [1.001, 1.0, 0.999], "stands"),
        ("same", [2.0, 2.1, 1.9], "gone"),
        ("same", [0.5, 0.52, 0.48], "gone"),
        ("same", [1.5, 0.9, 1.1], "not decided"),
    ],
)
def test_what_becomes_of_a_claim(says: Says, ratios: list[float], word: str) -> None:
    assert verdict(says, compare([math.log(value) for value in ratios])) == word


def among(one: Ratio, other: Ratio) -> list[tuple[Says, Ratio]]:
    """A claim beside nine others."""
    return [("more", one), *((("more", other),) * 9)]


def test_many_claims_share_what_chance_may_decide() -> None:
    """A p of 0.03 decides a claim that stands alone, and not one among ten that are noise."""
    weak = compare([0.30, 0.02, 0.25, 0.35, 0.05, 0.1])
    [alone] = adjusted([("more", weak)])
    assert alone is not None
    assert 0.01 < alone < 0.05
    assert verdict("more", weak, alone) == "stands"
    noise = compare([0.5, -0.5, 0.4, -0.45, 0.1, -0.02])
    p, *others = adjusted(among(weak, noise))
    assert p is not None
    assert p > 0.05
    assert verdict("more", weak, p) == "not decided"
    assert all(verdict("more", noise, other) == "not decided" for other in others)
    strong = compare([1.0, 1.01, 0.99])
    kept = adjusted(among(weak, strong))[0]
    assert kept is not None
    assert kept < 0.05, "beside many that stand it stands as well"
    assert adjusted([("more", compare([0.1]))]) == [None]


def test_claims_that_claim_nothing_true_are_decided_wrongly_in_five_percent() -> None:
    """Experiments of eight claims whose truth is no difference at all, too noisy to see that: none may be decided."""
    values = np.random.default_rng(4).normal(0, 0.3, (400, 8, 5))
    false = 0
    for claims in values:
        found = compare_many(claims)
        ps = adjusted([("more", one) for one in found])
        false += any(verdict("more", one, p) != "not decided" for one, p in zip(found, ps, strict=True))
    assert false / len(values) < 0.05 + 3 * math.sqrt(0.05 * 0.95 / len(values))
    alone = [any(verdict("more", one) != "not decided" for one in compare_many(claims)) for claims in values]
    assert np.mean(alone) > 0.2, "the control: one by one"


def test_a_claim_that_its_own_interval_would_decide_says_why_it_is_not() -> None:
    found = reproduction(trials(RATES))
    [claim, *_] = found.conclusions.claims
    assert claim.p_adjusted is not None
    assert judged(claim) == "stands, smaller"
    lost = claim.model_copy(update={"p_adjusted": 0.08, "verdict": "not decided", "size": None})
    assert judged(lost) == "not decided (p 0.08 over all claims)"


POSITIVE = st.floats(0.01, 100)


@PROPERTY
@given(st.lists(POSITIVE, min_size=2, max_size=8))
def test_swapping_the_rows_turns_the_claim(values: list[float]) -> None:
    there = compare([math.log(v) for v in values])
    back = compare([-math.log(v) for v in values])
    assert verdict("more", there) == verdict("less", back)
    assert verdict("same", there) == verdict("same", back)
    opposite = {"stands": "reversed", "reversed": "stands"}
    word = verdict("more", there)
    assert verdict("less", there) == opposite.get(word, word)


@PROPERTY
@given(st.lists(POSITIVE, min_size=2, max_size=8))
def test_a_claim_that_stands_has_its_interval_on_the_right_side(values: list[float]) -> None:
    found = compare([math.log(v) for v in values])
    assert found.interval is not None
    low, high = found.interval
    word = verdict("more", found)
    assert (word == "stands") == (low > 1 and high > 1 + MARGIN)
    assert (word == "reversed") == (high < 1 and low < 1 / (1 + MARGIN))
    if word == "gone":
        assert verdict("same", found) == "stands"


@PROPERTY
@given(st.dictionaries(st.integers(1, 9), POSITIVE), st.dictionaries(st.integers(1, 9), POSITIVE))
def test_only_blocks_that_have_both_count(of: dict[int, float], to: dict[int, float]) -> None:
    assert ratio(of, to).n == len(of.keys() & to.keys())


def test_what_a_published_ratio_claims() -> None:
    assert [implied(value) for value in (None, 8.5, 0.54, 1.01, 0.98)] == [
        None,
        "more",
        "less",
        "same",
        "same",
    ]


@pytest.mark.parametrize(
    ("published", "ratios", "told"),
    [
        (8.5, [1.5, 1.51, 1.49], "smaller"),
        (8.5, [8.4, 8.5, 8.6], "as published"),
        (8.5, [20.0, 20.1, 19.9], "larger"),
        (8.5, [8.7, 8.7, 8.7], "as published"),  # off by less than the margin, and the same in every block
        (8.5, [8.8, 8.8, 8.8], "larger"),
        (0.5, [0.8, 0.81, 0.79], "smaller"),
        (0.5, [0.1, 0.11, 0.1], "larger"),
        (None, [2.0, 2.01, 1.99], None),
    ],
)
def test_how_large_a_difference_that_stands_is(
    published: float | None, ratios: list[float], told: str | None
) -> None:
    found = compare([math.log(value) for value in ratios])
    assert size("more", "stands", published, found) == told
    assert size("more", "gone", published, found) is None
    assert size("same", "stands", published, found) is None


def test_an_interval_without_any_width_is_not_shown_as_one() -> None:
    same, scattered = (
        compare([math.log(value) for value in values]) for values in ([0.329] * 3, [0.32, 0.33, 0.34])
    )
    assert ratio_with_interval(same.ratio, same.interval) == "× 0.33 (the same in every block)"
    assert ratio_with_interval(scattered.ratio, scattered.interval) == "× 0.33 (0.31 to 0.36)"
    assert ratio_with_interval(0.329, None) == "× 0.33"
    assert ratio_with_interval(None, None) == "–"


# ---- the result ----


def test_rows_have_means_and_claims_are_judged_over_blocks() -> None:
    found = reproduction(trials(RATES))
    assert found.verdict is Verdict.OK
    slow = found.conclusions.rows[0]
    assert (slow.label, slow.ceilings, slow.bottleneck) == (SLOW, {"threads/delay": 100.0}, "thread-pool")
    rate = slow.figures["goodput_rps"]
    assert rate.mean == pytest.approx(100)
    assert rate.interval is not None
    assert rate.interval[0] < 100 < rate.interval[1]
    [faster, framework] = found.conclusions.claims
    assert (faster.verdict, faster.published, faster.size) == ("stands", 4.0, "smaller")
    assert faster.ratio.ratio == pytest.approx(3.7)
    assert framework.verdict == "stands"
    again = Result[Reproduced].model_validate_json(found.model_dump_json())
    assert again.model_dump_json() == found.model_dump_json()
    assert figure(found.conclusions, SLOW, "goodput_rps") == rate.mean


def test_a_trial_that_is_not_ok_counts_for_nothing() -> None:
    bad = made(FAST, 1, 9.0, verdict=Verdict.VOID, reason="steal", figures={})
    found = reproduction([bad, *(s for s in trials(RATES) if (s.row, s.block) != (FAST, 1))])
    assert found.verdict is Verdict.OK
    assert found.conclusions.rows[1].figures["goodput_rps"].n == 4
    assert found.conclusions.claims[0].ratio.n == 4
    assert found.reasons == [f"{FAST}, round 1: void: steal"]


@pytest.mark.parametrize("bad", [Verdict.INVALID, Verdict.FAILED])
def test_a_row_with_an_invalid_trial_tells_no_figure_and_decides_no_claim(bad: Verdict) -> None:
    """Its good trials would be a selection."""
    found = reproduction(
        [
            one.model_copy(update={"verdict": bad}) if (one.row, one.block) == (FAST, 1) else one
            for one in trials(RATES)
        ]
    ).conclusions
    assert found.rows[0].figures
    assert found.rows[1].figures == {}
    assert len(found.rows[1].trials) == 5, "the trials stay, with their reason"
    touched = [claim for claim in found.claims if FAST in (claim.of, claim.to)]
    assert touched
    assert {(claim.ratio.ratio, claim.verdict) for claim in touched} == {(None, "not decided")}


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, Verdict.OK),
        ({2: Verdict.VOID}, Verdict.OK),
        ({2: Verdict.VOID, 3: Verdict.VOID, 4: Verdict.VOID, 5: Verdict.VOID}, Verdict.VOID),
        ({5: Verdict.INVALID}, Verdict.INVALID),
        ({4: Verdict.INVALID, 5: Verdict.FAILED}, Verdict.FAILED),
    ],
)
def test_the_verdict_of_the_whole(changes: dict[int, Verdict], verdict: Verdict) -> None:
    found = [
        s.model_copy(update={"verdict": changes[s.block]}) if s.row == SLOW and s.block in changes else s
        for s in trials(RATES)
    ]
    assert reproduction(found).verdict is verdict


def test_a_block_that_was_made_again_is_a_block_of_its_own() -> None:
    """Its good trials of the first time count as well, but a ratio pairs rows of one time."""
    void = made(SLOW, 1, 100.0, verdict=Verdict.VOID, reason="steal", figures={})
    again = [
        made(SLOW, 1, 100.0, attempt=2),
        made(FAST, 1, 370.0, attempt=2),
        made(OURS, 1, 369.0, attempt=2),
    ]
    found = reproduction([void, *(one for one in trials(RATES) if (one.row, one.block) != (SLOW, 1)), *again])
    slow, fast, _ = found.conclusions.rows
    assert (slow.figures["goodput_rps"].n, fast.figures["goodput_rps"].n) == (5, 6)
    assert found.conclusions.claims[0].ratio.n == 5
    assert found.verdict is Verdict.OK
    assert "5 of 6" in text(report(found))


def test_a_row_without_any_trial_makes_no_ok() -> None:
    found = reproduction(trials({SLOW: 100.0, FAST: 370.0}))
    assert found.verdict is Verdict.VOID
    assert found.conclusions.claims[1].verdict == "not decided"


def test_one_start_has_a_mean_and_no_interval() -> None:
    found = reproduction(trials(RATES, blocks=1), plan="smoke")
    assert found.conclusions.rows[0].figures["goodput_rps"].interval is None
    assert [claim.verdict for claim in found.conclusions.claims] == ["not decided"], "smoke measures two rows"


def test_the_report_has_ours_beside_the_published() -> None:
    told = text(report(reproduction(trials(RATES))))
    for part in (
        "100 (90)",
        "370 ± 1",
        "threads/delay 100 (100%)",
        "waiting for a handler thread",
        "× 4.00",
        "stands, smaller",
        "in brackets: a desktop",
        "not published",
        "Async won.",
        "time: windows 150 s",
    ):
        assert part in told, part
    page = markdown(reproduction(trials(RATES)))
    assert f"| {FAST} | 5 | 400 (450) | 370 ± 1 |" in page
    assert "| async is four times faster | requests: async / sync, 2 threads | × 4.00 |" in page
    smoke = " ".join(text(report(reproduction(trials(RATES, 2), plan="smoke"))).split())
    assert "about the reference result: Async won." in smoke, "smoke itself concludes nothing"
