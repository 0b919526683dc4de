"""tandem.studies.nightly: which blocks are made within a budget, what a night is, what confirms an alarm."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from harness_engine import request, result_of, told_before
from harness_nights import alarm_answer, night
from harness_samples import NOW, good_window

from tandem.analysis.ratios import compare
from tandem.catalog.catalog import OWN_SERVICE, Catalog
from tandem.cli import options as cli
from tandem.cli.shared import Asked
from tandem.commands import nightly as command
from tandem.commands.nightly import MOVED, WORSE, _finished, cells, comparison, status
from tandem.engine.journal import BEGUN, Begun
from tandem.engine.run import drive
from tandem.engine.study import Study, answered
from tandem.errors import UsageError
from tandem.facts.paired import contrast
from tandem.history.judged import Creep, Doubted, JudgedSeries, Said
from tandem.history.night import AlarmAnswer, EventAnswer, Frozen, Program, SeriesKey
from tandem.lab import images
from tandem.record.conclusion import Contrast
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines
from tandem.record.store import write_model
from tandem.record.trial import Phase, Trial, TrialSpec, WindowRecord, WindowSpec
from tandem.record.window import Verdict, Window
from tandem.studies.nightly.conclusions import beside, points_of
from tandem.studies.nightly.confirm import FreshBlocks, confirmed, differs_as, event_answer
from tandem.studies.nightly.report import answer_text, creep_text, event_text
from tandem.studies.nightly.study import Nightly

ONE = "node index"
*FROZEN, FIRST = beside(ONE)


def fresh(values: list[float]) -> Contrast:
    """A ratio over blocks with these logarithms."""
    return contrast("goodput_rps", "new", "old", compare(values))


def asked(**options: Any) -> Request:
    variants = [Variant(label=ONE, implementation="node", scenario="index")]
    return request(
        study="nightly", scenario="index", variants=variants, options={"frozen": {"node": "kept"}, **options}
    )


def made(spec: TrialSpec, today: float = 1.0, took_s: float = 30.0, good: bool = True) -> Trial:
    """A block: today's image costs `today` times what the frozen one costs."""
    verdict, phases = Verdict.OK if good else Verdict.VOID, [Phase(name="all", duration_s=took_s)]

    def seen(window: WindowSpec, label: str) -> Window:
        cost = 100.0 * (today if label == ONE else 1.0)
        return good_window(window.load, app_cpu_us_per_request=cost, goodput_rps=1000.0, verdict=verdict)

    windows = [
        WindowRecord(spec=window, windows={label: seen(window, label) for label in window.variants})
        for window in spec.windows
    ]
    return Trial(spec=spec, started_at=NOW, verdict=verdict, windows=windows, phases=phases)


def run(study: Nightly, took_s: float) -> list[Trial]:
    return drive(study.plan(), lambda spec: made(spec, took_s=took_s))


def specs(study: Nightly) -> list[TrialSpec]:
    return [spec for [spec] in study.outline()]


def test_a_block_has_todays_image_and_the_frozen_one_twice_on_the_frozen_stack(real: Catalog) -> None:
    stack = {"DB_IMAGE": ":0123", "PROXY_IMAGE": ":4567"}
    study = Nightly(real, asked(blocks=2, stack=stack))
    first, second = specs(study)
    assert {*first.variants} == {ONE, *FROZEN}
    assert [window.name == "duet" for window in first.windows] == [False, False, False, True]
    assert (first.block, second.block) == (1, 2)
    found = {variant.label: (variant.tag, variant.variables) for variant in study.variants}
    assert found == {ONE: (None, stack), **dict.fromkeys(FROZEN, ("kept", stack))}


def test_the_image_that_was_frozen_first_is_a_third(real: Catalog) -> None:
    """It is loaded in the same duet, and its line is that of today's image by it."""
    study = Nightly(real, asked(blocks=1, first={"node": "oldest"}))
    [[spec]] = study.outline()
    assert {*spec.variants} == {ONE, *FROZEN, FIRST}
    assert {variant.label: variant.tag for variant in study.variants}[FIRST] == "oldest"
    concluded = study.conclude([made(spec, today=1.05)], Baselines())
    ratios = {(one.metric, one.of, one.to): one.ratio for one in concluded.conclusions.contrasts}
    assert ratios["duet_cpu_us_per_request", ONE, FIRST] == pytest.approx(1.05)
    [without] = specs(Nightly(real, asked(blocks=1)))
    concluded = study.conclude([made(without)], Baselines())
    compared = {(one.of, one.to) for one in concluded.conclusions.contrasts}
    assert compared == {(ONE, FROZEN[0]), (FROZEN[1], FROZEN[0])}


