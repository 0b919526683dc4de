"""tandem.lab.prepare and provenance: a variant made ready, what a host can hold, and what is kept of all that."""

import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import psycopg
import pytest
from harness_engine import request
from harness_samples import there

from tandem.catalog.catalog import Catalog
from tandem.engine import stand_ins
from tandem.errors import TandemError, UsageError
from tandem.hosts import HERE, Here
from tandem.lab import provenance
from tandem.lab.images import PROGRAMS_FILE, identity, keep_programs
from tandem.lab.prepare import (
    PORTS,
    RESERVED_FILES,
    Limits,
    Prepared,
    check,
    own_queries,
    prepare,
    read_limits,
    refuse_on_any,
)
from tandem.lab.provenance import LOCKS, TREES, hashes
from tandem.lab.sites import ALONE, Sites, as_role
from tandem.lab.sources import has_changes
from tandem.record.request import Conditions, Request, Variant


def variant(implementation: str = "rust-async", **changes: Any) -> Variant:
    return Variant(label="x", implementation=implementation, **changes)


def asked(of: Variant, **changes: Any) -> Request:
    return request(variants=[of], **changes)


def full(**changes: Any) -> Conditions:
    return Conditions(**{"topology": "full", "placement": "shared", **changes})


type Preparing = Callable[..., Prepared]


@pytest.fixture
def ready(real: Catalog, tmp_path: Path) -> Preparing:
    """Makes a variant ready; what else it is given is of its request."""
    return lambda of, **changes: prepare(real, asked(of, **changes), of, tmp_path)


# ---- what may be asked for ----


@pytest.mark.parametrize(
    ("cpus", "plan", "told"), [(1, "quick", "one CPU"), (2, "quick", None), (2, "claim", "at least 4")]
)
def test_one_cpu_is_fit_for_no_comparison(real: Catalog, cpus: int, plan: str, told: str | None) -> None:
    found = real.plan(plan).unfit(cpus)
    assert found is None if told is None else told in (found or "")


def test_what_fits_together_is_let_through(real: Catalog) -> None:
    of = request(*real.implementations, scenario="index")
    check(real, of, of.variants)


@pytest.mark.parametrize(
    ("of", "changes", "told"),
    [
        (variant("rust-asink"), {}, "Did you mean 'rust-async'"),
        (variant(scenario="recipez"), {}, "Did you mean 'recipe'"),
        (variant(topology="ful"), {}, "Did you mean 'full'"),
        (variant(placement="two-core"), {}, "Did you mean 'two-cores'"),
        (variant(settings={"WORKER": "1"}), {}, "Did you mean 'WORKERS'"),
        (variant(settings={"WORKERS": "0"}), {}, "WORKERS must be a whole number from 1"),
        (variant(), {"settings": {"WORKERS": "x"}}, "WORKERS must be a whole number from 1"),
        (variant(scenario_changes={"conections": 4}), {}, "a scenario has no field 'conections'"),
        (variant(scenario_changes={"connections": 0}), {}, "the scenario's connections: .* greater than"),
        (variant(scenario_changes={"timeout_s": "soon"}), {}, "the scenario's timeout_s: .* valid integer"),
        (variant(), {"scenario": "index", "conditions": full(db_rtt_ms=15)}, "index never asks the database"),
        (variant(scenario="index", db_rtt_ms=15), {}, "index never asks the database"),
        (variant("rust-hyper"), {}, "rust-hyper does not support recipes: "),
        (
            variant(scenario="idle", topology="tls"),
            {},
            "topology tls: the silent connections of idle cannot have TLS",
        ),
    ],
)
def test_what_does_not_is_told(real: Catalog, of: Variant, changes: dict[str, Any], told: str) -> None:
    wanted = asked(of, **changes)
    with pytest.raises(UsageError, match=told):
        check(real, wanted, wanted.variants)


# ---- what a variant is started with ----


@pytest.mark.parametrize(
    ("scenario", "topology", "variables", "admitted"),
    [
        ("recipes", "full", {}, 8),
        ("mixed", "full", {}, 8),
        ("work", "full", {}, None),
        ("recipes", "pooled", {}, None),
        ("work", "full", {"APP_MAXCONN": "9"}, 9),
    ],
)
def test_haproxy_lets_in_twice_the_pool(
    ready: Preparing, scenario: str, topology: str, variables: dict[str, str], admitted: int | None
) -> None:
    how: dict[str, Any] = {"scenario": scenario, "topology": topology, "variables": variables}
    assert ready(variant(settings={"DB_POOL_MAX": "4"}, **how)).case.admitted == admitted


