"""tandem.studies.explain: which cells, what their trials say, what a person reads."""

import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest
from harness_engine import (
    Answer,
    FakeLab,
    invalid_window,
    play,
    refusing,
    request,
    result_of,
    session,
    text,
    void_window,
)
from harness_places import FIXTURES, ROOT
from harness_samples import good_window, there

from tandem.analysis.block_model import fit
from tandem.analysis.cost import APP
from tandem.catalog.catalog import Catalog
from tandem.cli.options import read_variant
from tandem.engine.run import run
from tandem.errors import UsageError
from tandem.facts.metric import GOODPUT
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import TrialSpec, WindowSpec
from tandem.record.window import DbRtt, Verdict, Window
from tandem.report.markdown import pictures_in
from tandem.selftest.explaining import leg
from tandem.studies.explain.command import as_published, read_preset, told
from tandem.studies.explain.conclusions import PROGRAMS, Cell, Explained, Explanation, FactorShare
from tandem.studies.explain.design import ExplainOptions, offer, parse_factors, taken_out
from tandem.studies.explain.report import FILE, report, sentence
from tandem.studies.explain.shares import explanation
from tandem.studies.explain.study import Explain
from tandem.studies.registry import read_folder
from tandem.studies.reproduce.experiment import pick
from tandem.wording import times

SYNC, ASYNC = "A python-sync as it is", "B python-async as it is"


def asked(*names: str, preset: str | None = "published", **options: Any) -> Request:
    """python-sync against python-async unless said, on one CPU: a two-core host gives the application that."""
    plain = ExplainOptions.model_validate({"blocks": 3, "cpus": 1, **options})
    found = request(
        *(names or ("python-sync", "python-async")),
        study="explain",
        plan="explain",
        options=plain.model_dump(),
    )
    return found if preset is None else as_published(found, read_preset(ROOT, preset, "recipes"), preset)


def own(
    *variants: tuple[str, dict[str, str]], equal: dict[str, str] | None = None, **options: Any
) -> Request:
    """Variants with settings of their own."""
    named = [
        Variant(label=f"{n} {'AB'[i]}", implementation=n, settings=s) for i, (n, s) in enumerate(variants)
    ]
    found = asked(preset=None, **options)
    return found.model_copy(update={"variants": named, "settings": equal or {}})


def limits(label: str) -> float:
    """The lower of two limits, as the published settings have them."""
    side = label.startswith("B") or "async" in label
    many = "as it is" in label and not side
    connections = 5 if many or ("handlers" in label and not side) else 20
    trips = 8 + (many or "time zone" in label) + 4 * (not side and (many or "persistence" in label))
    if side:
        trips += 2 if "as it is" in label else "reset" in label
    return min(connections / (trips * 0.004), 450 if side else 520)


type Rates = Callable[[str], float]


def answers(rates: Rates, scatter: float = 0.0, **changes: Any) -> Answer:
    """Windows with these rates, up and down by 1 % from block to block. scatter: of each start."""

    def answer(spec: TrialSpec, _: WindowSpec) -> Window:
        chance = Random(spec.name)
        rate = rates(spec.variants[0]) * (1 + 0.01 * (spec.block - 2)) * math.exp(chance.gauss(0, scatter))
        return good_window(
            goodput_rps=rate, app_cpu_us_per_request=1e6 / rate, bottleneck="latency-bound", **changes
        )

    return answer


def but(label: str, other: Callable[[], Window]) -> Answer:
    """All as they are, but one cell."""
    return lambda spec, window: other() if spec.variants == [label] else answers(limits)(spec, window)


def concluded(
    real: Catalog,
    found: Request | None = None,
    answer: Answer | None = None,
    ceilings: dict[str, float | None] | None = None,
) -> Concluded[Explained]:
    study = Explain(real, found or asked())
    trials = play(study, answer or answers(limits))
    return study.conclude(trials, Baselines(ceilings_rps=ceilings or {}))


def of(found: Explained, metric: str = GOODPUT) -> Explanation:
    return there(found.of(metric))


def ratio(found: Explained, metric: str = GOODPUT) -> float:
    return there(there(found.gap(metric)).ratio)


def factor(found: Explained, name: str, side: str | None) -> FactorShare:
    return next(share for share in of(found).factors if (share.name, share.side) == (name, side))


def bounds(shares: Iterable[FactorShare], side: str | None) -> set[str | None]:
    return {share.bound for share in shares if share.side == side}