@pytest.mark.parametrize(("refused", "duet"), [(FIRST, True), (ONE, False)])
def test_the_others_go_on_without_the_first(real: Catalog, refused: str, duet: bool) -> None:
    """An image of long ago may not serve today's contract; without one of the others nothing can be said."""
    study = Nightly(real, asked(blocks=1, first={"node": "oldest"}))
    [[spec]] = study.outline()
    whole, seen = {record.spec.name: record for record in made(spec).windows}, list[WindowSpec]()

    def without(window: WindowSpec) -> WindowRecord:
        seen.append(window)
        own = [label for label in window.variants if label != refused]
        windows = {label: whole[window.name].windows[label] for label in own}
        return WindowRecord(spec=window.model_copy(update={"variants": own}), windows=windows)

    answered(study.windows(spec), without)
    assert [{*one.variants} for one in seen if one.name == "duet"] == [{*spec.variants} - {refused}] * duet


@pytest.mark.parametrize(("took_s", "blocks"), [(30.0, 10), (100.0, 3), (1000.0, 1)])
def test_the_budget_is_kept_whatever_a_trial_takes(real: Catalog, took_s: float, blocks: int) -> None:
    assert len(run(Nightly(real, asked(budget_s=300)), took_s)) == blocks


def test_everything_gets_a_block_whatever_the_budget(real: Catalog) -> None:
    two = asked(budget_s=10)
    second = two.variants[0].model_copy(update={"label": "node recipes", "scenario": "recipes"})
    trials = run(Nightly(real, two.model_copy(update={"variants": [*two.variants, second]})), 60.0)
    assert sorted(trial.spec.block for trial in trials) == [1, 1]


def test_a_night_has_the_ratio_of_the_same_blocks_and_of_no_void_one(real: Catalog) -> None:
    study = Nightly(real, asked(blocks=3))
    first, void, last = specs(study)
    trials = [made(first, today=1.02), made(void, today=1.5, good=False), made(last, today=1.02)]
    points = points_of(trials, study.request.variants, "index")
    found = {(point.metric, point.line): point.value for point in points}
    assert found["duet_cpu_us_per_request", "today"] == pytest.approx(math.log(1.02))
    assert found["duet_cpu_us_per_request", "frozen"] == pytest.approx(0.0)
    assert found["duet_cpu_us_per_request", "weather"] == pytest.approx(math.log(100))
    assert found["goodput_rps", "today"] == pytest.approx(0.0)


def test_what_has_no_value_makes_the_night_not_ok(real: Catalog) -> None:
    study = Nightly(real, asked(blocks=1))
    [[spec]] = study.outline()
    concluded = study.conclude([made(spec, good=False)], Baselines())
    assert concluded.verdict is Verdict.VOID
    assert concluded.reasons[0].startswith(f"{ONE}: ")


# ---- the command ----


def folder(hour: int) -> str:
    return f"20260101T{hour:02}0000Z-nightly-node-nightly"


def kept(results: Path, real: Catalog, blocks: int, finished: bool, hour: int) -> None:
    """A night's folder, as a command leaves it."""
    study = Nightly(real, asked(blocks=blocks))
    place = results / folder(hour)
    place.mkdir()
    write_model(place / BEGUN, Begun(request=study.request, started_at=NOW))
    if finished:
        concluded = study.conclude([made(spec) for spec in specs(study)], Baselines())
        write_model(place / "result.json", result_of(study.request, concluded, id=place.name))


