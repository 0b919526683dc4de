"""tandem.compare.comparison: from windows to verdicts."""

import math
import random

import pytest
from harness_samples import NOW, finding, good_window

from tandem.compare import comparison
from tandem.compare.comparison import METRICS, Block, Shot, second
from tandem.record.window import Verdict

GOODPUT = METRICS["goodput_rps"]


def make_blocks(effect: float = 1.0, blocks: int = 8, noise: float = 0.01, seed: int = 1) -> list[Block]:
    """Blocks of A, A~2 and B; every block is as fast as it likes, B is `effect` times as fast and half as dear."""
    chance = random.Random(seed)
    out = []
    for number in range(1, blocks + 1):
        host = chance.uniform(500, 1500)
        shots = [
            Shot(
                round=n,
                entrant=name,
                seconds=5.0,
                window=good_window(
                    goodput_rps=host * factor * math.exp(chance.gauss(0, noise)),
                    app_cpu_us_per_request=200 / factor * math.exp(chance.gauss(0, noise)),
                ),
            )
            for n in (1, 2, 3, 4)
            for name, factor in (("A", 1.0), ("A~2", 1.0), ("B", effect))
        ]
        out.append(
            Block(
                number=number, started_at=NOW, starts=["A", "A~2", "B"], shots=shots, refused={}, phases_s={}
            )
        )
    return out


def spoil(blocks: list[Block], entrant: str, severity: str, times: int) -> None:
    """The first windows of an entrant get another verdict."""
    for shot in [shot for block in blocks for shot in block.shots if shot.entrant == entrant][:times]:
        assert shot.window is not None
        shot.window.verdict = Verdict(severity)
        shot.window.findings = [finding("void" if severity == "void" else "invalid", text="on purpose")]


def test_a_host_that_is_twice_as_fast_in_another_block_does_not_disturb() -> None:
    found = comparison.against_reference(make_blocks(effect=1.10), "A", ["B"])["B"]
    assert found["goodput_rps"].ratio.ratio == pytest.approx(1.10, rel=0.01)
    assert found["goodput_rps"].verdict == "faster"
    assert found["app_cpu_us_per_request"].verdict == "cheaper"
    assert (
        comparison.against_reference(make_blocks(effect=0.9), "A", ["B"])["B"]["goodput_rps"].verdict
        == "slower"
    )


def test_the_same_program_is_equivalent_and_few_blocks_decide_nothing() -> None:
    assert comparison.same(make_blocks(), "A")["goodput_rps"].verdict == "equivalent"
    few = comparison.against_reference(make_blocks(effect=1.2, blocks=4), "A", ["B"])["B"]["goodput_rps"]
    assert few.verdict == "inconclusive"


def test_void_windows_leave_their_round_out_on_both_sides() -> None:
    blocks = make_blocks(blocks=1, noise=0.0, effect=1.5)
    wild = next(shot for shot in blocks[0].shots if shot.entrant == "B" and shot.round == 2)
    assert wild.window is not None
    wild.window.goodput_rps = 1.0
    assert comparison.ln_ratios(blocks, "B", ["A", "A~2"], GOODPUT)[0] < 0  # negative control: it counts
    wild.window.verdict = Verdict.VOID
    assert comparison.ln_ratios(blocks, "B", ["A", "A~2"], GOODPUT)[0] == pytest.approx(math.log(1.5))


def test_a_retry_replaces_the_window_that_was_void() -> None:
    blocks = make_blocks(blocks=1, noise=0.0, effect=1.5)
    first = next(shot for shot in blocks[0].shots if shot.entrant == "B")
    again = first.model_copy(deep=True)
    assert first.window is not None
    first.window.verdict, first.window.goodput_rps = Verdict.VOID, 1.0
    blocks[0].shots.append(again)
    assert len(comparison.values(blocks[0], "B", GOODPUT)) == 4


def test_one_invalid_window_makes_the_entrant_invalid_and_its_figures_null() -> None:
    blocks = make_blocks()
    compared = comparison.against_reference(blocks, "A", ["B"])["B"]
    assert comparison.entry(blocks, "B", {}, compared).verdict is Verdict.OK
    spoil(blocks, "B", "invalid", 1)
    line = comparison.entry(blocks, "B", {}, compared)
    assert (line.verdict, line.reasons, line.against_reference) == (Verdict.INVALID, ["on purpose"], {})
    assert set(line.means.values()) == {None}


def test_an_entrant_that_does_not_start_is_failed() -> None:
    blocks = make_blocks()
    blocks[2].refused["B"] = "did not start"
    assert comparison.entry(blocks, "B", {}, {}).reasons == ["block 3: did not start"]
    assert comparison.entry(blocks, "B", {}, {}).verdict is Verdict.FAILED


@pytest.mark.parametrize(("times", "verdict"), [(0, Verdict.OK), (15, Verdict.OK), (25, Verdict.VOID)])
def test_too_many_void_windows_void_the_session(times: int, verdict: Verdict) -> None:
    blocks = make_blocks()
    spoil(blocks, "B", "void", times)
    reference = comparison.entry(blocks, "A", {}, {})
    assert comparison.session_verdict(blocks, reference, comparison.same(blocks, "A"))[0] is verdict


def test_a_reference_that_fails_or_differs_from_itself_voids_the_session() -> None:
    blocks = make_blocks()
    reference = comparison.entry(blocks, "A", {}, {})
    assert comparison.session_verdict(blocks, reference, comparison.same(blocks, "A"))[0] is Verdict.OK
    for block in blocks:
        for shot in block.shots:
            if shot.entrant == second("A") and shot.window:
                shot.window.goodput_rps *= 1.08
    verdict, reasons = comparison.session_verdict(blocks, reference, comparison.same(blocks, "A"))
    assert verdict is Verdict.VOID
    assert "differs from itself in goodput_rps" in reasons[0]
    spoil(blocks, "A", "invalid", 1)
    assert comparison.session_verdict(blocks, comparison.entry(blocks, "A", {}, {}), {})[0] is Verdict.VOID


def test_a_goodput_at_the_ceiling_is_a_lower_bound() -> None:
    blocks = make_blocks(effect=2.0, noise=0.0)
    rate = comparison.entry(blocks, "A", {}, {}).means["goodput_rps"]
    assert rate is not None
    found = comparison.conclude(blocks, {"A": {}, "B": {}}, {"proxy": rate * 2.1, "null": None})
    assert [line.censored for line in found.entries] == [False, True]
    assert comparison.conclude(blocks, {"A": {}, "B": {}}, {}).entries[1].ceiling_share is None


@pytest.mark.parametrize("spoilt", ["A", "A~2"])
def test_a_void_session_publishes_no_figure(spoilt: str) -> None:
    blocks = make_blocks(effect=1.2)
    good = comparison.conclude(blocks, {"A": {}, "B": {}}, {})
    assert good.entries[1].against_reference["goodput_rps"].verdict == "faster"  # the control
    spoil(blocks, spoilt, "invalid", 1)
    found = comparison.conclude(blocks, {"A": {}, "B": {}}, {})
    assert found.verdict is Verdict.VOID
    assert spoilt in found.reasons[0]
    assert [set(line.means.values()) for line in found.entries] == [{None}, {None}]
    assert [line.against_reference for line in found.entries] == [{}, {}]
