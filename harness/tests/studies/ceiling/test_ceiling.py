"""tandem.studies.ceiling: what is interleaved, the equal load, shares of the nearest ceiling, what is not published."""

from collections.abc import Sequence
from typing import Any

import pytest
from harness_engine import invalid_window, is_golden, play, request, result_of, trial, void_window
from harness_samples import good_window

from tandem.catalog.catalog import Catalog
from tandem.engine.stand_ins import wanted
from tandem.errors import UsageError
from tandem.facts.estimate import of_variants
from tandem.facts.metric import CEILING_SHARE, GOODPUT
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines, Result
from tandem.record.trial import Trial, TrialSpec, WindowSpec
from tandem.record.window import Verdict, Window
from tandem.studies.ceiling.study import AT_EQUAL_LOAD, Ceiling, Ceilings, equal_load_rps, share, supporting

PROXY, NULL, DATABASE = "ceiling proxy", "ceiling null", "ceiling database"
RATES = {PROXY: 20_000.0, NULL: 10_000.0, DATABASE: 1_000.0, "rust-async": 900.0, "python-sync": 600.0}


def asked(*names: str, **changes: Any) -> Request:
    several = names or ("rust-async", "python-sync")
    return request(*several, study="ceiling", plan="ceiling", seed=7, **changes)


def rounds(
    label: str, *rates: float | None, costs: Sequence[float] = (), tags: Sequence[str] = ()
) -> list[Trial]:
    """A trial for each rate; None: the host disturbed it. costs: of open windows from the second round on."""
    out = []
    for n, rate in enumerate(rates):
        tag = tags[n] if tags else "unknown"
        windows = [void_window("the hypervisor took 20 %", bottleneck=tag)]
        if rate is not None:
            windows = [good_window(goodput_rps=rate, bottleneck=tag)]
            windows += [good_window("open", app_cpu_us_per_request=costs[n - 1])] if n and costs else []
        out.append(trial(label, n + 1, *windows))
    return out


# ---- what is made ----


def test_each_block_has_every_ceiling_and_every_variant_once(real: Catalog) -> None:
    blocks = Ceiling(real, asked()).outline()
    orders = [[spec.variants[0] for spec in block] for block in blocks]
    assert len(blocks) == real.plans["ceiling"].trials
    assert all({*order} == {*RATES} and len(order) == 5 for order in orders)
    assert len({tuple(order) for order in orders}) > 1
    assert wanted(Ceiling(real, asked())) == [], "they are in each block"
    windows = [window for block in blocks for spec in block for window in spec.windows]
    assert {window.generator for window in windows} == {"oha", "pgbench"}


def answered(spec: TrialSpec, window: WindowSpec) -> Window:
    return good_window(window.load, goodput_rps=RATES[spec.variants[0]])


def opened(trials: Sequence[Trial]) -> dict[int, set[tuple[str, int]]]:
    """Block -> the labels and rates of its open windows."""
    out: dict[int, set[tuple[str, int]]] = {trial.spec.block: set() for trial in trials}
    for made in trials:
        for record in made.windows:
            if record.spec.load == "open":
                out[made.spec.block] |= {*record.spec.rates_rps.items()}
    return out


BOTH = {("rust-async", 300), ("python-sync", 300)}


def test_from_the_second_block_on_all_have_the_equal_load(real: Catalog) -> None:
    trials = play(Ceiling(real, asked()), answered)
    assert opened(trials) == {1: set(), 2: BOTH, 3: BOTH}
    found = Ceiling(real, asked()).conclude(trials, Baselines())
    assert (found.verdict, found.conclusions.equal_load_rps) == (Verdict.OK, 300)


def test_the_equal_load_waits_for_a_block_in_which_all_have_a_goodput(real: Catalog) -> None:
    def answer(spec: TrialSpec, window: WindowSpec) -> Window:
        return void_window() if spec.key == "1-python-sync" else answered(spec, window)

    trials = play(Ceiling(real, asked()), answer)
    assert opened(trials) == {1: set(), 2: set(), 3: BOTH}
    assert [t.spec.block for t in trials if t.spec.attempt == 2] == [1] * 5, "the first block was made again"
    assert equal_load_rps(trials, ["rust-async", "rust-sync"]) is None


def test_it_is_decided_by_what_was_received(real: Catalog) -> None:
    """So a resumed study goes on as it began."""
    first, second = (play(Ceiling(real, asked()), answered) for _ in range(2))
    assert [one.spec for one in first] == [one.spec for one in second]