@pytest.mark.parametrize(
    ("others", "found"),
    [
        ([], folder(1)),
        ([(2, True)], folder(1)),
        ([(2, False)], folder(1)),
        ([(1, True)], folder(2)),
        ([(1, False)], None),
    ],
)
def test_a_kill_after_the_measurement_goes_on_with_what_it_measured(
    real: Catalog,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    others: list[tuple[int, bool]],
    found: str | None,
) -> None:
    """The newest of the same request, if it is finished; what else was begun since does not count. others: blocks of a
    later night, and whether it was finished."""
    monkeypatch.setattr(cli, "RESULTS", tmp_path)
    kept(tmp_path, real, blocks=1, finished=True, hour=1)
    for blocks, finished in others:
        kept(tmp_path, real, blocks, finished, hour=2)
    broken = tmp_path / folder(3) / BEGUN
    broken.parent.mkdir()
    broken.write_text("{")
    done = _finished(asked(blocks=1))
    assert (done and done[0].id) == found


def test_only_what_is_served_is_measured(real: Catalog) -> None:
    found = cells(real, ["node", "rust-hyper"], ["index", "recipes"])
    assert [variant.label for variant in found] == ["node index", "node recipes", "rust-hyper index"]
    with pytest.raises(UsageError, match="none of rust-hyper serves recipes"):
        cells(real, ["rust-hyper"], ["recipes"])


@pytest.mark.parametrize(
    ("values", "up", "confirmed"),
    [
        ([0.02, 0.021, 0.019, 0.02], True, True),
        ([0.02, 0.021, 0.019, 0.02], False, False),
        ([0.02, -0.02, 0.03, -0.03], True, False),
    ],
)
def test_only_a_sure_difference_on_the_same_side_confirms(
    values: list[float], up: bool, confirmed: bool
) -> None:
    assert differs_as(fresh(values), up) is confirmed


KEY = SeriesKey(
    machine="m",
    cpu_model="c",
    implementation="node",
    scenario="index",
    metric="goodput_rps",
    line="today",
    frozen="f",
)
IMAGES = [Program(tag=tag, commit=tag * 40) for tag in "abcde"]


def alarm(between: list[Program], said: Said = "alarm") -> JudgedSeries:
    """Goodput fell in night 3."""
    return JudgedSeries(KEY, said, 50, -0.02, "night-1", "night-3", up=False, between=between)


def play(
    one: JudgedSeries,
    there: list[Program],
    slow: Callable[[Program], int],
    again: Callable[[Program], Program | None] = lambda program: None,
    void: bool = False,
) -> tuple[Any, list[str]]:
    """The answer, if there is one, and which images were compared. slow: in how many ways an image is slower, each by 2 %."""
    compared = list[str]()

    def blocks(pair: tuple[Program, Program]) -> FreshBlocks:
        old, new = pair
        compared.append(old.tag + new.tag)
        by = 0.02 * (slow(old) - slow(new))
        ratio = fresh([by + 0.001, by - 0.001, by + 0.002, by - 0.002])
        return FreshBlocks(compared[-1], None if void else ratio, f"just compare {compared[-1]}")

    return answered(confirmed(one, there, lambda: NOW, again), blocks), compared


def from_image(number: int) -> Callable[[Program], int]:
    """Images from this one on are slower."""
    return lambda program: IMAGES.index(program) >= number


@pytest.mark.parametrize("slow_from", [1, 2, 3, 4])
def test_bisection_ends_at_the_two_neighbours_between_which_it_came(slow_from: int) -> None:
    found, compared = play(alarm(IMAGES), IMAGES, from_image(slow_from))
    assert (found.word, found.worse) == ("confirmed", True)
    assert (found.good, found.bad) == (IMAGES[slow_from - 1], IMAGES[slow_from])
    assert compared[0] == "ae"
    assert len(compared) == 3
    assert found.results == compared
    assert found.command == f"just compare a{IMAGES[slow_from].tag}", "the one of the image that it came with"


@pytest.mark.parametrize(
    ("kept", "slow_from", "word", "ends", "compared"),
    [
        ("ab", 1, "confirmed", "ab", ["ab"]),  # neighbours are compared once
        ("abcde", 5, "not confirmed", "ae", ["ae"]),  # what lies between is not looked for
        ("abe", 3, "confirmed", "be", ["ae", "ab"]),  # some are gone: as near as it can be told
    ],
)
def test_images_that_are_there_are_compared(
    kept: str, slow_from: int, word: str, ends: str, compared: list[str]
) -> None:
    there = [image for image in IMAGES if image.tag in kept]
    found, made = play(alarm(IMAGES[: IMAGES.index(there[-1]) + 1]), there, from_image(slow_from))
    assert (found.word, found.good.tag + found.bad.tag, made) == (word, ends, compared)
    assert found.ratio is not None