def named(found: Explained, label: str) -> Cell:
    return next(cell for cell in found.cells if cell.label == label)


# ---- the design ----


def test_the_legs_are_the_settings_that_differ(real: Catalog) -> None:
    a, b = Explain(real, asked()).legs
    assert [factor.change for factor in a.factors] == [
        "WORKERS 5 to 2, THREADS 1 to 10",
        "DB_PERSISTENT 0 to 1",
        "DB_TIME_ZONE request to connection",
        "DB_PREPARE 0 to 1",
    ]
    assert a.groups == {"connections": 0b1011}
    assert [factor.name for factor in b.factors] == ["handlers", "time zone", "reset"]
    assert b.groups == {}, "it has one of the group's factors"
    _, on_two_cpus = Explain(real, asked(cpus=2)).legs
    assert [factor.name for factor in on_two_cpus.factors] == ["time zone", "reset"], (
        "two workers are the default"
    )


def test_what_a_factor_needs_is_equal_first(real: Catalog) -> None:
    """Nothing is prepared on connections that are not kept; kept ones that prepare nothing are a cell of their own."""
    study = Explain(real, asked())
    settings = [study.legs[0].cell(state).settings for state in study.legs[0].orders().states]
    both = {(s.get("DB_PERSISTENT", "1"), s.get("DB_PREPARE", "1")) for s in settings}
    assert both == {("0", "0"), ("1", "0"), ("1", "1")}
    own_way = study.legs[1].orders()
    assert own_way.count == 6, "a side without the factor is not bound by it"
    by_hand = asked(factors={"mine": ["DB_PREPARE"]})
    names = {factor.name: factor.change for factor in Explain(real, by_hand).legs[0].factors}
    assert (names["mine"], names["persistence"]) == ("DB_PREPARE 0 to 1", "DB_PERSISTENT 0 to 1")
    assert Explain(real, by_hand).legs[0].requires == {}, "a factor that nobody has needs nothing"


def test_from_equal_settings_what_a_factor_needs_is_its_own_last(real: Catalog) -> None:
    turned = Explain(real, asked("python-async", "python-sync")).legs[1]
    labels = {turned.label(state) for state in turned.orders().states}
    assert "B python-sync own preparation" in labels
    assert "B python-sync own persistence" not in labels


def test_every_cell_is_in_each_block_and_the_ends_more_often(real: Catalog) -> None:
    study = Explain(real, asked())
    blocks = study.outline()
    counts = [Counter(spec.variants[0] for spec in block) for block in blocks]
    assert [counted.total() for counted in counts] == [20, 24, 20]
    assert set(counts[1]) == set(counts[0]) == {variant.label for variant in study.variants}
    ends = {SYNC, "python-sync equal", "python-async equal", ASYNC}
    assert {label for label, count in counts[1].items() if count == 2} == ends
    assert list(counts[0]) != list(counts[2]), "each block has an order of its own"
    names = [spec.name for block in blocks for spec in block]
    assert len({*names}) == len(names)
    assert blocks == Explain(real, asked()).outline()
    assert [window.load for window in blocks[0][0].windows] == ["closed"]
    alone = own(("node", {"DB_POOL_MAX": "4"}), ("rust-async", {}))
    assert [len(block) for block in Explain(real, alone).outline()] == [3, 3, 3], "there are ends alone"


def test_a_cell_has_its_own_settings_and_the_equal_ones(real: Catalog) -> None:
    found = asked()
    cells = {variant.label: variant for variant in Explain(real, found).variants}
    assert cells["python-sync equal"].settings == {}
    assert cells["A python-sync own persistence, preparation"].settings == {
        "DB_PERSISTENT": "0",
        "DB_PREPARE": "0",
    }
    assert cells["A python-sync own preparation"].settings == {"DB_PREPARE": "0"}
    handlers = {"WORKERS": "5", "THREADS": "1", "DB_TIME_ZONE": "request", "DB_PREPARE": "0"}
    assert cells["A python-sync own handlers, time zone, preparation"].settings == handlers
    assert cells[SYNC].settings == found.variants[0].settings
    assert found.settings == {"DB_POOL_MAX": "20"}
    assert all(cell.variables == {"APP_MAXCONN": "25"} for cell in cells.values())
    assert all(cell.scenario_changes == {"connections": 50, "timeout_s": 60} for cell in cells.values())