def test_all_that_support_the_scenario_are_measured(real: Catalog) -> None:
    unable = [n for n, i in real.implementations.items() if "users" in i.unsupported.scenarios]
    assert {*supporting(real, "users", None)} == real.implementations.keys() - unable
    assert supporting(real, "users", ["rust-sync"]) == ["rust-sync"]
    with pytest.raises(UsageError, match="no implementation supports recipes"):
        supporting(Catalog(real.root / "docs"), "recipes", None)


# ---- what follows ----

OF = {
    PROXY: rounds(PROXY, 20_000.0, 21_000.0, 19_000.0),
    NULL: rounds(NULL, 10_000.0, 10_500.0, 9_500.0),
    DATABASE: rounds(DATABASE, 1_000.0, 1_200.0, 1_100.0),
    "rust-async": rounds(
        "rust-async", 900.0, 960.0, None, costs=[245.0], tags=["database", "database", "app-cpu"]
    ),
    "python-sync": [trial("python-sync", 1, invalid_window()), *rounds("python-sync", 1.0, 600.0)[1:]],
}


def concluded(real: Catalog, of: dict[str, list[Trial]] = OF) -> Result[Ceilings]:
    wanted = asked(*[label for label in of if not label.startswith("ceiling ")])
    found = Ceiling(real, wanted).conclude([t for own in of.values() for t in own], Baselines())
    return result_of(wanted, found)


def means(found: Result[Ceilings], metric: str) -> dict[str, float | None]:
    return {one.variant: one.mean for one in found.conclusions.estimates if one.metric == metric}


def test_the_lowest_ceiling_is_the_nearest_and_a_share_is_taken_within_the_round(real: Catalog) -> None:
    found = concluded(real)
    assert found.conclusions.nearest == "database"
    assert means(found, GOODPUT).keys() == RATES.keys()
    assert means(found, GOODPUT)["rust-async"] == 930.0
    assert means(found, CEILING_SHARE) == {"rust-async": pytest.approx(100 * (900 / 1000 + 960 / 1200) / 2)}
    one_round = {label: own[:1] for label, own in OF.items()}
    assert concluded(real, one_round).conclusions.nearest is None, "one round is too few"


def test_a_share_is_of_one_attempt() -> None:
    own = [
        *rounds("rust-async", 900.0, 960.0),
        trial("rust-async", 1, good_window(goodput_rps=500.0), attempt=2),
    ]
    ceiling = rounds(DATABASE, 1_000.0, 1_200.0)
    variants = [Variant(label=label, implementation="x") for label in ("rust-async", DATABASE)]
    [told] = share(*of_variants([*own, *ceiling], variants))
    assert told.mean == pytest.approx(85), "the ceiling's second attempt was not good"
    ceiling.append(trial(DATABASE, 1, good_window(goodput_rps=1_000.0), attempt=2))
    [told] = share(*of_variants([*own, *ceiling], variants))
    assert told.mean == pytest.approx(65)


def test_the_cost_is_that_at_the_equal_load(real: Catalog) -> None:
    own = rounds("rust-async", 900.0, 900.0, 900.0, costs=[240.0, 250.0])
    found = concluded(real, {**OF, "rust-async": own})
    assert means(found, AT_EQUAL_LOAD) == {"rust-async": 245.0}
    assert means(concluded(real), AT_EQUAL_LOAD) == {}, "one round is too few"


def test_the_report_is_the_golden_one(real: Catalog) -> None:
    own = rounds("rust-async", 900.0, 960.0, 930.0, costs=[245.0, 255.0], tags=["database"] * 3)
    found = concluded(real, {**OF, "rust-async": own, "node": rounds("node", 700.0, 650.0, None)})
    assert found.verdict is Verdict.INVALID
    found.conclusions.equal_load_rps = 300
    is_golden(Ceiling.report(found), "ceiling")
    kept = found.model_dump_json()
    assert Result[Ceilings].model_validate_json(kept).model_dump_json() == kept


def test_a_figure_that_is_missing_makes_it_void(real: Catalog) -> None:
    of = {**OF, "python-sync": rounds("python-sync", 600.0, None, None)}
    found = concluded(real, of)
    assert found.verdict is Verdict.VOID
    assert "python-sync, round 3: void: the hypervisor took 20 %" in found.reasons


def test_a_mix_has_no_ceiling(real: Catalog) -> None:
    with pytest.raises(UsageError, match="mixed is a mix, and no stand-in does what its requests do"):
        Ceiling(real, asked(scenario="mixed"))
