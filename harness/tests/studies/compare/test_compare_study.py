"""tandem.studies.compare.study: what is planned, and how the duet follows from the windows before it."""

import math
import random
import re
from collections.abc import Callable
from contextlib import suppress

import pytest
from harness_engine import told_before
from harness_places import ROOT
from harness_samples import NOW, finding, good_window
from pydantic import JsonValue

from tandem.catalog.catalog import Catalog, Pairing, Unsupported
from tandem.catalog.scenario import WHOLE_WINDOWS
from tandem.engine.blocks import disturbed
from tandem.engine.estimate import Overheads, estimate_s
from tandem.engine.run import drive
from tandem.engine.side_by_side import duet_rates
from tandem.errors import UsageError
from tandem.record.request import Conditions, Request, Variant
from tandem.record.trial import Trial, TrialSpec, WindowRecord, WindowSpec
from tandem.record.window import Verdict, Window
from tandem.studies.compare.command import read_looks
from tandem.studies.compare.study import Compare, equal_orders, unsliced

CATALOG = Catalog(ROOT)
ONE_BLOCK = str(ROOT / "harness/tests/plans/one-trial.toml")


def study(*labels: str, plan: str = ONE_BLOCK) -> Compare:
    variants = [Variant(label=label, implementation=label) for label in labels or ("A", "B")]
    conditions = Conditions(topology="full", placement="two-cores")
    request = Request(
        study="compare", variants=variants, scenario="recipes", conditions=conditions, plan=plan, seed=1
    )
    return Compare(CATALOG, request)


def follow(
    made: Compare, spec: TrialSpec, windows: dict[str, Window | None], absent: str = ""
) -> list[WindowSpec]:
    """The windows that are asked for. windows: what each variant's are; None: it breaks. absent: does not run."""
    asked = []
    script = made.windows(spec)
    try:
        each = next(script)
        while True:
            asked.append(each)
            running = [label for label in each.variants if label != absent]
            found = {label: window for label in running if (window := windows[label]) is not None}
            own = each.model_copy(update={"variants": running})
            each = script.send(WindowRecord(spec=own, windows=found, refused=None if found else "broke"))
    except StopIteration:
        return asked


def all_good() -> dict[str, Window | None]:
    return {name: good_window(goodput_rps=1000.0) for name in ("A", "B", "A~2")}


def test_the_reference_takes_part_twice() -> None:
    found = study("A", "B")
    assert [variant.label for variant in found.variants] == ["A", "B", "A~2"]
    assert found.variants[2].implementation == "A"
    assert [variant.label for variant in study("A").variants] == ["A", "A~2"]


def test_a_block_is_one_trial_whose_windows_are_data() -> None:
    [[spec]] = study().outline()
    assert sorted(spec.variants) == ["A", "A~2", "B"]
    *turns, duet = spec.windows
    assert len({window.name for window in spec.windows}) == 7
    order = [window.variants[0] for window in turns]
    assert order[3:] == order[2::-1]
    assert {(window.load, window.settled, window.seconds) for window in turns} == {("closed", False, 2)}
    assert (duet.load, duet.address, duet.variants) == ("open", "app:8080", spec.variants)
    assert study().outline() == study().outline(), "the seed fixes it"


def test_a_plan_without_the_table_is_refused() -> None:
    with pytest.raises(UsageError, match="has no"):
        study(plan="ceiling")


def test_a_pairing_that_cannot_be_is_refused() -> None:
    good = {"blocks": 1, "rounds": 1, "window_s": 2, "warm_up_s": 7}
    assert Pairing.model_validate({**good, "steady_buckets": 6, "warm_up_cap_s": 7})
    for wrong in ({"steady_buckets": 5}, {"warm_up_cap_s": 6}):
        with pytest.raises(ValueError, match="must be 0 or at least"):
            Pairing.model_validate({**good, **wrong})


# ---- the duet ----