def test_one_implementation_has_one_cell_with_equal_settings(real: Catalog) -> None:
    found = own(("node", {"DB_POOL_MAX": "4"}), ("node", {"DB_PREPARE": "0"}))
    labels = [variant.label for variant in Explain(real, found).variants]
    assert labels == ["A node as it is", "node equal", "B node as it is"]
    rates = {"A node as it is": 100.0, "node equal": 400.0, "B node as it is": 200.0}
    conclusions = concluded(real, found, answers(rates.__getitem__)).conclusions
    assert [round(share.ratio, 6) for share in of(conclusions).factors] == [4, 1, 0.5]


def test_the_preset_has_the_settings_of_the_published_rows() -> None:
    preset = read_preset(ROOT, "published", "recipes")
    assert preset.experiment == "sync-to-async-python"
    rows, common = pick(ROOT, preset.experiment).rows, pick(ROOT, preset.experiment).variant
    published = [row.variant for row in rows if row.label.endswith("as published, 4 ms")]
    assert {run["implementation"]: run["settings"] for run in published} == preset.settings
    equal = {json.dumps(row.variant["settings"]) for row in rows if "equal" in row.label}
    assert equal == {json.dumps(preset.equal)}
    assert common["variables"] == preset.variables
    assert common["scenario_changes"]["connections"] == preset.changes["connections"]


def near_and_far(**options: Any) -> Request:
    """The same program twice, once with conditions of its own."""
    found = own(("python-sync", {}), ("python-sync", {"THREADS": "4"}), **options)
    conditions = found.conditions.model_copy(update={"db_rtt_ms": 0})
    return found.model_copy(update={"conditions": conditions})


def test_conditions_are_factors_beside_the_settings(real: Catalog) -> None:
    of_a = {"db-rtt": "15ms", "proxy-limit": "25", "pooler-mode": "session"}
    of_b = {"connections": "200", "pooler-login": "md5"}
    study = Explain(real, near_and_far(conditions=[of_a, of_b]))
    a, b = study.legs
    assert [factor.change for factor in a.factors] == [
        "db-rtt 15ms to 0ms",
        "proxy-limit 25 to –",
        "pooler-mode session to transaction",
    ]
    assert [factor.name for factor in b.factors] == ["THREADS", "connections", "pooler-login"]
    assert b.factors[-1].change == "pooler-login md5 to scram-sha-256"
    cells = {variant.label: variant for variant in study.variants}
    far, whole = cells["A python-sync own db-rtt"], cells["A python-sync as it is"]
    assert (far.db_rtt_ms, far.variables, far.settings) == (15, {}, {})
    assert whole.variables == {"APP_MAXCONN": "25", "PGBOUNCER_POOL_MODE": "session"}
    assert cells["B python-sync own connections"].scenario_changes == {"connections": 200}
    assert cells["B python-sync own pooler-login"].variables == {"PGBOUNCER_AUTH_TYPE": "md5"}
    assert cells["B python-sync as it is"].settings == {"THREADS": "4"}
    equal = cells["python-sync equal"]
    assert (equal.db_rtt_ms, equal.variables, equal.scenario_changes) == (None, {}, {})


def test_a_condition_that_is_equal_is_no_factor_and_others_may_change_together(real: Catalog) -> None:
    equal = {"db-rtt": "0ms", "connections": str(real.scenarios["recipes"].connections)}
    assert Explain(real, near_and_far(conditions=[equal, {}])).legs[0].factors == []
    own_ones, load = {"db-rtt": "15ms", "connections": "200"}, {"load": ["db-rtt", "connections"]}
    study = Explain(real, near_and_far(conditions=[own_ones, {}], factors=load))
    [together] = study.legs[0].factors
    assert together.settings == {"db-rtt": ("15ms", "0ms"), "connections": ("200", "50")}


def test_a_condition_of_what_is_not_in_the_path_is_refused(real: Catalog) -> None:
    def under(topology: str, **condition: str) -> Request:
        found = near_and_far(
            conditions=[{name.replace("_", "-"): own for name, own in condition.items()}, {}]
        )
        found.conditions.topology = topology
        return found

    Explain(real, under("pooled", pooler_mode="session"))
    Explain(real, under("direct", connections="5"))
    for wrong in (
        under("direct", pooler_login="md5"),
        under("proxied", pooler_limit="5"),
        under("pooled", proxy_limit="5"),
    ):
        with pytest.raises(UsageError, match=f"has no effect in the topology '{wrong.conditions.topology}'"):
            Explain(real, wrong)


