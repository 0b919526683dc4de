"""tandem.engine.blocks: the schedule, what becomes of void blocks, which attempt counts. tandem.engine.findings."""

from typing import Any

import pytest
from harness_engine import (
    FakeFloor,
    made_trial,
    request,
    result_of,
    trial,
    trial_spec,
    void_window,
    window_spec,
)
from harness_samples import finding, good_window, host, tap, there

from tandem.catalog.catalog import Catalog
from tandem.engine.blocks import Blocks, complete_blocks, counting, in_blocks, rounds_of_blocks
from tandem.engine.findings import compared, host_seen, made_again, not_counted, warnings, why
from tandem.engine.run import drive
from tandem.engine.study import Study, in_order, needed, scheduled, sent
from tandem.record.host import Hiccup, HostSeen
from tandem.record.request import Conditions
from tandem.record.result import Concluded, Conclusions
from tandem.record.trial import Arrivals, Start, Trial, TrialSpec, WindowSpec
from tandem.record.window import Verdict
from tandem.report.parts import checked
from tandem.studies.registry import STUDIES

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
    refused = Start(refused="it did not start")
    assert why(A.model_copy(update={"starts": {"a": refused}})) == "it did not start"


def test_warnings_are_told_once() -> None:
    """What a start leaves behind, such as an end that was not clean, is among them."""
    unclean = Start(findings=[finding("warning", "unclean-stop", "killed")])
    found = [finding("warning", "few"), finding("void", "steal")]
    trials = [
        A.model_copy(update={"starts": {"a": unclean}}),
        trial("b", 2, good_window(findings=found, verdict=Verdict.VOID)),
        B.model_copy(update={"starts": {"b": unclean}}),
    ]
    assert [(f.code, f.text) for f in warnings(trials)] == [
        ("unclean-stop", "1-a: killed (and 1 more like it)"),
        ("few", "2-b: text"),
    ]
    assert unclean.findings[0].text == "killed", "the trials keep their own"


# ---- which generator sends a window, and when its requests are due ----


POISSON = Arrivals(process="poisson")


def study(real: Catalog, arrivals: Arrivals | None = None, scenario: str = "recipes") -> Study[Any]:
    asked = request(study="bench", scenario=scenario)
    under: Conditions = asked.conditions.model_copy(update={"arrivals": arrivals})
    return STUDIES["bench"](real, asked.model_copy(update={"conditions": under}))


def windows(of: Study[Any], block: int = 1) -> list[WindowSpec]:
    """The windows of its first start, as they are sent."""
    spec = of.outline()[0][0]
    return list(sent(of, in_order(spec.windows), block))


def test_evenly_spaced_windows_stay_with_oha(real: Catalog) -> None:
    of = study(real)
    assert (needed(of), scheduled(of)) == ({"oha"}, set())
    assert windows(of) == of.outline()[0][0].windows


def test_drawn_arrivals_are_vegetas(real: Catalog) -> None:
    of = study(real, POISSON)
    closed, opened = windows(of)
    assert (closed.generator, closed.arrivals) == ("oha", None)
    assert (opened.generator, there(opened.arrivals).process) == ("vegeta", "poisson")
    assert needed(of) == {"oha", "vegeta"}


def test_both_windows_of_a_mix_are_vegetas(real: Catalog) -> None:
    of = study(real, scenario="mixed")
    assert [one.generator for one in windows(of)] == ["vegeta", "vegeta"]
    assert [one.arrivals.process for one in windows(of) if one.arrivals] == ["paced", "paced"]
    assert scheduled(of) == {one.label for one in of.variants}


def test_both_windows_of_clients_that_try_again_are_vegetas(real: Catalog) -> None:
    asked = request(study="bench")
    for changes in ({"retries": 1, "timeout_s": 1}, {"requests_per_connection": 10}):
        variants = [one.model_copy(update={"scenario_changes": changes}) for one in asked.variants]
        of: Study[Any] = STUDIES["bench"](real, asked.model_copy(update={"variants": variants}))
        assert [one.generator for one in windows(of)] == ["vegeta", "vegeta"]
        assert needed(of) == {"oha", "vegeta"}