@pytest.mark.parametrize(
    ("alone", "saturated", "rates"),
    [
        ([1000.0, 400.0], False, [120, 121]),
        ([500.0] * 4, False, [75, 76, 77, 78]),
        ([0.5], False, [1]),
        ([1000.0, 400.0], True, [234, 235]),
    ],
)
def test_all_together_stay_below_their_joint_limit_and_no_two_are_asked_in_step(
    alone: list[float], saturated: bool, rates: list[int]
) -> None:
    """At six tenths of what the slowest reaches; near the limit the shares of what each reaches add up to four fifths."""
    assert duet_rates(alone, saturated) == rates


def test_a_plan_may_have_a_second_duet() -> None:
    spec = study(plan="nightly").outline()[0][0]
    duet, near = spec.windows[-2:]
    assert (duet.name, near.name) == ("duet", "saturated")
    assert near.load == "open"
    assert duet.counts
    assert not near.counts, "more may be offered than can be served"
    rates = [window.rates_rps for window in follow(study(plan="nightly"), spec, all_good())[-2:]]
    assert min(rates[1].values()) > max(rates[0].values())


def test_its_rates_follow_from_the_windows_before_it() -> None:
    made = study()
    [[spec]] = made.outline()
    windows = all_good()
    windows["B"] = good_window(goodput_rps=400.0)
    *_, duet = follow(made, spec, windows)
    assert duet.variants == spec.variants
    assert list(duet.rates_rps.values()) == [80, 81, 82]


def test_who_was_wrong_takes_no_part_in_it() -> None:
    made = study()
    [[spec]] = made.outline()
    windows = all_good()
    windows["B"] = good_window(verdict=Verdict.INVALID)
    *_, duet = follow(made, spec, windows)
    assert sorted(duet.variants) == sorted(duet.rates_rps) == ["A", "A~2"]
    windows["B"] = None  # its windows break
    assert sorted(follow(made, spec, windows)[-1].variants) == ["A", "A~2"]


def test_who_did_not_start_is_asked_once_and_takes_no_part() -> None:
    made = study()
    [[spec]] = made.outline()
    asked = follow(made, spec, all_good(), absent="B")
    assert sum(window.variants == ["B"] for window in asked) == 1
    assert sum(window.variants == ["A"] for window in asked) == 2
    assert sorted(asked[-1].variants) == ["A", "A~2"]


def test_without_a_rate_of_each_there_is_none() -> None:
    made = study()
    [[spec]] = made.outline()
    windows = all_good()
    windows["B"] = good_window(verdict=Verdict.VOID)
    assert [window.load for window in follow(made, spec, windows)] == ["closed"] * 6


# ---- in slices ----

IN_SLICES = str(ROOT / "harness/tests/plans/slices.toml")


def test_a_block_has_a_window_of_each_alone_and_one_in_slices() -> None:
    spec = study(plan=IN_SLICES).outline()[0][0]
    *alone, sliced = spec.windows
    assert sorted(window.variants[0] for window in alone) == ["A", "A~2", "B"]
    assert {(window.load, window.seconds) for window in alone} == {("closed", 2)}
    assert sorted(sliced.variants) == ["A", "A~2", "B"]
    assert sliced.slices is not None
    assert (sliced.seconds, sliced.slices.slice_s) == (15, 1.0), (
        "four of each, and one that opens connections"
    )
    seeds = {
        window.slices.seed
        for [block] in study(plan=IN_SLICES).outline()
        for window in block.windows
        if window.slices
    }
    assert len(seeds) == 2, "each block has an order of its own"
    assert study(plan=IN_SLICES).outline() == study(plan=IN_SLICES).outline()


def test_who_was_wrong_alone_has_no_slices() -> None:
    made = study(plan=IN_SLICES)
    [[spec], _] = made.outline()
    windows = all_good()
    assert sorted(follow(made, spec, windows)[-1].variants) == ["A", "A~2", "B"]
    windows["B"] = good_window(verdict=Verdict.INVALID)
    assert sorted(follow(made, spec, windows)[-1].variants) == ["A", "A~2"]
    windows["A"] = None
    assert all(window.slices is None for window in follow(made, spec, windows)), "one alone has no turns"