def test_conditions_are_typed_like_settings() -> None:
    variant, conditions = taken_out(read_variant("node:DB_RESET=1,db-rtt=015ms,connections=20"))
    assert (variant.settings, conditions) == ({"DB_RESET": "1"}, {"db-rtt": "15ms", "connections": "20"})
    for wrong in ("db-rtt=15", "db-rtt=251ms", "connections=0", "connections=5ms", "proxy-limit=many"):
        with pytest.raises(UsageError, match=f"{wrong.partition('=')[0]} takes whole numbers"):
            taken_out(read_variant(f"node:{wrong}"))
    with pytest.raises(UsageError, match="pooler-mode takes transaction or session, not 'statement'"):
        taken_out(read_variant("node:pooler-mode=statement"))


# ---- what cannot be asked ----


def offered(refused: pytest.ExceptionInfo[UsageError]) -> list[str]:
    """The factors of the nearest design."""
    return re.findall(r"--factor '(.*?)'", str(refused.value))


def test_more_factors_than_four_are_refused_with_the_nearest_design(real: Catalog) -> None:
    many = {
        "WORKERS": "3", "DB_POOL_MAX": "4", "DB_PERSISTENT": "0", "DB_PREPARE": "0", "DB_RESET": "1",
    }  # fmt: skip
    found = own(("rust-async", many), ("node", {}))
    with pytest.raises(UsageError, match="in 5 factors, and at most 4 are") as refused:
        Explain(real, found)
    assert offered(refused) == ["connections=DB_POOL_MAX+DB_PERSISTENT", "statements=DB_PREPARE+DB_RESET"]
    taken = own(("rust-async", many), ("node", {}), factors=parse_factors(offered(refused)))
    names = [factor.name for factor in Explain(real, taken).legs[0].factors]
    assert names == ["connections", "statements", "WORKERS"]
    together = {"connections": ["DB_POOL_MAX", "DB_PERSISTENT"]}
    grouped = Explain(real, own(("rust-async", many), ("node", {}), groups=together))
    assert len(grouped.legs[0].factors) == 5, "four are tried in every combination, one of them of two"


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (own(("cpp-sync", {"WORKERS": "2"}), ("node", {})), "cpp-sync cannot vary WORKERS: one process"),
        (own(("python-sync", {}), ("node", {}), equal={"OFFLOAD": "sum"}), "python-sync cannot vary OFFLOAD"),
        (own(("node", {"DB_RESET": "yes"}), ("node", {})), "DB_RESET must be one of 0, 1"),
        (own(("node", {}), ("node", {}), factors={"a": ["DB_POOL"]}), "Did you mean 'DB_POOL_MAX'"),
        (own(("node", {}), ("node", {}), factors={"a": ["DB_RESET"], "b": ["DB_RESET"]}), "in two factors"),
        (own(("node", {}), ("node", {}), groups={"a": ["reset"]}), "no factor 'reset'"),
        (own(("node", {}), ("node", {}), groups={"a": ["DB_RESET"], "b": ["DB_RESET"]}), "in two groups"),
        (own(("node", {})), "two variants"),
    ],
)
def test_what_cannot_be_explained_is_refused(real: Catalog, found: Request, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        Explain(real, found)


def test_a_design_beyond_the_budget_is_not_begun(real: Catalog, capsys: pytest.CaptureFixture[str]) -> None:
    study = Explain(real, asked())
    told(study, 870, 900)
    said = " ".join(capsys.readouterr().err.split())
    assert "20 combinations, 3 blocks, 64 starts: about 14 min" in said
    assert "handlers: WORKERS 5 to 2, THREADS 1 to 10; persistence: DB_PERSISTENT 0 to 1" in said
    with pytest.raises(UsageError, match=r"the budget is 10 min.*--budget 16min") as refused:
        told(study, 870, 600)
    assert offered(refused) == [
        "connections=WORKERS+THREADS+DB_PERSISTENT+DB_PREPARE",
        "statements=DB_TIME_ZONE+DB_RESET",
    ]
    fewer = Explain(real, asked(factors=parse_factors(offered(refused))))
    assert [len(leg.factors) for leg in fewer.legs] == [2, 2]
    assert sum(len(block) for block in fewer.outline()) == 28


def test_what_is_offered_to_both_sides_is_one_factor(real: Catalog) -> None:
    legs = Explain(real, asked("python-async", "rust-async")).legs
    assert offer(legs) == "--factor 'statements=DB_TIME_ZONE+DB_RESET+DB_PREPARE'"


@pytest.mark.parametrize("wrong", [["a"], ["=DB_RESET"], ["a=DB_RESET+"], ["a=DB_RESET", "a=DB_PREPARE"]])
def test_what_is_no_factor(wrong: list[str]) -> None:
    with pytest.raises(UsageError, match="--factor"):
        parse_factors(wrong)


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("[recipes]\nsource = 1\n", "recipes -> source"),
        (
            "[recipes]\nsource = ''\nexperiment = ''\ntopology = ''\nsettings = {}\nrequires = {a = 'b'}\n",
            "no factor 'a'",
        ),
        ("[work]\n", "it says nothing about the scenario recipes; it has work"),
        ("[recipes\n", "not valid TOML"),
        (None, "cannot be read"),
    ],
)
def test_a_preset_that_cannot_be_read(tmp_path: Path, file: str | None, why: str) -> None:
    mine = tmp_path / "mine.toml"
    if file is not None:
        mine.write_text(file)
    with pytest.raises(UsageError, match=why):
        read_preset(ROOT, str(mine), "recipes")


