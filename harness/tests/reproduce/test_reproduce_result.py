"""tandem.reproduce: claims, the result, its report, the order of starts, what an interruption leaves."""

import io
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from harness_experiments import FAST, OURS, SLOW, asked, made, reproduction, starts
from harness_samples import NOW, PROPERTY
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tandem.analysis.ratios import MARGIN, compare
from tandem.errors import TandemError, UsageError
from tandem.lab.live import Lines
from tandem.record.window import Verdict
from tandem.reproduce.claims import Says, implied, ratio, size, verdict
from tandem.reproduce.journal import Journal, make_all, read_reproduction, unfinished
from tandem.reproduce.report import markdown, report
from tandem.reproduce.result import Reproduction, Start, start_file, steps

RATES = {SLOW: 100.0, FAST: 390.0, OURS: 389.0}


def text(found: Reproduction) -> str:
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(report(found))
    return console.export_text()


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


# ---- the result ----


def test_rows_have_means_and_claims_are_judged_over_blocks() -> None:
    found = reproduction(starts(RATES))
    assert found.verdict is Verdict.OK
    slow = found.rows[0]
    assert (slow.label, slow.ceilings, slow.bottleneck) == (SLOW, {"threads/delay": 100.0}, "thread-pool")
    rate = slow.figures["goodput_rps"]
    assert rate.mean == pytest.approx(100)
    assert rate.interval is not None
    assert rate.interval[0] < 100 < rate.interval[1]
    [faster, framework] = found.claims
    assert (faster.verdict, faster.published, faster.size) == ("stands", 4.0, "smaller")
    assert faster.ratio.ratio == pytest.approx(3.9)
    assert framework.verdict == "stands"
    assert found.spent_s == {"build": 3.0, "window": 150.0, "fresh start": 22.5}
    assert (
        Reproduction.model_validate_json(found.model_dump_json()).model_dump_json() == found.model_dump_json()
    )


def test_a_start_that_is_not_ok_counts_for_nothing() -> None:
    bad = made(FAST, 1, 9.0, verdict=Verdict.VOID, reason="steal", figures={})
    found = reproduction([bad, *(s for s in starts(RATES) if (s.row, s.block) != (FAST, 1))])
    assert found.verdict is Verdict.OK
    assert found.rows[1].figures["goodput_rps"].n == 4
    assert found.claims[0].ratio.n == 4
    assert found.reasons == [f"{FAST}, start 1: void: steal"]


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
        for s in starts(RATES)
    ]
    assert reproduction(found).verdict is verdict


def test_a_row_without_any_start_makes_no_ok() -> None:
    found = reproduction(starts({SLOW: 100.0, FAST: 390.0}))
    assert found.verdict is Verdict.VOID
    assert found.claims[1].verdict == "not decided"


def test_one_start_has_a_mean_and_no_interval() -> None:
    found = reproduction(starts(RATES, blocks=1), plan="smoke")
    assert found.rows[0].figures["goodput_rps"].interval is None
    assert [claim.verdict for claim in found.claims] == ["not decided"], "smoke measures two rows"


def test_the_report_has_ours_beside_the_published() -> None:
    told = text(reproduction(starts(RATES)))
    for part in (
        "100 (90)",
        "390 ± 2",
        "threads/delay 100 (100%)",
        "waiting for a handler thread",
        "× 4.00",
        "stands, smaller",
        "in brackets: a desktop",
        "not published",
        "Async won.",
        "time: window 150 s",
    ):
        assert part in told, part
    page = markdown(reproduction(starts(RATES)))
    assert f"| {FAST} | 5 | 400 (450) | 390 ± 2 |" in page
    assert "| async is four times faster | requests: async / sync, 2 threads | × 4.00 |" in page
    smoke = " ".join(text(reproduction(starts(RATES, 2), plan="smoke")).split())
    assert "of the reference result: Async won." in smoke, "smoke itself concludes nothing"


# ---- the order of starts, and what an interruption leaves ----

GROUPS = [["a 20", "a 200", "a 1000"], ["b 20", "b 200"], ["c"]]