@pytest.mark.parametrize(
    ("one", "there", "word"),
    [
        (alarm(IMAGES, "machine"), IMAGES, "machine"),
        (alarm(IMAGES[:1]), IMAGES[:1], "same image"),
        (alarm(IMAGES), IMAGES[:-1], "image missing"),
        (alarm(IMAGES), IMAGES[-1:], "image missing"),
    ],
)
def test_some_alarms_are_answered_without_a_comparison(
    one: JudgedSeries, there: list[Program], word: str
) -> None:
    found, compared = play(one, there, from_image(1))
    assert (found.word, compared) == (word, [])


@pytest.mark.parametrize(("slow_from", "word"), [(1, "confirmed"), (2, "machine")])
def test_an_event_hides_no_regression(slow_from: int, word: str) -> None:
    """The machine moved, and it is known what came: fresh blocks on the new one tell whether the images differ too."""
    both = alarm(IMAGES[:2], "machine")
    found, compared = play(replace(both, events=["kernel 6.1 -> 6.2"]), IMAGES[:2], from_image(slow_from))
    assert (found.word, compared) == (word, ["ab"])
    found, compared = play(both, IMAGES[:2], from_image(slow_from))
    assert (found.word, compared) == ("machine", [])


# ---- a new base ----

OLD, NEW = "sha256:old", "sha256:new"


@pytest.mark.parametrize(
    ("bases", "slow_commit", "slow_base", "can_build", "word", "ends", "compared"),
    [
        # The good commit on the new base is as the bad one.
        ("on", None, True, True, "base", "aA", ["Ab", "aA"]),
        # Commits are blamed where they differ on one base.
        ("on", 1, True, True, "confirmed", "Ab", ["Ab"]),
        # What lies between is built again as well.
        ("oonnn", 3, True, True, "confirmed", "cd", ["Ae", "Ac", "Ad"]),
        # Neither base nor commits.
        ("on", None, False, True, "not confirmed", "aA", ["Ab", "aA"]),
        # On one base nothing is built again.
        ("oo", 1, True, True, "confirmed", "ab", ["ab"]),
        ("nn", 1, True, True, "confirmed", "ab", ["ab"]),
        # What cannot be built again is told.
        ("on", None, True, False, "confirmed", "ab", ["ab"]),
    ],
)
def test_a_new_base_is_told_apart_from_commits(
    bases: str,
    slow_commit: int | None,
    slow_base: bool,
    can_build: bool,
    word: str,
    ends: str,
    compared: list[str],
) -> None:
    """Images a, b, … on old (o) and new (n) bases. Slow: commits from `slow_commit` on, and the new base, if so. An image that
    is built again has the tag of its commit in capitals."""
    images = [
        one.model_copy(update={"base": {"o": OLD, "n": NEW}[base]})
        for one, base in zip(IMAGES, bases, strict=False)
    ]

    def again(program: Program) -> Program | None:
        return program.model_copy(update={"tag": program.tag.upper(), "base": NEW}) if can_build else None

    def slow(program: Program) -> int:
        late = slow_commit is not None and "abcde".index(program.tag.lower()) >= slow_commit
        return late + (slow_base and program.base == NEW)

    found, made = play(alarm(images), images, slow, again)
    assert (found.word, found.good.tag + found.bad.tag, made) == (word, ends, compared)
    assert (found.rebuilt is not None) == ("on" in bases and can_build)
    assert found.base_is_told_apart is can_build
    assert ("commits and base are not told apart" in answer_text(found)) is not can_build


# ---- events ----


def event(ratio: float | None, level: float = 0.01, scatter: float = 0.008) -> EventAnswer:
    """Twelve fresh blocks that scatter by 1 %."""
    doubt = Doubted(KEY, "night-9", ["kernel 6.1 -> 6.2"], level, scatter, IMAGES[1])
    values = [] if ratio is None else [ratio + (0.01 if n % 2 else -0.01) for n in range(12)]
    found = FreshBlocks("r", fresh(values) if values else None, "just compare node@a node@b")
    return event_answer(doubt, found, NOW)


