"""tandem.engine.blocks: the schedule, what becomes of void blocks, which attempt counts. tandem.engine.findings."""

import pytest
from harness_engine import made_trial, trial, trial_spec, void_window
from harness_samples import finding, good_window

from tandem.engine.blocks import Blocks, complete_blocks, counting, in_blocks, rounds_of_blocks
from tandem.engine.findings import not_counted, warnings, why
from tandem.engine.run import drive
from tandem.record.trial import Start, Trial, TrialSpec
from tandem.record.window import Verdict

BLOCKS = [[trial_spec(f"{block}-{name}", name, block=block) for name in "ab"] for block in (1, 2, 3)]


def driven(void: set[str], blocks: list[list[TrialSpec]] | Blocks = BLOCKS) -> list[Trial]:
    """The trials of these blocks; those whose key is in `void` are."""

    def make(spec: TrialSpec) -> Trial:
        return made_trial(spec, Verdict.VOID if spec.key in void else Verdict.OK)

    return drive(in_blocks(blocks), make)


def keys(trials: list[Trial]) -> list[str]:
    return [trial.spec.key for trial in trials]


FIRST = ["1-a", "1-b", "2-a", "2-b", "3-a", "3-b"]


@pytest.mark.parametrize(
    ("void", "again"),
    [
        (set(), []),
        ({"2-b"}, ["2-a.2", "2-b.2"]),
        ({"1-a", "1-a.2", "3-b"}, ["1-a.2", "1-b.2", "3-a.2", "3-b.2"]),
    ],
)
def test_a_void_trial_voids_its_block_which_is_made_once_more_at_the_end(
    void: set[str], again: list[str]
) -> None:
    made = driven(void)
    assert keys(made) == [*FIRST, *again]
    assert [trial.spec.attempt for trial in made] == [1] * 6 + [2] * len(again)


@pytest.mark.parametrize("verdict", [Verdict.INVALID, Verdict.FAILED])
def test_what_says_something_about_the_program_is_not_made_again(verdict: Verdict) -> None:
    assert keys(drive(in_blocks(BLOCKS), lambda spec: made_trial(spec, verdict))) == FIRST


def test_a_plan_among_them_is_told_each_block() -> None:
    received: list[str] = []

    def decides() -> Blocks:
        for block in BLOCKS:
            trials = yield block
            received.append(trials[0].spec.key)

    assert keys(driven({"2-b"}, decides()))[6:] == ["2-a.2", "2-b.2"]
    assert received == ["1-a", "2-a", "3-a"], "what is made again is not told twice"
    assert driven(set(), []) == []


def test_of_each_trial_the_last_attempt_counts() -> None:
    made = driven({"2-b"})
    assert keys(counting(made)) == ["1-a", "1-b", "2-a.2", "2-b.2", "3-a", "3-b"]
    assert keys(counting(reversed(made)))[0] == "2-b.2", "in whatever order they are told"
    assert counting([]) == []


# ---- the order within blocks: that they are complete, uniform and seeded is a check of the self-test ----

NAMES = ["a", "b", "c", "d"]


def test_more_blocks_leave_those_before_as_they_are() -> None:
    assert complete_blocks(NAMES, 3, 7) == complete_blocks(NAMES, 9, 7)[:3]


def test_groups_keep_together_and_take_turns_within_a_round() -> None:
    groups = [["a", "b"], ["c"], ["d", "e", "f"]]
    blocks = rounds_of_blocks(groups, 50, 3)
    rounds = [blocks[n : n + 3] for n in range(0, 150, 3)]
    assert all(sorted(map(sorted, made)) == groups for made in rounds)
    assert len({tuple(len(block) for block in made) for made in rounds}) == 6, "in any order"
    assert blocks == rounds_of_blocks(groups, 50, 3) != rounds_of_blocks(groups, 50, 4)
    assert rounds_of_blocks([NAMES], 6, 7) == complete_blocks(NAMES, 6, 7)
    pairs = rounds_of_blocks([["a", "b"], ["c", "d"]], 200, 3)
    first = [
        (made[0][0] in "ab", next(block for block in made if "a" in block)[0] == "a")
        for made in zip(pairs[::2], pairs[1::2], strict=True)
    ]
    assert len({*first}) == 4, "the order within a group says nothing about that of the groups"


# ---- which attempt counts, and what trials say together ----

A, B = trial("a", 1, good_window()), trial("b", 2, good_window())


def test_starts_without_a_good_attempt_say_why() -> None:
    void = trial("a", 1, void_window("the first"))
    again, void_again = (
        trial("a", 1, window, attempt=2) for window in (good_window(), void_window("the second"))
    )
    assert not_counted([void, B, again]) == not_counted([A, void_again]) == []
    assert not_counted([void, void_again]) == ["a, round 1: void: the second"]


def test_why_a_trial_does_not_count() -> None:
    assert why(A) is None
    assert why(trial("a", 1, void_window("steal"))) == "steal"
    assert (
        why(A.model_copy(update={"starts": {"a": Start(refused="it did not start")}})) == "it did not start"
    )


def test_warnings_are_told_once() -> None:
    """What a start leaves behind, such as an end that was not clean, is among them."""
    unclean = Start(findings=[finding("warning", "unclean-stop", "killed")])
    trials = [
        A.model_copy(update={"starts": {"a": unclean}}),
        trial(
            "b",
            2,
            good_window(findings=[finding("warning", "few"), finding("void", "steal")], verdict=Verdict.VOID),
        ),
        B.model_copy(update={"starts": {"b": unclean}}),
    ]
    assert [(f.code, f.text) for f in warnings(trials)] == [
        ("unclean-stop", "1-a: killed (and 1 more like it)"),
        ("few", "2-b: text"),
    ]
    assert unclean.findings[0].text == "killed", "the trials keep their own"