def test_the_duets_rates_follow_from_the_slices() -> None:
    made = study(plan="nightly")
    spec = made.outline()[0][0]
    script = made.windows(spec)
    window = next(script)
    while window.name != "duet":
        rate = 500.0 if window.slices else 2000.0
        each = dict.fromkeys(window.variants, good_window(goodput_rps=rate))
        window = script.send(WindowRecord(spec=window, windows=each))
    assert list(window.rates_rps.values()) == duet_rates([500.0] * 3)


@pytest.fixture
def half_sliced(monkeypatch: pytest.MonkeyPatch) -> Compare:
    """A and C can be sliced, B cannot."""
    monkeypatch.setattr(Compare, "_in_turns", lambda self: {"B": "it keeps no connection"})
    return study("A", "B", "C", plan="nightly")


def test_who_cannot_be_sliced_takes_turns_with_the_reference(half_sliced: Compare) -> None:
    spec = half_sliced.outline()[0][0]
    turns = [window for window in spec.windows if len(window.variants) == 1]
    counts = {label: sum(window.variants == [label] for window in turns) for label in spec.variants}
    assert counts == {"A": 6, "A~2": 6, "B": 6, "C": 1}
    assert {window.seconds for window in turns if window.variants != ["C"]} == {4}
    [sliced] = [window for window in spec.windows if window.slices]
    assert sorted(sliced.variants) == ["A", "A~2", "C"]


def test_a_reference_that_cannot_be_sliced_leaves_nobody_to_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Compare, "_in_turns", lambda self: {"A": "it works in the background"})
    spec = study("A", "B", plan="nightly").outline()[0][0]
    assert not [window for window in spec.windows if window.slices]
    assert sum(len(window.variants) == 1 for window in spec.windows) == 3 * 6


def test_what_declares_it_or_waits_for_long_is_not_sliced() -> None:
    rust, recipes = CATALOG.implementation("rust-async"), CATALOG.scenarios["recipes"]
    assert unsliced(rust, recipes, 1.0) is None
    declared = rust.model_copy(update={"unsupported": Unsupported(slices="it keeps no connection")})
    assert unsliced(declared, recipes, 1.0) == "it keeps no connection"
    assert unsliced(rust, recipes.model_copy(update={"unsliced": "why"}), 1.0) == "why"
    assert unsliced(rust, recipes.model_copy(update={"retries": 1}), 1.0) == WHOLE_WINDOWS
    slow = recipes.model_copy(update={"path": "/work?delay_ms=500"})
    assert unsliced(rust, slow, 1.0) == "a request waits 500 ms, too long for a slice of 1 s"
    assert unsliced(rust, slow, 2.0) is None


# ---- at equal rates ----


def equal_windows(plan: str = "quick", *labels: str) -> list[list[WindowSpec]]:
    """Of each block those at equal rates."""
    blocks = study(*labels, plan=plan).outline()
    return [[window for window in spec.windows if window.equal_share is not None] for [spec] in blocks]


def test_each_has_a_window_of_its_own_at_each_rate_through_the_whole_path() -> None:
    blocks = equal_windows()
    assert len(blocks) == 6
    for windows in blocks:
        assert sorted((window.equal_share or 0, *window.variants) for window in windows) == [
            (share, label) for share in (0.1, 0.3, 0.6, 0.8) for label in ("A", "A~2", "B")
        ]
    every = [window for windows in blocks for window in windows]
    assert {(window.load, window.seconds, window.address) for window in every} == {("open", 6, None)}
    assert {window.equal_share for window in every if not window.counts} == {0.8}, "near the limit"
    assert {(window.trim_start_s, window.trim_end_s, window.slices) for window in every} == {(1.0, 0.5, None)}
    assert len({window.name for window in blocks[0]}) == 12
    assert equal_windows("nightly") == [[]] * 6, "the negative control"
    spec = study(plan="claim").outline()[0][0]
    kinds = [
        "slices" if window.slices else "equal" if window.equal_share else window.name
        for window in spec.windows
    ]
    assert list(dict.fromkeys(kinds))[3:] == ["slices", "equal", "duet", "saturated"]


