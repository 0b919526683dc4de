"""tandem.studies.crossover: which cells, who wins where, and the model beside each."""

import math
import random
from collections import Counter
from typing import Any

import pytest
from harness_engine import invalid_window, is_golden, request, result_of, trial
from harness_samples import good_window, pooler, role, there

from tandem.catalog.catalog import Catalog
from tandem.errors import UsageError
from tandem.lab.prepare import check
from tandem.record.request import Conditions, Request, Variant
from tandem.record.result import Baselines, Concluded, Result
from tandem.record.trial import Trial
from tandem.record.window import DbRtt, Verdict, Window
from tandem.report.markdown import pictures_in
from tandem.report.picture import svg
from tandem.studies.crossover.conclusions import Crossed, crossings, intervals, winner
from tandem.studies.crossover.report import report, sentences
from tandem.studies.crossover.study import Crossover, CrossoverOptions, whole_numbers

SYNC, ASYNC = "python-sync", "python-async"


def asked(
    *names: str,
    waits: list[int] | None = None,
    threads: list[int] | None = None,
    pools: list[int] | None = None,
    **changes: Any,
) -> Request:
    options = CrossoverOptions(waits_ms=waits or [0, 15], threads=threads or [], pools=pools or [], rounds=3)
    under = Conditions(topology="full", placement="two-cores")
    fields = {"study": "crossover", "plan": "crossover", "seed": 7, "conditions": under}
    fields["options"] = options.as_options()
    return request(*(names or (SYNC, ASYNC)), **{**fields, **changes})


def window(rate: float, wait_ms: int, during_ms: float | None = None) -> Window:
    """Of two cores; a request costs the application 1 ms and the database's side 1.2 ms, in eight round trips."""
    us = {"app": 1000, "db": 700, "pgbouncer": 400, "proxy": 100}
    roles = {name: role(rate * each / 1e6, "1" if name == "app" else "0") for name, each in us.items()}
    rtt = DbRtt(
        setting=wait_ms, before_p50=wait_ms, during_p50=during_ms or wait_ms, during_p90=wait_ms, samples=9
    )
    made = good_window(goodput_rps=rate, roles=roles, db_rtt_ms=rtt, bottleneck="database", connections=50)
    return made.model_copy(update={"pooler": pooler(queries=8 * (made.requests + made.probes))})


def concluded(real: Catalog, wanted: Request, trials: list[Trial]) -> Concluded[Crossed]:
    return Crossover(real, wanted).conclude(trials, Baselines())


BOTH = {
    f"{SYNC} wait=0ms": 780.0,
    f"{ASYNC} wait=0ms": 560.0,
    f"{SYNC} wait=15ms": 160.0,
    f"{ASYNC} wait=15ms": 163.0,
}


def trials(rates: dict[str, float], spread: float = 0.02, during_ms: float | None = None) -> list[Trial]:
    """Three blocks of each label."""
    draw = random.Random(5)
    return [
        trial(
            label,
            block,
            window(rate * math.exp(draw.gauss(0, spread)), 15 if "15" in label else 0, during_ms),
        )
        for block in (1, 2, 3)
        for label, rate in rates.items()
    ]


# ---- what is measured ----


def test_every_cell_is_in_each_round_once(real: Catalog) -> None:
    wanted = asked(waits=[0, 5], threads=[4, 16], pools=[8, 20])
    study = Crossover(real, wanted)
    blocks = study.outline()
    assert blocks == Crossover(real, wanted).outline()
    assert [{spec.block for spec in block} for block in blocks] == [{n} for n in range(1, 3 * 2 * 2 + 1)]
    within = [[spec.variants[0] for spec in block] for block in blocks]
    counts = Counter(label for labels in within for label in labels)
    assert Counter((label.split()[0], n) for label, n in counts.items()) == {(SYNC, 3): 8, (ASYNC, 3): 4}, (
        "handlers of async hold no thread"
    )
    assert within[0] != within[1]
    assert len({spec.name for block in blocks for spec in block}) == 36
    pairs = [{variant.label for variant in pair} for pair in study.at]
    assert all(any(pair <= {*labels} for labels in within) for pair in pairs), (
        "what is compared is in one block"
    )
    assert {len(labels) for labels in within} == {3}, (
        "and nothing else: two numbers of threads, and the async variant"
    )


def test_a_wait_is_the_distance_of_the_database(real: Catalog) -> None:
    found = {v.label: v for v in Crossover(real, asked(threads=[4], pools=[8])).variants}
    sync = found[f"{SYNC} wait=15ms threads=4 pool=8"]
    assert (sync.db_rtt_ms, sync.scenario_changes) == (15, {})
    assert sync.settings == {"THREADS": "4", "DB_POOL_MAX": "8"}
    assert found[f"{ASYNC} wait=0ms pool=8"].db_rtt_ms == 0, "the latency proxy is in every cell's path"