# ---- what follows ----


def test_the_factors_multiply_to_the_ratio(real: Catalog) -> None:
    found = concluded(real)
    conclusions = found.conclusions
    assert found.verdict is Verdict.OK
    assert ratio(conclusions) == pytest.approx(limits(ASYNC) / limits(SYNC))
    for metric in (GOODPUT, APP):
        one, whole = of(conclusions, metric), ratio(conclusions, metric)
        assert math.prod(part.ratio for part in one.factors) == pytest.approx(whole, rel=1e-12)
        assert math.prod(part.ratio for part in one.legs) == pytest.approx(whole, rel=1e-12)
    programs = limits("python-async equal") / limits("python-sync equal")
    assert of(conclusions).programs.ratio == pytest.approx(programs)
    [group] = of(conclusions).groups
    assert (group.members, group.side) == (["handlers", "persistence", "preparation"], "A")
    members = [factor(conclusions, name, "A").ratio for name in group.members]
    assert group.ratio == pytest.approx(math.prod(members))


def test_first_and_last_are_what_they_say(real: Catalog) -> None:
    """A minimum of limits: more connections do more once each request needs fewer round trips."""
    conclusions = concluded(real).conclusions
    handlers = factor(conclusions, "handlers", "A")
    first = "A python-sync own persistence, time zone, preparation"
    assert handlers.first == pytest.approx(limits(first) / limits(SYNC))
    assert handlers.last == pytest.approx(limits("python-sync equal") / limits("A python-sync own handlers"))
    assert handlers.parted
    preparation, persistence = (factor(conclusions, name, "A") for name in ("preparation", "persistence"))
    assert preparation.first is None, "nothing is prepared on a connection that is not kept"
    assert persistence.last is None
    crossing = conclusions.crossings[0]
    assert crossing.factor == "handlers"
    assert len({*crossing.cells}) == 4
    assert not factor(conclusions, "time zone", "B").parted


def test_no_gap_is_an_answer(real: Catalog) -> None:
    found = concluded(real, answer=answers(lambda label: 500.0, 0.05))
    assert found.verdict is Verdict.OK
    told = times(ratio(found.conclusions))
    assert f"no gap to explain ({told}, within noise)" in sentence(found.conclusions)
    assert found.headline.endswith(f"{told}, within noise")


def test_a_cell_that_never_starts_is_listed_and_its_orders_are_left_out(real: Catalog) -> None:
    missing = "A python-sync own persistence, preparation"

    found = concluded(real, answer=but(missing, refusing))
    assert found.verdict is Verdict.OK
    cell = named(found.conclusions, missing)
    why = found.conclusions.figure(cell)
    assert (cell.starts, why.mean, why.verdict, why.reasons) == (0, None, Verdict.FAILED, ["it broke"])
    assert {one.label for one in found.conclusions.cells if one.model is None} == {missing}
    whole = of(found.conclusions).legs[0]
    assert (whole.orders, whole.left_out) == (5, 1)
    assert [f.text for f in found.findings if f.code == "cannot-be"] == [
        f"{missing} cannot be measured: it broke; orders through it are left out"
    ]
    product = math.prod(share.ratio for share in of(found.conclusions).factors)
    assert product == pytest.approx(ratio(found.conclusions))
    assert factor(found.conclusions, "time zone", "A").first is not None