@pytest.mark.parametrize(
    ("ratio", "moved"), [(0.01, False), (0.02, False), (0.04, True), (-0.02, True), (None, None)]
)
def test_an_event_moved_what_is_now_farther_than_nights_are(ratio: float | None, moved: bool | None) -> None:
    """0.01 away is a difference of the blocks, but no more than one night has."""
    found = event(ratio)
    assert found.moved is moved
    assert ("not known" in event_text(found)) is (moved is None)
    assert event_text(found).startswith("new: kernel 6.1 -> 6.2: ")
    assert status(Verdict.OK, [], [found]) == (MOVED if moved else 0)


def test_the_report_names_what_is_new_this_night() -> None:
    programs = {name: Program(tag=name) for name in ("node", "go")}
    kernels = enumerate(("6.1", "6.2", "6.2"))
    nights = [night(n, {}, kernel=kernel, programs=programs) for n, kernel in kernels]
    new = [command.new_under(nights, one.id) for one in nights]
    assert new == [[], ["kernel 6.1 -> 6.2 (node, go)"], []]


@pytest.mark.parametrize(("of_node", "of_others", "weekly"), [(7, 0, True), (7, 3, True), (6, 1, False)])
def test_a_week_is_seven_nights_of_its_own(of_node: int, of_others: int, weekly: bool) -> None:
    names = ["node"] * of_node + ["other"] * of_others
    nights = [night(n, {}, programs={name: Program(tag="t")}) for n, name in enumerate(names)]
    assert command._weekly(nights, asked()) is weekly


def test_a_confirmation_is_made_on_the_stack_of_the_night(real: Catalog) -> None:
    stack = {"DB_IMAGE": ":0123"}
    found = comparison(real, KEY, IMAGES[0], IMAGES[1], "confirm", asked(stack=stack))
    assert [(one.tag, one.variables) for one in found.variants] == [("a", stack), ("b", stack)]


def test_a_readers_own_is_measured_and_confirmed_as_it_was_asked_for(real: Catalog) -> None:
    """Its right answers, its port and its database are in its variant; the stack's images beside them."""
    port = {"APP_PORT": "3000"}
    data: dict[str, Any] = {"services": {"db": {}}}
    own = Variant(label="shop:main", implementation=OWN_SERVICE, tag="sha", variables=port, overlay=data)
    tags = {"frozen": {OWN_SERVICE: "old"}, "stack": {"DB_IMAGE": ":0123"}, "blocks": 1}
    measured = request(variants=[own], study="nightly", plan="nightly", scenario=OWN_SERVICE, options=tags)
    found = Nightly(real, measured).variants
    assert [(one.label, one.tag) for one in found] == [
        ("shop:main", "sha"),
        ("shop:main~frozen", "old"),
        ("shop:main~frozen~2", "old"),
    ]
    key = KEY.model_copy(update={"implementation": OWN_SERVICE, "scenario": OWN_SERVICE})
    confirming = comparison(real, key, IMAGES[0], IMAGES[1], "confirm", measured).variants
    assert [one.tag for one in confirming] == ["a", "b"]
    for one in (*found, *confirming):
        assert (one.variables, one.overlay) == ({**port, "DB_IMAGE": ":0123"}, data)


@pytest.mark.parametrize(
    ("name", "own"),
    [("shop:main", "shop"), ("shop", "shop"), ("registry:5000/team/shop:main@sha256:0", "shop")],
)
def test_tags_of_one_image_share_a_history(name: str, own: str) -> None:
    assert command.own_name(name) == own


def test_a_night_of_a_readers_own_is_of_one_image() -> None:
    with pytest.raises(UsageError, match="one image"):
        command.nightly(image=["a", "b"], get="/")


