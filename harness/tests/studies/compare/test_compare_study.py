"""tandem.studies.compare.study: what is planned, and how the duet follows from the windows before it."""

import math
import random
import re
from collections.abc import Callable

import pytest
from harness_engine import request, told_before
from harness_places import PLANS, ROOT
from harness_samples import NOW, finding, good_window
from pydantic import JsonValue

from tandem.catalog.catalog import Catalog, Pairing, Unsupported
from tandem.catalog.scenario import WHOLE_WINDOWS
from tandem.engine.blocks import disturbed
from tandem.engine.estimate import Overheads, estimate_s
from tandem.engine.run import drive
from tandem.engine.side_by_side import duet_rates
from tandem.engine.study import answered
from tandem.errors import UsageError
from tandem.record.request import Conditions
from tandem.record.trial import Trial, TrialSpec, WindowRecord, WindowSpec
from tandem.record.window import Verdict, Window
from tandem.studies.compare.command import read_looks
from tandem.studies.compare.study import Compare, equal_orders, unsliced

CATALOG = Catalog(ROOT)
ONE_BLOCK, IN_SLICES = (str(PLANS / name) for name in ("one-trial.toml", "slices.toml"))
INVALID, VOID, OK = Verdict.INVALID, Verdict.VOID, Verdict.OK
ALL = ["A", "A~2", "B"]
type Answer = Callable[[WindowSpec, str], Window | None]


def study(*labels: str, plan: str = ONE_BLOCK, **options: JsonValue) -> Compare:
    under = Conditions(topology="full", placement="two-cores")
    asked = request(*(labels or "AB"), study="compare", conditions=under, plan=plan, options=options)
    return Compare(CATALOG, asked)


def first_of(made: Compare) -> TrialSpec:
    return made.outline()[0][0]


def follow(made: Compare, answer: Answer, absent: str = "") -> list[WindowSpec]:
    """The windows of the first block that are asked for. answer: a variant's window; None: it breaks. absent: does not run."""
    asked = list[WindowSpec]()

    def record(spec: WindowSpec) -> WindowRecord:
        asked.append(spec)
        running = [label for label in spec.variants if label != absent]
        windows = {label: window for label in running if (window := answer(spec, label)) is not None}
        own = spec.model_copy(update={"variants": running})
        return WindowRecord(spec=own, windows=windows, refused=None if windows else "broke")

    answered(made.windows(first_of(made)), record)
    return asked


def always(**others: Window | None) -> Answer:
    """A thousand answers a second. others: variants whose windows are other ones."""
    return lambda spec, label: others.get(label, good_window(goodput_rps=1000.0))


def test_the_reference_takes_part_twice() -> None:
    found = study().variants
    assert [(one.label, one.implementation) for one in found] == [("A", "A"), ("B", "B"), ("A~2", "A")]
    assert [variant.label for variant in study("A").variants] == ["A", "A~2"]


def test_a_block_is_one_trial_whose_windows_are_data() -> None:
    [[spec]] = study().outline()
    assert sorted(spec.variants) == ALL
    *turns, duet = spec.windows
    assert len({window.name for window in spec.windows}) == 7
    order = [window.variants[0] for window in turns]
    assert order[3:] == order[2::-1]
    assert {(window.load, window.settled, window.seconds) for window in turns} == {("closed", False, 2)}
    assert (duet.load, duet.address, duet.variants) == ("open", "app:8080", spec.variants)
    assert study().outline() == study().outline(), "the seed fixes it"


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"steady_buckets": 5}, "must be 0 or at least"),
        ({"warm_up_cap_s": 6}, "must be 0 or at least"),
        ({"equal_shares": [0.6, 0.5], "equal_s": 8}, "equal_shares are some of 0.1, 0.3, 0.6, 0.8"),
        ({"equal_shares": [0.6, 0.3], "equal_s": 8}, "in this order"),
        ({"equal_shares": [0.6, 0.6], "equal_s": 8}, "in this order"),
        ({"equal_shares": [0.6]}, "equal_s must be at least 3"),
        ({"equal_s": 8}, "there are no equal_shares"),
    ],
)
def test_a_pairing_that_cannot_be_is_refused(table: dict[str, object], told: str) -> None:
    good = {"blocks": 1, "rounds": 1, "window_s": 2, "warm_up_s": 7}
    further = {"steady_buckets": 6, "warm_up_cap_s": 7, "equal_shares": [0.3, 0.6], "equal_s": 3}
    found = [Pairing.model_validate(own).equal_shares for own in (good, {**good, **further})]
    assert found == [(), (0.3, 0.6)]
    with pytest.raises(ValueError, match=told):
        Pairing.model_validate({**good, **table})


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
    duet, near = follow(study(plan="nightly"), always())[-2:]
    assert (duet.name, near.name, near.load) == ("duet", "saturated", "open")
    assert duet.counts
    assert not near.counts, "more may be offered than can be served"
    assert min(near.rates_rps.values()) > max(duet.rates_rps.values())