def test_a_cell_that_is_wrong_makes_its_leg_a_hint(real: Catalog) -> None:
    wrong = "A python-sync own persistence, preparation"
    conclusions = concluded(real, answer=but(wrong, invalid_window)).conclusions
    assert bounds(of(conclusions).factors, "A") == {"unknown"}
    assert bounds(of(conclusions).factors, "B") == {None}
    assert conclusions.figure(named(conclusions, wrong)).verdict is Verdict.INVALID


def test_an_end_without_figures_explains_nothing(real: Catalog) -> None:
    found = concluded(real, answer=but(ASYNC, invalid_window))
    assert found.verdict is Verdict.INVALID
    assert found.conclusions.gap() is None
    assert "not explained" in sentence(found.conclusions)
    assert pictures_in(report(result_of(asked(), found))) == []
    assert "wrong" in text(report(result_of(asked(), found)))


def limited(bottleneck: str, *labels: str) -> Answer:
    """Cells that something limits; nothing limits the others."""

    def answer(spec: TrialSpec, window: WindowSpec) -> Window:
        made = answers(limits)(spec, window)
        return made.model_copy(update={"bottleneck": bottleneck}) if spec.variants[0] in labels else made

    return answer


SYNC_EQUAL, ASYNC_EQUAL = "python-sync equal", "python-async equal"
BOTH_EQUAL = [SYNC_EQUAL, ASYNC_EQUAL]


@pytest.mark.parametrize(
    ("bottleneck", "cells", "factors", "programs", "legs", "behind"),
    [
        ("proxy", [SYNC_EQUAL], "at least", "at most", (None, None), ""),
        ("generator", [SYNC_EQUAL], "at least", "at most", (None, None), ""),
        ("database", [SYNC_EQUAL], None, "at most", ("at least", None), "the database"),
        ("database", [ASYNC_EQUAL], None, "at least", (None, "at most"), "the database"),
        ("database", BOTH_EQUAL, None, "unknown", ("at least", "at most"), "the database"),
        ("pooler", BOTH_EQUAL, None, "unknown", ("at least", "at most"), "PgBouncer's CPU"),
        ("database+app-cpu", BOTH_EQUAL, None, None, (None, None), ""),
        ("app-cpu", BOTH_EQUAL, None, None, (None, None), ""),
    ],
)
def test_what_limited_the_equal_ends_bounds_what_is_said(
    real: Catalog,
    bottleneck: str,
    cells: list[str],
    factors: str | None,
    programs: str | None,
    legs: tuple[str | None, str | None],
    behind: str,
) -> None:
    """Rates that the laboratory held back are bounds; what stands behind the programs bounds them and all settings of a side."""
    found = concluded(real, answer=limited(bottleneck, *cells))
    one, said = of(found.conclusions), sentence(found.conclusions)
    assert (bounds(one.factors, "A"), bounds(one.factors, "B")) == ({factors, None}, {None})
    assert factor(found.conclusions, "persistence", "A").bound is None, "no step of it leads to the equal end"
    assert one.programs.bound == programs
    assert (one.legs[0].bound, one.legs[-1].bound) == legs
    assert bounds(one.groups, "A") == {legs[0] or factors}
    assert {share.bound for share in of(found.conclusions, APP).factors} == {None}
    ends = cells[0] if len(cells) == 1 else "both"
    assert said.endswith(f" ({behind} limited {ends})" if behind else "")
    assert ("limited" in said) == bool(behind)
    assert f"{'≥ ' if legs[0] else ''}× " in said.split(" = ")[1]
    shown = " ".join(text(report(result_of(asked(), found))).split())
    assert ("database or PgBouncer limited one" in shown) == (programs is not None)


def test_a_rate_near_a_ceiling_is_a_bound_as_well(real: Catalog) -> None:
    found = concluded(real, ceilings={"null": 460.0})
    assert named(found.conclusions, "python-sync equal").held_back