def test_the_figures_of_one_pair_share_a_comparison(real: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    """CPU per request and goodput often move together, and a comparison has both."""
    made = list[Request]()

    def compared(kind: type[Study[Any]], asked: Request, resume: bool, as_json: bool) -> Any:
        made.append(asked)
        return SimpleNamespace(id=f"comparison {len(made)}"), None

    monkeypatch.setattr(command, "make", compared)
    monkeypatch.setattr(command, "ratio_of", lambda result, metric: None)
    confirm = command.Confirmation(real, "confirm", asked(), {}, Asked(), print)
    cpu = KEY.model_copy(update={"metric": "duet_cpu_us_per_request"})
    found = [
        confirm.fresh_blocks(key, IMAGES[0], new)
        for key, new in ((KEY, IMAGES[1]), (cpu, IMAGES[1]), (cpu, IMAGES[2]))
    ]
    assert [one.id for one in found] == ["comparison 1", "comparison 1", "comparison 2"]
    assert found[0].command == "just replay results/comparison 1", "`just compare` takes today's stack"


def test_what_crept_is_told() -> None:
    text = creep_text(Creep(KEY, 0.03, (0.02, 0.04)))
    assert text == "crept: node, index, goodput: the last week × 1.030 (1.020 to 1.041) of the first image, f"


def frozen(tag: str, commit: str | None = None) -> dict[str, Frozen]:
    return {"node": Frozen(implementation="node", program=Program(tag=tag, commit=commit), frozen_at=NOW)}


def test_a_first_image_that_cannot_be_made_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(images, "present", lambda name, tag: False)
    assert command.first_ones(frozen("a"), frozen("b"), said.append) == {}
    assert "no commit has its sources" in said[-1]
    monkeypatch.setattr(images, "present", lambda name, tag: True)
    assert command.first_ones(frozen("a"), frozen("b"), said.append) == {"node": Program(tag="a")}
    assert command.first_ones(frozen("a"), frozen("a"), said.append) == {}
    assert command.first_ones({}, frozen("a"), said.append) == {}, "the first night"


def test_a_frozen_image_that_is_missing_is_built_again_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, said, built = frozen("a", "c" * 40), list[str](), list[str]()
    monkeypatch.setattr(images, "present", lambda name, tag: tag in built)
    monkeypatch.setattr(images, "rebuild", lambda root, name, program: built.append(program.tag))
    for _ in range(2):
        assert command.freeze(tmp_path, known, {"node": Program(tag="b")}, False, said.append) == known
    assert built == ["a"]
    assert said == [f"node: the frozen image a is missing: building it from {'c' * 12}"]


def test_an_alarm_whose_comparison_the_host_voids_stays_open() -> None:
    assert play(alarm(IMAGES), IMAGES, from_image(1), void=True) == (None, ["ae"])


def answer(word: str = "confirmed", worse: bool = True) -> AlarmAnswer:
    return alarm_answer(
        "night-1",
        "night-3",
        KEY,
        word=word,
        worse=worse,
        good=Program(tag="aaa", commit="1" * 40),
        bad=Program(tag="bbb", commit="2" * 40, dirty=True),
        ratio=fresh([-0.02, -0.021, -0.019]),
        command="just compare node@aaa node@bbb",
    )


def test_exit_statuses() -> None:
    assert status(Verdict.OK, []) == 0
    assert status(Verdict.OK, [answer(worse=False), answer("not confirmed")]) == 0
    assert status(Verdict.VOID, []) == 1
    assert status(Verdict.VOID, [answer()]) == WORSE == 3
    assert status(Verdict.OK, [answer("machine")]) == MOVED == 4


def test_the_report_names_images_commits_interval_and_command() -> None:
    text = answer_text(answer(), ["2222222 A slower way"])
    ratio, rest = text.splitlines()[2], [*text.splitlines()[:2], *text.splitlines()[3:]]
    assert re.fullmatch(r"  new / old: 0\.980 \(0\.\d+ to 0\.\d+\), p \S+, over 3 fresh blocks: worse", ratio)
    assert rest == [
        "node, index, goodput: confirmed",
        "  since night-1, seen at night-3",
        f"  old: tandem/node:aaa, commit {'1' * 40}",
        f"  new: tandem/node:bbb, commit {'2' * 40}, with uncommitted changes",
        "    2222222 A slower way",
        "  repeat: just compare node@aaa node@bbb",
    ]


def test_that_a_night_decides_nothing_is_told_before_it(real: Catalog) -> None:
    [told] = told_before(Nightly(real, asked(blocks=3)))
    assert told == (
        "one night decides nothing: it has time for 3 blocks of each, and a series is not judged in its first 40 nights"
    )