def test_a_variant_has_the_request_s_and_what_it_says_otherwise(
    real: Catalog, ready: Preparing, tmp_path: Path
) -> None:
    of = variant(
        settings={"DB_POOL_MAX": "4"},
        scenario="recipe",
        scenario_changes={"connections": 7},
        topology="direct",
        variables={"FAULT": "cached", "APP_MAXCONN": "9"},
    )
    made = ready(of, settings={"DB_POOL_MAX": "8", "WORKERS": "3"})
    assert (made.case.settings["DB_POOL_MAX"], made.case.settings["WORKERS"]) == ("4", "3")
    assert (made.case.scenario.name, made.case.scenario.connections) == ("recipe", 7)
    assert real.scenarios["recipe"].connections != 7, "that of the repository is left as it is"
    assert (made.case.load_address, made.case.proxied) == ("app:8080", False)
    assert made.case.admitted is None, "nothing is in front of it"
    assert made.case.db_pool_usable == 4
    assert made.stack.variables["FAULT"] == "cached"
    written = (tmp_path / "compose.env").read_text()
    assert "DB_POOL_MAX=4\n" in written
    assert "IMPL=rust-async\n" in written


@pytest.mark.parametrize(
    ("scenario", "count", "first"), [("recipes", 10, "begin"), ("mixed", 10, "begin"), ("index", 0, None)]
)
def test_a_program_may_send_statements_of_its_own(
    ready: Preparing, scenario: str, count: int, first: str | None
) -> None:
    case = ready(variant(implementation="fastapi"), scenario=scenario).case
    assert len(case.expected.statements) == count
    assert next(iter(case.expected.statements), None) == first
    assert case.shown_settings.get("SQL") == ("own (10 statements)" if count else None)
    assert len([name for name in there(case.queries).values() if name == "recipe_by_id"]) == 3
    if scenario == "mixed":
        assert [one.scenario.statements[-1:] for one in case.beside] == [["commit"], []]
    contracts = ready(variant(), scenario=scenario).case
    assert len(contracts.expected.statements) == (8 if count else 0)
    assert "SQL" not in contracts.shown_settings


@pytest.mark.parametrize(
    ("statements", "file", "text", "told"),
    [
        ({"recipe": ["session", "recipe_by_id"]}, "", "", r"\[statements\] recipe leaves out ingredients"),
        ({"recipies": []}, "", "", "recipes"),
        ({}, "steps", "select 1", r"sql/steps\.sql does not read core_step"),
        ({}, "steps.short", "select 1 from core_note", r"sql/steps\.short\.sql does not read core_step"),
        ({}, "other", "select 1 from core_note", "the contract has no such statement"),
        ({}, "reactions", "select 1 from core_reaction where note_id in ($1)", ""),
    ],
)
def test_own_statements_do_the_same_work(
    real: Catalog, tmp_path: Path, statements: dict[str, list[str]], file: str, text: str, told: str
) -> None:
    """Who declares fewer would be held to fewer."""
    shutil.copytree(real.root / "contract/sql", tmp_path / "contract/sql")
    (folder := tmp_path / "orm/sql").mkdir(parents=True)
    if file:
        (folder / f"{file}.sql").write_text(text)
    catalog = Mock(root=tmp_path, scenario=real.scenario)
    one = real.implementations["go"].model_copy(update={"name": "orm", "statements": statements})
    with pytest.raises(UsageError, match=told) if told else nullcontext():
        assert own_queries(catalog, one)


@pytest.mark.parametrize(("of", "told"), [(variant(db_rtt_ms=0), "0"), (variant(), "15")])
def test_a_distance_of_the_variant_wins(ready: Preparing, of: Variant, told: str) -> None:
    assert ready(of, conditions=full(db_rtt_ms=15)).stack.variables["DB_RTT_MS"] == told