def test_void_starts_cost_a_value_and_no_block(real: Catalog) -> None:
    """Only a cell with too few is made once more, beside the ends."""
    rare, study = "A python-sync own persistence, preparation", Explain(real, asked())

    def answer(spec: TrialSpec, window: WindowSpec) -> Window:
        disturbed = (spec.variants == [rare] and spec.block in (1, 2)) or spec.name == f"1-{SYNC}"
        return void_window() if disturbed else answers(limits)(spec, window)

    trials = play(study, answer)
    more = [trial.spec.variants[0] for trial in trials if trial.spec.block == 4]
    assert more == [rare, SYNC, "python-sync equal", "python-async equal", ASYNC]
    assert len(trials) == 64 + 5
    conclusions = study.conclude(trials, Baselines()).conclusions
    assert {cell.label: cell.starts for cell in conclusions.cells}[rare] == 2
    assert ratio(conclusions) == pytest.approx(limits(ASYNC) / limits(SYNC), rel=0.01)


def test_each_cell_stands_beside_its_model(real: Catalog) -> None:
    """Round trips and connections are those that were counted, whatever the settings promise."""
    trip = DbRtt(setting=4, before_p50=4.2, during_p50=4.9, during_p90=6.0, samples=10)
    conclusions = concluded(real, answer=answers(limits, db_rtt_ms=trip, db_connections_max=12)).conclusions
    cells = {cell.label: cell for cell in conclusions.cells}
    for cell in cells.values():
        assert cell.model is not None
        assert cell.model.round_trips == cell.pooler_queries_per_request
        rate = conclusions.mean_of(GOODPUT, cell.position) or math.nan
        assert cell.model.off == pytest.approx(cell.model.predicted.throughput_rps / rate - 1, abs=1e-4)
        assert bool(cell.model.likely) == (abs(cell.model.off) > 0.10)
    usable = {label: cell.model.usable_connections for label, cell in cells.items() if cell.model}
    assert usable[SYNC] == 5, "threads"
    assert usable["A python-sync own time zone"] == 12, "that were seen; twenty threads could use as many"
    assert usable["python-async equal"] == 12, "that were seen; the pool may have 20"


def test_64_cells_in_12_blocks_are_analysed_in_two_seconds() -> None:
    names = ("one", "two", "three", "four", "five")
    both, chance = [leg(0, *names), leg(1, *names)], Random(1)
    labels = [side.label(state) for side in both for state in side.orders().states]
    assert len({*labels}) == 64
    values = [(label, block, chance.gauss(6, 0.1)) for block in range(12) for label in labels]
    began = time.process_time()
    assert explanation(both, [{}, {}], fit(values)) is not None
    assert time.process_time() - began < 2


# ---- what a person reads ----


def test_the_report_of_a_record() -> None:
    _, record, _ = read_folder(ROOT / "results/explanations/published-python")
    assert text(report(record)) == (FIXTURES / "explain-report.txt").read_text()


def test_what_is_within_noise_is_told_together(real: Catalog) -> None:
    """A factor that does nothing does not make the sentence longer."""
    answer = answers(lambda label: 100 if label == SYNC else 400, 0.03)
    said = sentence(concluded(real, answer=answer).conclusions)
    assert "from factors within noise (" in said
    assert said.index("noise") < said.index("the two stacks themselves")


def test_a_session_without_a_good_start_ends_with_a_record(real: Catalog, tmp_path: Path) -> None:
    result, journal = run(Explain, asked(), session(real, tmp_path, FakeLab(lambda *_: void_window())))
    told = "python-async against python-sync: not explained"
    assert (result.verdict, result.headline) == (Verdict.VOID, told)
    assert read_folder(journal.folder)[1].conclusions.explanations == []


def test_an_explanation_has_a_picture_and_its_record_is_read(real: Catalog, tmp_path: Path) -> None:
    result, journal = run(Explain, asked(blocks=2), session(real, tmp_path, FakeLab(answer=answers(limits))))
    drawn = ElementTree.fromstring((journal.folder / FILE).read_text())
    words = " ".join(part.text or "" for part in drawn.iter("{http://www.w3.org/2000/svg}text"))
    assert "persistence (A)" in words
    assert PROGRAMS in words
    kind, kept, trials = read_folder(journal.folder)
    assert (kind, len(trials)) == (Explain, 44)
    assert ratio(kept.conclusions) == pytest.approx(ratio(result.conclusions), rel=1e-5)
    assert result.headline.endswith(times(ratio(result.conclusions)))