def test_each_block_has_every_row_once_in_an_order_of_its_own() -> None:
    order = steps(GROUPS, 4, 7)
    assert Counter((s.block, row) for s in order for row in s.rows).most_common(1)[0][1] == 1
    assert len(order) == 12
    assert [s.block for s in order] == sorted(s.block for s in order)
    assert order == steps(GROUPS, 4, 7)
    assert order != steps(GROUPS, 4, 8)
    within = {s.rows for s in steps(GROUPS, 20, 7) if len(s.rows) == 3}
    assert len(within) > 1, "the rows of a start have a random order as well"


def view() -> Lines:
    return Lines(Console(file=io.StringIO()))


def journal(folder: Path, **changes: Any) -> Journal:
    return Journal.begin(folder, asked(**changes), False, NOW)


def test_every_start_is_made_once_and_a_void_one_once_more(tmp_path: Path) -> None:
    kept, calls = journal(tmp_path), list[tuple[int, tuple[str, ...], int]]()

    def measure(block: int, rows: Any, attempt: int) -> list[Start]:
        calls.append((block, tuple(rows), attempt))
        bad = {"verdict": Verdict.VOID, "figures": {}}
        return [
            made(r, block, 100.0, attempts=attempt, **(bad if r == "b 200" and block == 2 else {}))
            for r in rows
        ]

    order = steps(GROUPS, 2, 7)
    make_all(order, kept, view(), measure, "goodput_rps")
    assert calls == [*((s.block, s.rows, 1) for s in order), (2, ("b 200",), 2)]
    assert kept.starts()[start_file(2, "b 200")].attempts == 2
    calls.clear()
    make_all(order, kept, view(), measure, "goodput_rps")
    assert calls == [], "a void start is made once more, not for ever"


def test_what_was_interrupted_goes_on(tmp_path: Path) -> None:
    kept, calls, order = journal(tmp_path), list[tuple[int, tuple[str, ...]]](), steps(GROUPS, 2, 7)

    def measure(block: int, rows: Any, attempt: int) -> list[Start]:
        calls.append((block, tuple(rows)))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return [made(row, block, 100.0) for row in rows]

    with pytest.raises(KeyboardInterrupt):
        make_all(order, kept, view(), measure, "goodput_rps")
    again = Journal.begin(tmp_path, asked(seed=99), True, NOW)
    assert (again.folder, again.asked.seed) == (kept.folder, 7), "the order is the first one's"
    make_all(order, again, view(), measure, "goodput_rps")
    assert [block for block, _ in calls] == [s.block for s in order][:3] + [s.block for s in order][2:]
    assert len(again.starts()) == 12


def test_the_newest_unfinished_of_the_same_definition(tmp_path: Path) -> None:
    for digest, name in (("0", "1"), ("0", "2"), ("1", "3")):
        folder = tmp_path / f"{name}-reproduce-waiting"
        folder.mkdir()
        (folder / "request.json").write_text(asked(digest=digest).model_dump_json())
    (tmp_path / "2-reproduce-waiting/reproduction.json").write_text("{}")
    assert unfinished(tmp_path, asked()).folder.name == "1-reproduce-waiting"
    with pytest.raises(UsageError, match="no unfinished reproduction of waiting with the plan smoke"):
        unfinished(tmp_path, asked(plan="smoke"))


def test_a_start_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    kept = journal(tmp_path)
    kept.save(made(SLOW, 1, 100.0))
    assert kept.starts() == {"1-sync-2-threads.json": made(SLOW, 1, 100.0)}
    (kept.folder / "starts/1-sync-2-threads.json").write_text("{")
    with pytest.raises(TandemError, match="Remove it"):
        kept.starts()


def test_a_result_is_read_back(tmp_path: Path) -> None:
    kept, found = journal(tmp_path), reproduction(starts(RATES))
    kept.finish(found)
    assert read_reproduction(kept.folder).rows[0].label == SLOW
    with pytest.raises(TandemError, match="cannot be read"):
        read_reproduction(tmp_path)