def test_a_scenario_that_waits_is_asked_to(real: Catalog) -> None:
    direct = Conditions(topology="direct", placement="two-cores")
    found = Crossover(real, asked(scenario="work", conditions=direct))
    paths = ["/work?delay_ms=0"] * 2 + ["/work?delay_ms=15"] * 2
    assert [(v.scenario_changes["path"], v.db_rtt_ms) for v in found.variants] == [(p, None) for p in paths]


def test_what_it_asks_for_can_be_made(real: Catalog) -> None:
    for wanted in (asked(threads=[4], pools=[8]), asked(scenario="work")):
        check(real, wanted, Crossover(real, wanted).variants)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"names": (SYNC,)}, "takes two variants, not 1"),
        ({"scenario": "index"}, "there is no wait to vary"),
        ({"waits": [0, 300]}, "250 ms is the maximum for recipes"),
        ({"waits": [5]}, "at least two values"),
        ({"scenario": "work", "pools": [4]}, "work never asks the database"),
        ({"names": (ASYNC, "node"), "threads": [4]}, "neither of the two is sync"),
        (
            {"conditions": Conditions(topology="full", placement="two-cores", db_rtt_ms=4)},
            "--wait varies the distance",
        ),
        ({"options": {}}, "a crossover needs waits"),
    ],
)
def test_a_grid_that_means_nothing_is_refused(real: Catalog, changes: dict[str, Any], told: str) -> None:
    names = changes.pop("names", ())
    with pytest.raises(UsageError, match=told):
        Crossover(real, asked(*names, **changes))


def test_requests_that_would_be_refused_for_waiting_are_not_measured(real: Catalog) -> None:
    """Fifty share four connections for 160 ms each: 1.84 s; the contract's limit is 1.5 s. Twenty threads wait less."""
    with pytest.raises(UsageError, match="--connections 34 fits") as error:
        Crossover(real, asked(waits=[0, 20], pools=[4]))
    assert str(error.value).startswith(f"{ASYNC} wait=20ms pool=4: 50 requests share 4")
    fewer = [Variant(label=n, implementation=n, scenario_changes={"connections": 34}) for n in (SYNC, ASYNC)]
    found = Crossover(real, asked(waits=[0, 20], pools=[4], variants=fewer))
    assert {v.scenario_changes["connections"] for v in found.variants} == {34}
    check(real, found.request, found.variants)


def test_what_is_varied_cannot_be_given_as_well(real: Catalog) -> None:
    own = Variant(label="mine", implementation=SYNC, settings={"THREADS": "3"})
    other = Variant(label=ASYNC, implementation=ASYNC)
    with pytest.raises(UsageError, match="THREADS is varied here"):
        Crossover(real, asked(variants=[own, other], threads=[4]))


@pytest.mark.parametrize(
    ("given", "found"), [("0,1,5,15,50ms", [0, 1, 5, 15, 50]), ("15ms, 5", [5, 15]), (None, [])]
)
def test_numbers_are_read(given: str | None, found: list[int]) -> None:
    assert whole_numbers("--wait", given, 0, "ms") == found


@pytest.mark.parametrize("given", ["", "a", "1.5ms", "-1", "5s"])
def test_what_is_no_number_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match="--wait takes whole numbers from 0"):
        whole_numbers("--wait", given, 0, "ms")


# ---- who wins ----


@pytest.mark.parametrize(
    ("interval", "who"),
    [
        ((1.2, 1.5), "second"),
        ((0.5, 0.8), "first"),
        ((0.95, 1.08), "nobody"),
        ((1.02, 1.08), "nobody"),
        ((0.8, 1.3), "not decided"),
        (None, "not decided"),
    ],
)
def test_a_winner_needs_an_interval_on_its_side(interval: tuple[float, float] | None, who: str) -> None:
    assert winner(interval) == who


def test_intervals_hold_for_all_cells_together() -> None:
    """Of 400 grids of ten cells without a difference, at most one in twenty has a cell that seems to have one."""
    draw, wrong = random.Random(3), 0
    for _ in range(400):
        found = intervals([[draw.gauss(0, 0.08) for _ in range(3)] for _ in range(10)])
        wrong += any(low > 1 or high < 1 for low, high in filter(None, found))
    assert wrong / 400 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 400)
    assert intervals([[], [0.1, 0.2]])[0] is None, "without a block"
    assert intervals([[0.1], [0.2]]) == [None, None], "without a spread"


