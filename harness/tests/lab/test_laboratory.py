"""tandem.lab.laboratory: what is built and started for a study, and how its generators share a load."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from harness_engine import made_trial, request, trial_spec
from rich.console import Console

from tandem.catalog.catalog import Catalog
from tandem.catalog.golden import of_bodies
from tandem.cli.options import read_variants
from tandem.cli.shared import Asked
from tandem.engine import stand_ins
from tandem.engine.study import generators_of
from tandem.errors import TandemError, UsageError
from tandem.lab import laboratory as laboratory_
from tandem.lab.application import Application
from tandem.lab.floor import SILENT, ContainerFloor
from tandem.lab.laboratory import SHARED, Laboratory, Work, in_time, services_of, shared
from tandem.lab.live import View
from tandem.lab.prepare import check, prepare
from tandem.lab.sites import ALONE
from tandem.lab.stack import Stack
from tandem.record.request import Conditions, Request, Variant
from tandem.report.parts import conditions_line
from tandem.studies.registry import STUDIES

VIEW = View(Console(quiet=True))


def stack(started: list[list[str]], **variables: str) -> Any:
    """A stack that notes which services it starts."""
    own = {"DATABASE_ADDRESS": "db:5432", **variables}
    return SimpleNamespace(variables=own, generators=["loadgen"], beside=[], start=started.append)


def lab(root: Path, folder: Path, *variants: Variant) -> Laboratory:
    asked = request(variants=list(variants), scenario="recipe")
    return Laboratory(Catalog(root), folder, VIEW, Work(asked, variants, folder))


def plain(*names: str) -> list[Variant]:
    return [Variant(label=name, implementation=name) for name in names]


@pytest.mark.parametrize(
    ("generators", "image"),
    [
        (["oha"], "oha"),
        (["oha", "vegeta"], "vegeta"),
        (["wrk"], "wrk"),
        (["wrk", "drill", "oha"], "all"),
        ([SILENT, "oha"], "oha"),
        ([], "oha"),
    ],
)
def test_only_the_generators_that_are_asked_for_are_built(
    root: Path, tmp_path: Path, generators: list[str], image: str
) -> None:
    one = lab(root, tmp_path, *plain("rust-async"))
    one.work = replace(one.work, generators=generators)
    assert one.prepared("rust-async").stack.variables["LOADGEN"] == image


def test_a_study_knows_its_generators(real: Catalog) -> None:
    asked = request(study="crosscheck", options={"pairs": 3, "window_s": 5})
    assert generators_of(STUDIES["crosscheck"](real, asked)) == {"oha", "vegeta"}


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """What waits for services that start."""
    found = Mock()
    monkeypatch.setattr(laboratory_, "await_services", found)
    return found


SIZE, MODE, AUTH = "PGBOUNCER_POOL_SIZE", "PGBOUNCER_POOL_MODE", "PGBOUNCER_AUTH_TYPE"


@pytest.mark.parametrize(
    ("runs_with", "wanted", "anew"),
    [
        ({}, {}, False),
        ({}, {SIZE: "1"}, True),
        ({SIZE: "1"}, {SIZE: "1"}, False),
        ({SIZE: "1"}, {}, True),
        ({SIZE: "1"}, {SIZE: "2", "FAULT": "cached"}, True),
        ({MODE: "session"}, {AUTH: "md5"}, True),
        ({}, {"APP_CPUSET": "0-1"}, False),
    ],
)
@pytest.mark.usefixtures("waits")
def test_services_start_anew_for_other_limits(
    root: Path, tmp_path: Path, runs_with: dict[str, str], wanted: dict[str, str], anew: bool
) -> None:
    started, one = list[list[str]](), lab(root, tmp_path)
    one._services_as(stack(started, **runs_with))
    started.clear()
    for _ in range(2):
        one._services_as(stack(started, **wanted))
        assert started == [["pgbouncer"]] * anew


def test_services_that_did_not_come_up_are_started_again(root: Path, tmp_path: Path, waits: Mock) -> None:
    started, one = list[list[str]](), lab(root, tmp_path)
    waits.side_effect = TandemError("it does not come up")
    with pytest.raises(TandemError):
        one._services_as(stack(started, PGBOUNCER_POOL_SIZE="x"))
    waits.side_effect = None
    one._services_as(stack(started))
    assert "pgbouncer" in started[1]


def test_the_limits_of_a_variant_reach_its_stack(root: Path, tmp_path: Path) -> None:
    """A visit of it begins by making the services run with them."""
    limited = Variant(label="a", implementation="rust-async", variables={"APP_MAXCONN": "25"})
    one = lab(root, tmp_path, limited)
    prepared = one.prepared("a")
    assert (prepared.stack.variables["APP_MAXCONN"], prepared.case.admitted) == ("25", 25)
    order: list[str] = []
    stack: Any = SimpleNamespace(
        sites=ALONE, stop=lambda *_, **__: order.append("stop"), execute=lambda *_: order.append("seed")
    )
    app: Any = SimpleNamespace(stack=stack, case=prepared.case)
    ContainerFloor({"a": app}, VIEW, services_as=lambda _: order.append("services")).reset()
    assert order == ["stop", "services", "seed"]


# ---- what is built when ----


def test_what_the_first_trial_does_not_need_is_built_after_it(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[tuple[list[str], bool]] = []

    def build(runs: Any, services: Any, note: object, folder: object = None) -> None:
        built.append(([run.program for run in runs], bool(services)))

    for name in ("start", "check", "refuse_or_clean_up", "refuse_lost_placement"):
        monkeypatch.setattr(laboratory_, name, lambda *_: None)
    monkeypatch.setattr(laboratory_, "build", build)
    monkeypatch.setattr(Stack, "down", lambda self: None)
    monkeypatch.setattr(Laboratory, "_environment", lambda self, run: run.variant.label)
    monkeypatch.setattr(laboratory_, "Visit", lambda *_: SimpleNamespace(run=lambda _: made_trial()))
    app = SimpleNamespace(rest_bytes=1, first_answer_s=0.2, first_right_s=None, peaks=None)
    monkeypatch.setattr(Laboratory, "floor", lambda *_: SimpleNamespace(apps=defaultdict(lambda: app)))
    again = Variant(label="again", implementation="node")
    one = lab(root, tmp_path, *plain("rust-async", "node", "python-sync"), again)
    one.work = replace(one.work, first=["node"])

    def visit(label: str) -> None:
        one.visit(trial_spec(f"1-{label}", label), iter(()), tmp_path)  # type: ignore[arg-type]

    with one.up():
        assert built == [(["node", "node"], True)], "the services, and of the images the first trial's"
        for label, builds in (("node", 1), ("again", 1), ("python-sync", 2), ("rust-async", 2)):
            visit(label)
            assert len(built) == builds
        assert built[1:] == [(["rust-async", "python-sync"], False)], "the rest at once, side by side"
        assert list(one.environments) == ["rust-async", "node", "python-sync", "again"]


def test_all_is_built_before_where_the_first_trial_needs_it(root: Path, tmp_path: Path) -> None:
    """The stack is that of the run with the latency proxy, so its image is needed whoever is in the first trial."""
    far = Variant(label="far", implementation="rust-async", db_rtt_ms=5)
    one = lab(root, tmp_path, *plain("rust-async", "node"), far)
    first, second, third = (one.prepared(variant.label) for variant in one.work.variants)
    assert in_time([first, second], []) == ([first, second], [])
    assert in_time([first, second], ["rust-async", "node"]) == ([first, second], [])
    assert in_time([third, second], ["node"]) == ([third, second], [])


# ---- data of its own ----

OWN = {key: b'{"id":%d,"name":"Of this study"}' % key for key in range(1, 101)}


def test_the_salt_reaches_the_database(root: Path, tmp_path: Path) -> None:
    one = lab(root, tmp_path, *plain("node"))
    one.work = replace(one.work, request=one.work.request.model_copy(update={"salt": "77"}))
    assert one.prepared("node").stack.variables["SALT"] == "77"


def test_every_variant_is_compared_with_what_the_database_has_written(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that were prepared before, and those that come later; what asks for no recipe stays."""
    monkeypatch.setattr(laboratory_, "right_answers", lambda *_: of_bodies([OWN, {}]))
    null = stand_ins.variant("null")
    variants = [Variant(label=name, implementation="rust-async") for name in ("before", "after")]
    indexed = Variant(label="index", implementation="rust-async", scenario="index")
    one = lab(root, tmp_path, *variants, indexed, null)
    answers = {label: one.prepared(label).case.answers for label in ("before", "index", null.label)}
    assert answers["before"].difference(OWN[1]) is not None
    stack: Any = SimpleNamespace(own_database=False, service=lambda _: SimpleNamespace(address="10.0.0.5"))
    one._write_answers(stack)
    assert one.phases_s.keys() == {"write the right answers"}
    for label in ("before", "after"):
        assert one.prepared(label).case.answers.difference(OWN[1]) is None
    assert all(one.prepared(label).case.answers is answers[label] for label in ("index", null.label))