def test_a_linear_drift_over_two_blocks_falls_on_all_alike() -> None:
    order = [[(window.equal_share, *window.variants) for window in windows] for windows in equal_windows()]
    for first, again in zip(order[::2], order[1::2], strict=True):
        assert again == first[::-1]
    assert len({str(one) for one in order[::2]}) == 3, "each pair has an order of its own"
    shares = [share for share, _ in order[0]]
    assert shares == [share for share in dict.fromkeys(shares) for _ in range(3)], "one rate after the other"


def test_another_seed_changes_the_order() -> None:
    labels, shares = ["A", "B", "A~2"], [0.3, 0.6]
    assert equal_orders(labels, shares, 6, 1000) != equal_orders(labels, shares, 6, 2000)


def rates(asked: list[WindowSpec]) -> dict[float, set[int]]:
    """Share -> the rates that were asked for."""
    found: dict[float, set[int]] = {}
    for window in asked:
        if window.equal_share is not None:
            found.setdefault(window.equal_share, set()).update(window.rates_rps.values())
    return found


def test_the_rate_follows_from_the_slowest_and_is_one_for_all() -> None:
    made = study(plan="quick")
    windows = all_good()
    windows["B"] = good_window(goodput_rps=405.0)
    asked = follow(made, made.outline()[0][0], windows)
    assert rates(asked) == {0.1: {40}, 0.3: {121}, 0.6: {243}, 0.8: {324}}
    equal = [window for window in asked if window.equal_share]
    assert [list(window.rates_rps) for window in equal] == [window.variants for window in equal]
    assert len(equal) == 12
    tiny = [window and window.model_copy(update={"goodput_rps": 2.0}) for window in windows.values()]
    slow = follow(made, made.outline()[0][0], dict(zip(windows, tiny, strict=True)))
    assert rates(slow)[0.1] == {1}, "a rate of nothing is none"


def asked_of(made: Compare, answer: Callable[[WindowSpec, str], Window]) -> list[WindowSpec]:
    """The windows that are asked for. answer: what each variant's window is."""
    asked, script = [], made.windows(made.outline()[0][0])
    with suppress(StopIteration):
        window = next(script)
        while True:
            asked.append(window)
            windows = {label: answer(window, label) for label in window.variants}
            window = script.send(WindowRecord(spec=window, windows=windows))
    return asked


def test_the_rate_is_of_the_slices_and_not_of_the_windows_at_equal_rates() -> None:
    def answer(window: WindowSpec, label: str) -> Window:
        rate = 500.0 if window.slices else 50.0 if window.equal_share else 2000.0
        return good_window(window.load, goodput_rps=rate)

    asked = asked_of(study(plan="claim"), answer)
    assert rates(asked)[0.6] == {300}
    [duet] = [window for window in asked if window.name == "duet"]
    assert list(duet.rates_rps.values()) == duet_rates([500.0] * 3), "nor does a duet's follow from them"


def test_who_was_wrong_or_absent_is_asked_at_no_equal_rate_and_sets_none() -> None:
    made = study(plan="quick")
    spec = made.outline()[0][0]
    windows = all_good()
    windows["B"] = good_window(goodput_rps=10.0, verdict=Verdict.INVALID)
    for asked in (follow(made, spec, windows), follow(made, spec, all_good(), absent="B")):
        assert rates(asked)[0.6] == {600}
        assert {window.variants[0] for window in asked if window.equal_share} == {"A", "A~2"}
    windows["B"] = good_window(verdict=Verdict.VOID)  # nobody knows what it reaches
    assert rates(follow(made, spec, windows)) == {}


