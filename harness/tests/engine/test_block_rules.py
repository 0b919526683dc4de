"""tandem.engine.blocks: void blocks once more, plans that decide, which attempt counts. tandem.engine.findings."""

from harness_samples import finding, good_window
from harness_trials import trial, void_window

from tandem.engine.blocks import Blocks, best, in_blocks
from tandem.engine.findings import warnings, why
from tandem.record.trial import Start, Trial, TrialSpec
from tandem.record.window import Verdict

A, B = trial("a", 1, good_window()), trial("b", 2, good_window())


def play(plan: Blocks, made: dict[str, Trial]) -> list[list[str]]:
    """The keys of the blocks that a plan asks for. made: by key; default: good."""
    asked, block = list[list[str]](), next(plan)
    while True:
        asked.append([spec.key for spec in block])
        trials = [made.get(spec.key, A).model_copy(update={"spec": spec}) for spec in block]
        try:
            block = plan.send(trials)
        except StopIteration:
            return asked


def test_void_blocks_are_made_again_at_the_end() -> None:
    blocks = [[A.spec], [B.spec]]
    assert play(in_blocks(blocks), {}) == [["1-a"], ["2-b"]]
    void = trial("a", 1, void_window())
    assert play(in_blocks(blocks), {"1-a": void, "1-a.2": void}) == [["1-a"], ["2-b"], ["1-a.2"]]


def test_a_plan_among_them_is_told_each_block() -> None:
    received: list[str] = []

    def decides() -> Blocks:
        trials = yield [A.spec]
        received.append(trials[0].spec.key)
        trials = yield [B.spec]
        received.append(trials[0].spec.key)

    void = trial("b", 2, void_window())
    assert play(in_blocks(decides()), {"2-b": void}) == [["1-a"], ["2-b"], ["2-b.2"]]
    assert received == ["1-a", "2-b"], "what is made again is not told twice"


def test_nothing_to_do() -> None:
    assert list(in_blocks(list[list[TrialSpec]]())) == []


def test_the_last_good_attempt_counts() -> None:
    void = trial("a", 1, void_window())
    again, void_again = (trial("a", 1, window, attempt=2) for window in (good_window(), void_window()))
    assert best([void, B, again]) == [again, B]
    assert best([A, again]) == [again]
    assert best([A, void_again]) == [A]
    assert best([void, void_again]) == [void_again]


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