@pytest.mark.parametrize(
    ("implementation", "scenario", "settings", "threads", "usable"),
    [
        # Each is told, whichever is scarce; no more workers start than there are connections, and each has as many.
        ("rust-sync", "recipes", {"WORKERS": "2", "THREADS": "3", "DB_POOL_MAX": "20"}, 3, 20),
        ("python-sync", "recipes", {"WORKERS": "8", "THREADS": "5", "DB_POOL_MAX": "3"}, 15, 3),
        ("falcon-sync", "recipes", {"WORKERS": "3", "THREADS": "20", "DB_POOL_MAX": "20"}, 60, 18),
        ("rust-async", "recipes", {"WORKERS": "2", "DB_POOL_MAX": "20"}, None, 20),
        ("rust-async", "index", {}, None, None),
        # A page waits for nothing.
        ("rust-sync", "index", {"WORKERS": "1", "THREADS": "3"}, None, None),
        ("rust-sync", "users", {"WORKERS": "1", "THREADS": "3"}, None, None),
        ("rust-sync", "work", {"WORKERS": "1", "THREADS": "3"}, 3, None),
    ],
)
def test_how_many_handlers_and_connections_there_are(
    ready: Preparing, implementation: str, scenario: str, settings: dict[str, str], threads: Any, usable: Any
) -> None:
    case = ready(variant(implementation, settings=settings), scenario=scenario).case
    assert (case.handler_threads, case.db_pool_usable) == (threads, usable)


# ---- stand-ins ----


@pytest.mark.parametrize("kind", ["null", "proxy"])
def test_a_stand_in_answers_with_as_many_bytes_as_the_scenario(ready: Preparing, kind: Any) -> None:
    each = (stand_ins.variant(kind), variant())
    [length], [asked_for] = (ready(of, scenario="index").case.answers.lengths() for of in each)
    assert length == asked_for


class TwoHosts(Sites):
    """A generator's host and the application's, on a lab's network."""

    def __init__(self, generator: Here, application: Here) -> None:
        self.hosts = {"loadgen": generator, "app": application}

    def of(self, service: str) -> Any:
        role = as_role(service)
        return SimpleNamespace(name=role, address="192.0.2.1", host=self.hosts[role])


def host_with(folder: Path, threads: int, pids: int | None = None, mappings: int | None = None) -> Here:
    """One whose kernel has these limits, of `threads` where one is not given; open files are this machine's."""
    limits = {"kernel/threads-max": threads, "kernel/pid_max": pids, "vm/max_map_count": mappings}
    for name, most in limits.items():
        (folder / "sys" / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / "sys" / name).write_text(f"{most or threads}\n")
    return Here(proc=folder)


def test_in_a_lab_each_host_has_limits_of_its_own(tmp_path: Path) -> None:
    few, many = host_with(tmp_path / "few", 4_000), host_with(tmp_path / "many", 42_000)
    refuse_on_any(500, 5_000, 1, TwoHosts(few, many))
    with pytest.raises(UsageError, match=r"host app: a thread for each of 5,000 connections"):
        refuse_on_any(500, 5_000, 1, TwoHosts(many, few))
    fits = read_limits(HERE).connections
    with pytest.raises(UsageError, match=rf"host loadgen: {fits + 1:,} connections do not fit"):
        refuse_on_any(fits + 1, 0, 1, TwoHosts(many, many))
    with pytest.raises(UsageError, match=rf"host app: {fits + 1:,} connections do not fit"):
        refuse_on_any(fits + 1, 0, 2, TwoHosts(many, many))
    with pytest.raises(UsageError, match=rf"^{fits + 1:,} connections do not fit"):
        refuse_on_any(fits + 1, 0, 1, ALONE)


def test_what_fits() -> None:
    most = {20_000: 20_000 - RESERVED_FILES, 10**6: PORTS, 10: 0}  # one address has so many source ports
    assert {files: Limits(files, 0).connections for files in most} == most
    assert Limits(20_000, 0).excess(19_900) is None
    assert Limits(20_000, 0).excess(19_901)


@pytest.mark.parametrize(("mappings", "threads"), [(65_530, 30_768), (8_000, 4_000)])
def test_the_hosts_own_limits(tmp_path: Path, mappings: int, threads: int) -> None:
    assert read_limits(host_with(tmp_path, 50_000, 32_768, mappings)).threads == threads
    assert read_limits(HERE).open_files > 0