@pytest.mark.parametrize(
    ("share", "code", "joins"),
    [(0.8, "incomplete", True), (0.8, "wrong-body", False), (0.6, "incomplete", False)],
)
def test_who_is_wrong_at_an_equal_rate_joins_no_duet(share: float, code: str, joins: bool) -> None:
    """Near its limit a request that comes too late is no fault."""

    def answer(window: WindowSpec, label: str) -> Window:
        wrong = window.equal_share == share and label == "B"
        findings = [finding("invalid", code)] if wrong else []
        verdict = Verdict.INVALID if wrong else Verdict.OK
        return good_window(window.load, verdict=verdict, findings=findings)

    [duet] = [window for window in asked_of(study(plan="claim"), answer) if window.name == "duet"]
    assert ("B" in duet.variants) is joins


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"equal_shares": [0.6, 0.5], "equal_s": 8}, "equal_shares are some of 0.1, 0.3, 0.6, 0.8"),
        ({"equal_shares": [0.6, 0.3], "equal_s": 8}, "in this order"),
        ({"equal_shares": [0.6, 0.6], "equal_s": 8}, "in this order"),
        ({"equal_shares": [0.6]}, "equal_s must be at least 3"),
        ({"equal_s": 8}, "there are no equal_shares"),
    ],
)
def test_equal_rates_that_cannot_be_are_refused(table: dict[str, object], told: str) -> None:
    good = {"blocks": 1, "rounds": 1, "window_s": 2, "warm_up_s": 7}
    assert Pairing.model_validate({**good, "equal_shares": [0.3, 0.6], "equal_s": 3}).equal_shares == (
        0.3,
        0.6,
    )
    assert Pairing.model_validate(good).equal_shares == ()
    with pytest.raises(ValueError, match=told):
        Pairing.model_validate({**good, **table})


def test_a_session_measures_more_than_20_s_at_its_equal_rate() -> None:
    windows = equal_windows("session")
    assert {(one.equal_share, one.seconds) for block in windows for one in block} == {(0.6, 23)}
    assert all(one.seconds - one.trim_start_s - one.trim_end_s >= 20 for block in windows for one in block)


# ---- blocks that are made again ----


def made_of(spec: TrialSpec, **verdicts: Verdict) -> Trial:
    records = [
        WindowRecord(
            spec=WindowSpec(name=label, variants=[label], seconds=2, trim_start_s=0, trim_end_s=0),
            windows={label: good_window(verdict=verdict)},
        )
        for label, verdict in verdicts.items()
    ]
    worst = next((v for v in (Verdict.INVALID, Verdict.VOID) if v in verdicts.values()), Verdict.OK)
    return Trial(spec=spec, started_at=NOW, verdict=worst, windows=records)


def test_a_void_window_voids_its_block_also_beside_a_liar() -> None:
    [[spec]] = study().outline()
    assert disturbed(made_of(spec, A=Verdict.VOID, B=Verdict.OK))
    assert disturbed(made_of(spec, A=Verdict.VOID, B=Verdict.INVALID))
    assert not disturbed(made_of(spec, A=Verdict.OK, B=Verdict.INVALID))
    assert not disturbed(made_of(spec, A=Verdict.OK, B=Verdict.OK))
    one = spec.model_copy(update={"variants": ["A"]})
    assert not disturbed(made_of(one, A=Verdict.INVALID))


def test_it_is_made_once_more_at_the_end() -> None:
    found = study(plan="smoke")

    def make(spec: TrialSpec) -> Trial:
        return made_of(spec, A=Verdict.VOID if spec.block == 2 else Verdict.OK)

    trials = drive(found.plan(), make)
    assert [trial.spec.key for trial in trials] == ["block-1", "block-2", "block-3", "block-2.2"]
    assert trials[3].spec.windows == trials[1].spec.windows


# ---- looks ----


def looking(**options: JsonValue) -> Compare:
    request = study(plan="quick").request.model_copy(update={"options": options})
    return Compare(CATALOG, request)


def equal_record(share: float, label: str, **changes: object) -> WindowRecord:
    """A variant's window at an equal rate."""
    spec = WindowSpec(
        name=f"{label} at {share}",
        variants=[label],
        seconds=6,
        load="open",
        equal_share=share,
        trim_start_s=1,
        trim_end_s=0.5,
    )
    return WindowRecord(spec=spec, windows={label: good_window("open", **changes)})