def test_all_variants_of_a_block_are_asked_at_the_same_instants(real: Catalog) -> None:
    of = study(real, POISSON)
    spec, *others = (window_spec(f"equal-{one}", one[-1], load="open") for one in ("60-a", "60-b", "80-a"))
    first, same, another = (one.arrivals for one in sent(of, in_order([spec, *others]), 1))
    assert first == same != another
    [later] = sent(of, in_order([spec]), 2)
    assert later.arrivals != first


@pytest.mark.parametrize("name", ["vegeta", "wrk"])
def test_a_window_that_names_its_generator_keeps_it(real: Catalog, name: str) -> None:
    spec = window_spec("x", "a", load="open", generator=name)
    assert list(sent(study(real, POISSON), in_order([spec]), 1)) == [spec]


# ---- what of each variant was compared, and how often it was started again ----


def made(*labels: str, again: bool = False) -> Trial:
    spec = trial_spec("1-x", *labels)
    floor = FakeFloor(lambda spec, window: good_window(window.load, tap=tap(100), requests=1000))
    return floor.visit(spec.again() if again else spec)


def test_each_variant_has_its_own_count() -> None:
    trials = [made("one"), made("one", again=True), made("one", "two")]
    assert made_again(trials) == {"one": 1}
    # Two windows in a visit alone, two of each in the other.
    assert compared(trials) == {
        "one": "600 of 6,000 answers compared for 0.60 s of CPU",
        "two": "200 of 2,000 answers compared for 0.20 s of CPU",
    }
    plain = [FakeFloor().visit(trial_spec())]
    assert (compared(plain), made_again(plain)) == ({}, {}), "the control"


def lines(**told: Any) -> list[str]:
    """The lines below the tables of a result."""
    found = Concluded(verdict=Verdict.OK, conclusions=Conclusions())
    return [text.plain for text in checked(result_of(request(), found, **told))]


def test_both_are_told_below_the_tables() -> None:
    assert lines(compared={"one": "600 of 6,000 answers compared"}, made_again={"one": 2}) == [
        "read on the wire: one 600 of 6,000 answers compared",
        "starts repeated because the host disturbed their block: one 2",
    ]
    assert lines() == []


# ---- what watched the host ----


def on(**changes: Any) -> Trial:
    """A visit on a host that tells this."""
    floor = FakeFloor(lambda spec, window: good_window(window.load, host=host(**changes)))
    return floor.visit(trial_spec("1-x", "one"))


def test_what_the_windows_say_of_the_host() -> None:
    meter = Hiccup(realtime=False, cpu_cores=0.01, samples=10, p999_ms=None, max_ms=1.0)
    seen = there(host_seen([on(softirq_share=0.03, hiccup=meter), on(softirq_share=0.05, hiccup=meter)]))
    assert seen.softirq_share == {"one": (0.03, 0.05)}
    assert list(seen.cannot_judge) == ["hiccups"]
    assert there(host_seen([on()])).cannot_judge == {}, "the control"
    assert host_seen([]) is None


def test_seconds_that_variants_share_are_nobodys_interrupts() -> None:
    windows = [window_spec("duet", "one", "two", load="open")]
    both = FakeFloor().visit(trial_spec("1-pair", "one", "two", windows=windows))
    assert there(host_seen([both])).softirq_share == {}


def test_gates_that_cannot_judge_are_told_on_every_report() -> None:
    why = {"hiccups": "the meter is not real-time", "steal": "the host does not tell"}
    seen = HostSeen(gates=6, cannot_judge=why, softirq_share={"one": (0.03, 0.0512), "two": (0.04, 0.04)})
    assert lines(host=seen) == [
        "softirq time, of all CPUs, by window: one 3.0 to 5.1 %; two 4.0 %",
        "2 of 6 host gates cannot judge here: hiccups (the meter is not real-time), steal (the host does not tell)",
    ]
    many = {f"v{number}": (0.01 * number, 0.02 * number) for number in range(1, 8)}
    seen = HostSeen(gates=6, cannot_judge={}, softirq_share=many)
    assert lines(host=seen) == ["softirq time, of all CPUs, by window: all variants 1.0 to 14.0 %"]