def test_they_meet_between_two_waits() -> None:
    assert crossings({0: 0.5, 10: 2.0, 20: 3.0}) == [pytest.approx(5)]
    assert crossings({0: 0.5, 10: None, 20: 2.0}) == []
    assert crossings({0: 1.5, 10: 2.0}) == []


def test_both_are_compared_in_each_cell(real: Catalog) -> None:
    found = concluded(real, asked(), trials(BOTH))
    assert found.verdict is Verdict.OK
    near, far = found.conclusions.contrasts
    assert (near.word, near.n, far.word) == ("first", 3, "nobody")
    assert near.ratio == pytest.approx(560 / 780, rel=0.05)
    low, high = there(near.interval)
    assert low < there(near.ratio) < high < 1


def test_the_model_stands_beside_each_cell(real: Catalog) -> None:
    """Both cost what the shared core costs: 1.2 ms a request; far away twenty connections take 8 x 15 ms and that."""
    found = concluded(real, asked(), trials(BOTH)).conclusions
    near, far = found.contrasts
    sync, other = (there(found.prediction(name, near)) for name in (SYNC, ASYNC))
    assert sync.predicted.throughput_rps == pytest.approx(1e3 / 1.2, rel=0.08)
    assert sync.calibrated
    assert there(other.off) > 0.10, "560/s were made slower than their CPU times explain"
    assert other.likely == ["nothing that was counted explains it"]
    for name in (SYNC, ASYNC):
        side = there(found.prediction(name, far))
        assert side.predicted.throughput_rps == pytest.approx(20 / 0.1222, rel=0.03)
        assert side.predicted.limited_by == "pool-wait"
        assert (side.calibrated, side.likely) == (False, [])
    assert found.predicted_ratio(far) == pytest.approx(1, abs=0.05)


def test_a_slow_round_trip_is_named_where_the_model_is_wrong(real: Catalog) -> None:
    rates = {**BOTH, f"{SYNC} wait=15ms": 110.0, f"{ASYNC} wait=15ms": 110.0}
    found = concluded(real, asked(), trials(rates, during_ms=22.0)).conclusions
    told = there(found.prediction(SYNC, found.contrasts[1]))
    assert "a round trip took 22.0 ms during the load" in "; ".join(told.likely)


def test_a_bad_trial_makes_the_whole_invalid_and_is_told(real: Catalog) -> None:
    made = trials(BOTH)
    made[0] = trial(made[0].spec.variants[0], 1, invalid_window())
    found = concluded(real, asked(), made)
    assert found.verdict is Verdict.INVALID
    assert found.conclusions.contrasts[0].n == 2
    assert found.reasons == [f"{SYNC} wait=0ms, round 1: invalid: wrong"]


def test_a_cell_without_a_good_trial_is_void(real: Catalog) -> None:
    made = [t for t in trials(BOTH) if t.spec.variants != [f"{SYNC} wait=15ms"]]
    found = concluded(real, asked(), made)
    far = found.conclusions.contrasts[1]
    assert (found.verdict, far.ratio, far.word) == (Verdict.VOID, None, "not decided")


# ---- what a person reads ----


def result(real: Catalog) -> Result[Crossed]:
    rates = {**BOTH, f"{ASYNC} wait=15ms": 240.0}
    return result_of(asked(), concluded(real, asked(), trials(rates)))


def test_two_that_are_alike_are_not_said_to_meet(real: Catalog) -> None:
    """The straight line between two ratios near 1 passes 1 by chance."""
    rates = {**BOTH, f"{SYNC} wait=0ms": 600.0, f"{ASYNC} wait=0ms": 580.0}
    rates |= {f"{SYNC} wait=15ms": 150.0, f"{ASYNC} wait=15ms": 155.0}
    found = concluded(real, asked(), trials(rates, spread=0.002)).conclusions
    assert found.meetings[0].measured_ms, "by the ratios alone they do"
    assert sentences(found) == ["as they are: nobody wins at 0, 15 ms"]


def test_the_report_is_the_golden_one(real: Catalog) -> None:
    assert result(real).headline == f"{SYNC} wins 1 of 2 cells, {ASYNC} wins 1 of 2 cells"
    is_golden(report(result(real)), "crossover")


def test_the_heat_map_has_a_cell_for_each_ratio(real: Catalog) -> None:
    made = result(real)
    [picture] = [one for one in pictures_in(Crossover.report(made)) if one.file]
    assert picture.file == "crossover.svg"
    drawn = svg(picture)
    for cell in made.conclusions.contrasts:
        assert f"× {cell.ratio:.2f}" in drawn
    assert "distance of the database, ms" in drawn