def asked(generators: int) -> Request:
    return request(conditions=Conditions(topology="full", placement="shared", generators=generators))


@pytest.mark.parametrize("number", [1, 3])
def test_each_has_a_container_and_all_have_one_image(real: Catalog, tmp_path: Path, number: int) -> None:
    of = asked(number)
    found = prepare(real, of, of.variants[0], tmp_path)
    further = [f"loadgen-{n}" for n in range(2, number + 1)]
    assert shared(found.stack) == [*SHARED, *further]
    assert list(services_of([found])) == SHARED, "what is built"
    assert ("GENERATORS" in found.stack.variables) is (number > 1)
    app = Application(found, tmp_path)
    assert app.generators == ["loadgen", *further]
    names = [f"closed-g{n}" for n in range(1, number + 1)] if further else ["closed"]
    assert app.names("closed") == names
    # A further generator is found by a name of its own; the first has Compose's, as ever.
    assert [found.stack._own_name(name) for name in further] == [f"tandem-bench-{name}" for name in further]
    assert [found.stack._own_name(service) for service in ("loadgen", "app", "proxy")] == [None] * 3


def test_fewer_connections_than_generators_are_refused_before_anything_starts(real: Catalog) -> None:
    connections = real.scenarios["recipes"].connections
    allowed, refused = asked(connections), asked(connections + 1)
    check(real, allowed, allowed.variants)
    with pytest.raises(UsageError, match=f"recipes has {connections} connections, which cannot be dealt out"):
        check(real, refused, refused.variants)


def test_it_is_a_condition_of_the_request_that_is_shown(real: Catalog) -> None:
    made = Asked(plan="smoke", generators=2).request("bench", real, read_variants(["rust-async"]))
    assert made.conditions.generators == 2
    assert "load from 2 generators" in conditions_line(made)
    assert "generators" not in conditions_line(asked(1))
    one = made.model_copy(update={"conditions": made.conditions.model_copy(update={"generators": 1})})
    assert not made.same_but_for_the_seed(one), "neither resumed nor replayed as if it were the same"