@pytest.mark.parametrize(
    ("silent", "told"), [("Postgres", "the database was asked"), ("PgBouncer", "PgBouncer was asked")]
)
def test_settings_that_are_not_told_are_one_clear_error(
    monkeypatch: pytest.MonkeyPatch, silent: str, told: str
) -> None:
    both = {name: Mock() for name in ("Postgres", "PgBouncer")}
    for name, each in both.items():
        each.return_value.changed_settings.return_value = {"a": name}
        monkeypatch.setattr(provenance, name, each)
    stack = Mock(environment=lambda name: {}, execute=lambda *_: "")
    found = provenance.configuration(stack, HERE)
    assert (found["postgresql"], found["pgbouncer"]) == ("a=Postgres", "a=PgBouncer")
    timeout = psycopg.errors.ConnectionTimeout("connection timeout expired")
    both[silent].return_value.changed_settings.side_effect = timeout
    with pytest.raises(TandemError, match=rf"{told} .* connection timeout expired\. It answered when"):
        provenance.configuration(stack, HERE)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (
        *("contract/a.sql", "contract/tests/b.py", "common/python/src/a.py", "common/rust/src/a.rs"),
        *("rust-async/Cargo.lock", "node/package-lock.json"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def test_every_lock_file_and_tree_of_this_repository_has_a_hash(root: Path) -> None:
    found = hashes(root)
    locks = {f.relative_to(root).as_posix() for name in LOCKS for f in root.glob(f"*/{name}")}
    assert {"rust-async/Cargo.lock", "python-sync/uv.lock", "node/package-lock.json"} < locks
    assert locks | {f"{tree}/" for tree in TREES} <= found.keys()
    assert {len(value) for value in found.values()} == {64}


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ("contract/tests/b.py", {"contract/"}),
        ("contract/a.sql", {"contract/"}),
        ("rust-async/Cargo.lock", {"rust-async/Cargo.lock"}),
        ("common/python/src/a.py", {"common/python/"}),
        # What tools leave behind changes nothing.
        ("contract/__pycache__/a.pyc", set()),
        ("contract/tests/.pytest_cache/x", set()),
    ],
)
def test_a_changed_byte_changes_one_hash(tree: Path, changed: str, named: set[str]) -> None:
    before = hashes(tree)
    (tree / changed).parent.mkdir(parents=True, exist_ok=True)
    (tree / changed).write_text("other")
    after = hashes(tree)
    assert {name for name in before if before[name] != after[name]} == named


def test_a_renamed_file_changes_the_hash(tree: Path) -> None:
    before = hashes(tree)
    (tree / "contract/a.sql").rename(tree / "contract/c.sql")
    assert hashes(tree)["contract/"] != before["contract/"]


def test_results_are_no_change_of_the_sources(tree: Path) -> None:
    assert has_changes(tree) is None, "no repository"
    own = ("git", "-C", str(tree), "-c", "user.name=t", "-c", "user.email=t@t")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "one")):
        subprocess.run([*own, *command], check=True)
    (tree / "results").mkdir()
    (tree / "results/result.json").write_text("{}")
    assert has_changes(tree) is False
    (tree / "contract/a.sql").write_text("other")
    assert has_changes(tree) is True, "the control"


# ---- programs ----


def image(layers: Sequence[str] = ("sha256:1", "sha256:2"), **changes: Any) -> Any:
    """As python_on_whales tells of one."""
    started = {"entrypoint": None, "cmd": ["start"], "env": ["A=1"], "working_dir": Path("/"), "user": "app"}
    config = SimpleNamespace(**{**started, "labels": {}, **changes})
    return SimpleNamespace(root_fs=SimpleNamespace(layers=[*layers]), config=config)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"labels": {"com.docker.compose.project": "tandem"}}, True),
        ({"layers": ["sha256:1"]}, False),
        ({"cmd": ["other"]}, False),
        ({"env": ["A=2"]}, False),
        ({"user": "root"}, False),
    ],
)
def test_what_runs_is_the_program(change: dict[str, Any], same: bool) -> None:
    assert (identity(image(**change)) == identity(image())) is same


def test_a_folder_goes_on_with_the_same_programs_alone(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    for programs in ({"db": "1", "node": "2"}, {"node-debug": "3"}, {"db": "1", "node-debug": "3"}):
        keep_programs(folder, programs)
    assert [path.name for path in folder.iterdir()] == [PROGRAMS_FILE]
    with pytest.raises(TandemError, match=r"other programs: node changed since[^$]*without --resume"):
        keep_programs(folder, {"db": "1", "node": "3"})
    keep_programs(folder, {"db": "1", "node": "2"})  # the refused one is not kept
    (folder / PROGRAMS_FILE).write_text('{"db":')
    with pytest.raises(TandemError, match="cannot be read"):
        keep_programs(folder, {"db": "1"})