@pytest.mark.parametrize(
    ("b", "absent", "rates"),
    [
        (good_window(goodput_rps=400.0), "", {"A": 80, "A~2": 81, "B": 82}),
        (good_window(verdict=INVALID), "", {"A": 300, "A~2": 301}),
        (None, "", {"A": 300, "A~2": 301}),  # its windows break
        (good_window(goodput_rps=400.0), "B", {"A": 300, "A~2": 301}),
    ],
)
def test_a_duet_is_of_those_that_are_right_at_rates_that_follow_from_the_windows_before_it(
    b: Window | None, absent: str, rates: dict[str, int]
) -> None:
    *turns, duet = follow(study(), always(B=b), absent)
    assert sorted(duet.variants) == [*rates]
    assert duet.rates_rps.keys() == rates.keys()
    assert sorted(duet.rates_rps.values()) == [*rates.values()]
    counts = [sum(window.variants == [label] for window in turns) for label in ALL]
    assert counts == [2, 2, 1 if absent else 2], "who did not start is asked once"


def test_without_a_rate_of_each_there_is_none() -> None:
    asked = follow(study(), always(B=good_window(verdict=VOID)))
    assert [window.load for window in asked] == ["closed"] * 6


# ---- in slices ----


def test_a_block_has_a_window_of_each_alone_and_one_in_slices() -> None:
    *alone, sliced = first_of(study(plan=IN_SLICES)).windows
    assert sorted(window.variants[0] for window in alone) == ALL
    assert {(window.load, window.seconds) for window in alone} == {("closed", 2)}
    assert sorted(sliced.variants) == ALL
    assert sliced.slices is not None
    assert (sliced.seconds, sliced.slices.slice_s) == (15, 1.0), (
        "four of each, and one that opens connections"
    )
    blocks = study(plan=IN_SLICES).outline()
    seeds = {window.slices.seed for [spec] in blocks for window in spec.windows if window.slices}
    assert len(seeds) == 2, "each block has an order of its own"
    assert study(plan=IN_SLICES).outline() == blocks


@pytest.mark.parametrize(
    ("others", "sliced"),
    [
        ({}, [ALL]),
        ({"B": good_window(verdict=INVALID)}, [["A", "A~2"]]),
        ({"B": good_window(verdict=INVALID), "A": None}, []),  # one alone has no turns
    ],
)
def test_who_was_wrong_alone_has_no_slices(others: dict[str, Window | None], sliced: list[list[str]]) -> None:
    asked = follow(study(plan=IN_SLICES), always(**others))
    assert [sorted(window.variants) for window in asked if window.slices] == sliced


@pytest.mark.parametrize(
    ("labels", "in_turns", "alone", "sliced"),
    [
        ("ABC", "B", {"A": 6, "A~2": 6, "B": 6, "C": 1}, [["A", "A~2", "C"]]),
        ("AB", "A", {"A": 6, "A~2": 6, "B": 6}, []),
    ],
)
def test_who_cannot_be_sliced_takes_turns_with_the_reference(
    monkeypatch: pytest.MonkeyPatch,
    labels: str,
    in_turns: str,
    alone: dict[str, int],
    sliced: list[list[str]],
) -> None:
    monkeypatch.setattr(Compare, "_in_turns", lambda self: {in_turns: "it keeps no connection"})
    spec = first_of(study(*labels, plan="nightly"))
    turns = [window for window in spec.windows if len(window.variants) == 1]
    assert {label: sum(window.variants == [label] for window in turns) for label in alone} == alone
    assert len(turns) == sum(alone.values())
    assert {window.seconds for window in turns if alone[window.variants[0]] > 1} == {4}
    assert [sorted(window.variants) for window in spec.windows if window.slices] == sliced


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


def equal_windows(plan: str = "quick") -> list[list[WindowSpec]]:
    """Of each block those at equal rates."""
    blocks = study(plan=plan).outline()
    return [[window for window in spec.windows if window.equal_share is not None] for [spec] in blocks]


def test_each_has_a_window_of_its_own_at_each_rate_through_the_whole_path() -> None:
    blocks = equal_windows()
    assert len(blocks) == 6
    for windows in blocks:
        assert sorted((window.equal_share or 0, *window.variants) for window in windows) == [
            (share, label) for share in (0.1, 0.3, 0.6, 0.8) for label in ALL
        ]
    every = [window for windows in blocks for window in windows]
    assert {(window.load, window.seconds, window.address) for window in every} == {("open", 6, None)}
    assert {window.equal_share for window in every if not window.counts} == {0.8}, "near the limit"
    assert {(window.trim_start_s, window.trim_end_s, window.slices) for window in every} == {(1.0, 0.5, None)}
    assert len({window.name for window in blocks[0]}) == 12
    assert equal_windows("nightly") == [[]] * 6, "the negative control"
    kinds = [
        "slices" if window.slices else "equal" if window.equal_share else window.name
        for window in first_of(study(plan="claim")).windows
    ]
    assert list(dict.fromkeys(kinds))[3:] == ["slices", "equal", "duet", "saturated"]