def blocks_made(found: Compare, effect: float) -> list[str]:
    """What is made where B costs so many times as much, with 1 % of noise."""
    chance = random.Random(5)

    def make(spec: TrialSpec) -> Trial:
        costs = {"A": 100.0, "A~2": 100.0, "B": 100.0 * effect}
        records = [
            equal_record(
                0.6, label, offered_rps=600.0, app_cpu_us_per_request=cost * math.exp(chance.gauss(0, 0.01))
            )
            for label, cost in costs.items()
        ]
        return Trial(spec=spec, started_at=NOW, verdict=Verdict.OK, windows=records)

    return [trial.spec.key for trial in drive(found.plan(), make)]


def test_it_ends_at_the_first_look_that_decides() -> None:
    found = looking(looks=[6, 9, 12])
    assert len(found.outline()) == 12
    assert len(blocks_made(found, 1.30)) == 6
    assert len(blocks_made(found, 1.000)) in (6, 9), "equivalent is a decision as well"
    assert len(blocks_made(found, 1.012)) in (9, 12), "six are too few at the first look"
    assert len(blocks_made(looking(), 1.30)) == 6, "the plan's own number"


def test_void_blocks_are_made_again_before_the_look() -> None:
    found = looking(looks=[6, 9])

    def make(spec: TrialSpec) -> Trial:
        void = spec.block == 2 and spec.attempt == 1
        return made_of(spec, A=Verdict.VOID if void else Verdict.OK)

    keys = [trial.spec.key for trial in drive(found.plan(), make)]
    assert keys == [*(f"block-{n}" for n in range(1, 7)), "block-2.2", "block-7", "block-8", "block-9"]


def test_what_decides_is_said_beforehand() -> None:
    assert looking().primary == "total_cpu_us_per_request_at_60"
    assert "primary metric: total_cpu_us_per_request_at_60" in told_before(looking())[0]
    assert study(plan="nightly").primary == "duet_cpu_us_per_request", "it has no equal rate"
    assert "looks after 6, 9 and 12 blocks" in told_before(looking(looks=[6, 9, 12]))[0]
    assert looking(primary="goodput_rps").primary == "goodput_rps"
    assert study(plan="settings").primary == "app_cpu_us_per_request", "it has no duet either"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"primary": "goodput"}, "there is no metric 'goodput'. Did you mean 'goodput_rps'"),
        ({"looks": [6]}, "two or more increasing"),
        ({"looks": [3, 6]}, "at least 6"),
        ({"looks": [9, 6]}, "two or more increasing"),
    ],
)
def test_what_cannot_be_looked_at(options: dict[str, JsonValue], told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        looking(**options)


def test_looks_are_read_from_the_command() -> None:
    assert read_looks("6,9,12") == (6, 9, 12)
    with pytest.raises(UsageError, match="such as 6,9,12, not 'six'"):
        read_looks("six")


# ---- how long it takes ----


def lasts_s(plan: str, variants: int) -> float:
    return estimate_s(study(*map(str, range(variants)), plan=plan).outline(), Overheads())


def test_a_comparison_takes_a_quarter_of_an_hour_and_a_night_is_enough_for_all() -> None:
    """Six implementations on two scenarios within two hours; five more blocks of each would still be told."""
    assert 15 * 60 < lasts_s("quick", 2) < 18 * 60
    assert lasts_s("session", 2) < 20 * 60
    assert 3600 < 2 * lasts_s("nightly", 6) < 7200
    found = study(*"ABCDEF", plan="nightly")
    found.pairing = found.pairing.model_copy(update={"blocks": 12})
    assert 2 * estimate_s(found.outline(), Overheads()) > 7200


@pytest.mark.parametrize("plan", ["quick", "session", "nightly", "claim", "headline"])
def test_looking_whether_the_warm_up_is_steady_costs_two_seconds_a_start_at_the_most(plan: str) -> None:
    [spec, *_] = (spec for block in study(plan=plan).outline() for spec in block)
    warm_up = spec.warm_up
    assert warm_up.steady_buckets >= 6
    assert warm_up.least_s > warm_up.steady_buckets, (
        "it can be steady at once: the first second is not looked at"
    )
    assert warm_up.cap_s > warm_up.least_s
    assert warm_up.least_s <= {"quick": 5, "session": 5, "nightly": 5, "claim": 8, "headline": 8}[plan] + 2