def test_a_linear_drift_over_two_blocks_falls_on_all_alike() -> None:
    order = [[(window.equal_share, *window.variants) for window in windows] for windows in equal_windows()]
    for first, again in zip(order[::2], order[1::2], strict=True):
        assert again == first[::-1]
    assert len({str(one) for one in order[::2]}) == 3, "each pair has an order of its own"
    shares = [share for share, _ in order[0]]
    assert shares == [share for share in dict.fromkeys(shares) for _ in range(3)], "one rate after the other"
    assert equal_orders(ALL, [0.3, 0.6], 6, 1000) != equal_orders(ALL, [0.3, 0.6], 6, 2000), "another seed"


def rates(asked: list[WindowSpec]) -> dict[float, set[int]]:
    """Share -> the rates that were asked for."""
    found: dict[float, set[int]] = {}
    for window in asked:
        if window.equal_share is not None:
            found.setdefault(window.equal_share, set()).update(window.rates_rps.values())
    return found


def test_the_rate_follows_from_the_slowest_and_is_one_for_all() -> None:
    asked = follow(study(plan="quick"), always(B=good_window(goodput_rps=405.0)))
    assert rates(asked) == {0.1: {40}, 0.3: {121}, 0.6: {243}, 0.8: {324}}
    equal = [window for window in asked if window.equal_share]
    assert [list(window.rates_rps) for window in equal] == [window.variants for window in equal]
    assert len(equal) == 12
    slow = follow(study(plan="quick"), always(B=good_window(goodput_rps=2.0)))
    assert rates(slow)[0.1] == {1}, "a rate of nothing is none"


def test_the_rate_is_of_the_slices_and_not_of_the_windows_at_equal_rates() -> None:
    def answer(window: WindowSpec, label: str) -> Window:
        rate = 500.0 if window.slices else 50.0 if window.equal_share else 2000.0
        return good_window(window.load, goodput_rps=rate)

    asked = follow(study(plan="claim"), answer)
    assert rates(asked)[0.6] == {300}
    [duet] = [window for window in asked if window.name == "duet"]
    assert list(duet.rates_rps.values()) == duet_rates([500.0] * 3), "nor does a duet's follow from them"


def test_who_was_wrong_or_absent_is_asked_at_no_equal_rate_and_sets_none() -> None:
    made, wrong = study(plan="quick"), good_window(goodput_rps=10.0, verdict=INVALID)
    for asked in (follow(made, always(B=wrong)), follow(made, always(), absent="B")):
        assert rates(asked)[0.6] == {600}
        assert {window.variants[0] for window in asked if window.equal_share} == {"A", "A~2"}
    unknown = follow(made, always(B=good_window(verdict=VOID)))
    assert rates(unknown) == {}, "nobody knows what it reaches"


@pytest.mark.parametrize(
    ("share", "code", "joins"),
    [(0.8, "incomplete", True), (0.8, "wrong-body", False), (0.6, "incomplete", False)],
)
def test_who_is_wrong_at_an_equal_rate_joins_no_duet(share: float, code: str, joins: bool) -> None:
    """Near its limit a request that comes too late is no fault."""

    def answer(window: WindowSpec, label: str) -> Window:
        if window.equal_share != share or label != "B":
            return good_window(window.load)
        return good_window(window.load, verdict=INVALID, findings=[finding("invalid", code)])

    [duet] = [window for window in follow(study(plan="claim"), answer) if window.name == "duet"]
    assert ("B" in duet.variants) is joins


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
    worst = next((v for v in (INVALID, VOID) if v in verdicts.values()), OK)
    return Trial(spec=spec, started_at=NOW, verdict=worst, windows=records)


@pytest.mark.parametrize(
    ("verdicts", "again"),
    [
        ({"A": VOID, "B": OK}, True),
        ({"A": VOID, "B": INVALID}, True),
        ({"A": OK, "B": INVALID}, False),
        ({"A": OK, "B": OK}, False),
        ({"A": INVALID}, False),
    ],
)
def test_a_void_window_voids_its_block_also_beside_a_liar(verdicts: dict[str, Verdict], again: bool) -> None:
    spec = first_of(study()).model_copy(update={"variants": [*verdicts]})
    assert disturbed(made_of(spec, **verdicts)) is again


# ---- looks ----


def blocks_made(found: Compare, effect: float) -> int:
    """How many are made where B costs so many times as much, with 1 % of noise."""
    chance = random.Random(5)
    how = {"seconds": 6, "load": "open", "equal_share": 0.6, "trim_start_s": 1, "trim_end_s": 0.5}

    def make(spec: TrialSpec) -> Trial:
        records = []
        for label, cost in {"A": 100.0, "A~2": 100.0, "B": 100.0 * effect}.items():
            own = cost * math.exp(chance.gauss(0, 0.01))
            window = good_window("open", offered_rps=600.0, app_cpu_us_per_request=own)
            at_60 = WindowSpec.model_validate({"name": f"{label} at 0.6", "variants": [label], **how})
            records.append(WindowRecord(spec=at_60, windows={label: window}))
        return Trial(spec=spec, started_at=NOW, verdict=OK, windows=records)

    return len(drive(found.plan(), make))


def test_it_ends_at_the_first_look_that_decides() -> None:
    found = study(plan="quick", looks=[6, 9, 12])
    assert len(found.outline()) == 12
    assert blocks_made(found, 1.30) == 6
    assert blocks_made(found, 1.000) in (6, 9), "equivalent is a decision as well"
    assert blocks_made(found, 1.012) in (9, 12), "six are too few at the first look"
    assert blocks_made(study(plan="quick"), 1.30) == 6, "the plan's own number"


def test_void_blocks_are_made_again_before_the_look() -> None:
    def make(spec: TrialSpec) -> Trial:
        return made_of(spec, A=VOID if spec.block == 2 and spec.attempt == 1 else OK)

    trials = drive(study(plan="quick", looks=[6, 9]).plan(), make)
    keys = [trial.spec.key for trial in trials]
    assert keys == [*(f"block-{n}" for n in range(1, 7)), "block-2.2", "block-7", "block-8", "block-9"]
    assert trials[6].spec.windows == trials[1].spec.windows


def test_what_decides_is_said_beforehand() -> None:
    quick = study(plan="quick")
    assert quick.primary == "total_cpu_us_per_request_at_60"
    assert "primary metric: total_cpu_us_per_request_at_60" in told_before(quick)[0]
    assert study(plan="nightly").primary == "duet_cpu_us_per_request", "it has no equal rate"
    assert study(plan="settings").primary == "app_cpu_us_per_request", "it has no duet either"
    assert study(plan="quick", primary="goodput_rps").primary == "goodput_rps"
    assert "looks after 6, 9 and 12 blocks" in told_before(study(plan="quick", looks=[6, 9, 12]))[0]


@pytest.mark.parametrize(
    ("plan", "options", "told"),
    [
        ("ceiling", {}, "has no"),
        ("quick", {"primary": "goodput"}, "there is no metric 'goodput'. Did you mean 'goodput_rps'"),
        ("quick", {"looks": [6]}, "two or more increasing"),
        ("quick", {"looks": [3, 6]}, "at least 6"),
        ("quick", {"looks": [9, 6]}, "two or more increasing"),
        ("session", {"groups": [["A"]]}, "groups"),
        ("session", {"groups": "A"}, "groups"),
        ("session", {"groups": [["A", "B", "node"]]}, "groups"),
    ],
)
def test_what_cannot_be_compared_is_refused(plan: str, options: dict[str, JsonValue], told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        study(plan=plan, **options)


def test_looks_are_read_from_the_command() -> None:
    assert read_looks("6,9,12") == (6, 9, 12)
    with pytest.raises(UsageError, match="such as 6,9,12, not 'six'"):
        read_looks("six")


# ---- how long it takes ----


def lasts_s(plan: str, variants: int) -> float:
    return estimate_s(study(*map(str, range(variants)), plan=plan).outline(), Overheads())


def test_a_comparison_takes_a_quarter_of_an_hour_and_a_night_is_enough_for_all() -> None:
    """Six implementations on two scenarios take one to two hours."""
    assert 15 * 60 < lasts_s("quick", 2) < 18 * 60
    assert lasts_s("session", 2) < 20 * 60
    assert 3600 < 2 * lasts_s("nightly", 6) < 7200


@pytest.mark.parametrize(
    ("plan", "most_s"), [("quick", 5), ("session", 5), ("nightly", 5), ("claim", 8), ("headline", 8)]
)
def test_looking_whether_the_warm_up_is_steady_costs_two_seconds_a_start_at_the_most(
    plan: str, most_s: int
) -> None:
    warm_up = first_of(study(plan=plan)).warm_up
    assert warm_up.steady_buckets >= 6
    assert warm_up.least_s > warm_up.steady_buckets, (
        "it can be steady at once: the first second is not looked at"
    )
    assert warm_up.cap_s > warm_up.least_s
    assert warm_up.least_s <= most_s + 2
