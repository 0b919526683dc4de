"""tandem.catalog.catalog: the real repository, and files that are wrong."""

from pathlib import Path

import pytest
from harness_places import ROOT

from tandem.catalog.catalog import OWN_SERVICE, STEADY_LEAST, Catalog, Implementation, Unsupported
from tandem.catalog.placement import evaluate, read_env_file
from tandem.errors import UsageError
from tandem.judge.steady import steady
from tandem.probes.postgres import CONTROL

BENCH = """
title = "T"
language = "l"
model = "async"
stack = ["a"]
"""


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A repository with one implementation and the settings of this one."""
    for folder in ("contract", "one"):
        (tmp_path / folder).mkdir()
    (tmp_path / "contract/settings.toml").symlink_to(ROOT / "contract/settings.toml")
    (tmp_path / "one/bench.toml").write_text(BENCH)
    return tmp_path


def refused(root: Path, text: str) -> str:
    (root / "one/bench.toml").write_text(text)
    with pytest.raises(UsageError) as told:
        Catalog(root).implementation("one")
    assert str(root / "one/bench.toml") in str(told.value)
    assert told.value.exit_code == 2
    return str(told.value).removeprefix(f"{root}/one/bench.toml: ")


# ---- the real repository ----


def test_the_repository_has_what_the_documents_promise(real: Catalog) -> None:
    for found, promised in (
        (real.implementations, "rust-async python-async python-sync"),
        (real.scenarios, "index idle users work work-large recipes recipe note-write fan-out mixed"),
        (real.plans, "smoke quick"),
        (real.topologies, "direct pooled proxied full"),
        (real.placements, "two-cores four-cores eight-cores shared"),
        (real.settings, "WORKERS THREADS DB_POOL_MAX DB_PERSISTENT DB_PREPARE DB_RESET"),
    ):
        assert {*promised.split()} <= found.keys()
    assert min(plan.trials for plan in real.plans.values()) >= 3, "every plan has an interval"


def test_a_scenario_names_queries_that_exist(real: Catalog, root: Path) -> None:
    queries = {file.stem for file in (root / "contract/sql/queries").glob("*.sql")}
    for scenario in real.scenarios.values():
        assert set(scenario.statements) <= queries | CONTROL.keys()
        assert scenario.topology in {None, *real.topologies}
        assert ("{id}" in scenario.path) == bool(scenario.ids)
    for one in real.implementations.values():
        assert one.unsupported.scenarios.keys() <= real.scenarios.keys()


def test_topologies_and_placements_set_the_same_names_each(real: Catalog) -> None:
    for group in (real.topologies, real.placements):
        assert len({frozenset(file.variables) for file in group.values()}) == 1
        assert all(file.summary for file in group.values())


def test_an_implementation_of_the_tests_is_found_by_its_path_only(real: Catalog) -> None:
    assert real.implementation("contract/broken").name == "contract/broken"
    assert "contract/broken" not in real.implementations
    with pytest.raises(UsageError):
        real.implementation("broken")


@pytest.mark.parametrize(
    ("cpus", "name"),
    [(1, "shared"), (2, "two-cores"), (3, "two-cores"), (4, "four-cores"), (7, "four-cores"), (8, "eight-cores")],
)  # fmt: skip
def test_the_default_placement_fits_the_host(real: Catalog, cpus: int, name: str) -> None:
    placement = real.default_placement(cpus)
    assert placement.name == name
    used = [int(c) for v in placement.variables.values() for c in v.replace("-", ",").split(",") if c]
    assert max(used, default=0) < cpus


# ---- bench.toml ----


def test_a_good_bench_toml(made: Path) -> None:
    [found] = Catalog(made).implementations.values()
    assert (found.name, found.title, found.model, found.stack) == ("one", "T", "async", ["a"])
    assert (found.pool_tells, found.tier) == (False, "core")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BENCH.replace('"async"', '"threads"'), "model: Input should be 'sync', 'async' or 'green'"),
        (BENCH + 'tier = "soft"', "tier: Input should be 'core' or 'hardened'"),
        (BENCH.replace('title = "T"', ""), "title: Field required"),
        (BENCH.replace('["a"]', '["a", 3]'), "stack -> 1: Input should be a valid string"),
        (BENCH + 'modle = "x"', "modle: Extra inputs are not permitted"),
        (BENCH + '[defaults]\nWORKERS = "many"', "defaults -> WORKERS: String should match pattern"),
        (BENCH + 'pool_tells = "at times"', "pool_tells: Input should be a valid boolean"),
        (BENCH + "[unsupported.settings]\nTHREADS = 1", "unsupported -> settings -> THREADS: Input should"),
        (BENCH + '[unsupported.knobs]\nTHREADS = "x"', "unsupported -> knobs: is called 'settings' now"),
        (BENCH + '[unsupported]\nsetting = "x"', "unsupported -> setting: Extra inputs are not permitted"),
        ('name = "two"\n' + BENCH, "name: comes from the folder or the file"),
        ("", "title: Field required"),
        (BENCH + '[defaults]\nWORKRES = "1"', "defaults -> WORKRES: there is no setting 'WORKRES'"),
        (BENCH + '[further_values]\nDB_PREPAR = ["each"]', "further_values -> DB_PREPAR: there is no"),
        (BENCH + '[unsupported.settings]\nTHREAD = ""', "unsupported -> settings -> THREAD: there is no"),
        (BENCH + '[settings.THREADS]\ndefault = "1"\nmeaning = ""', "settings -> THREADS: all implem"),
        (BENCH + '[settings.LOOP]\ndefault = "1"', "settings -> LOOP -> meaning: Field required"),
    ],
)
def test_a_wrong_key_is_named_with_its_file_and_path(made: Path, text: str, told: str) -> None:
    assert refused(made, text).startswith(told)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"[", "not valid TOML: "),
        (b"title = 'a'\ntitle = 'b'", "not valid TOML: "),
        (b"title = 'a'\nmodel = \nstack = []", r"not valid TOML: .*\(at line 2, "),
        (BENCH.replace('"T"', '"T\xe9"').encode("latin-1"), "not UTF-8: "),
        (None, "cannot be read: Is a directory"),
    ],
)
def test_a_file_that_cannot_be_read(made: Path, content: bytes | None, told: str) -> None:
    file = made / "one/bench.toml"
    file.unlink()
    file.mkdir() if content is None else file.write_bytes(content)
    with pytest.raises(UsageError, match=rf"one/bench\.toml: {told}"):
        _ = Catalog(made).implementations


@pytest.mark.parametrize(
    ("kind", "folder", "attribute"),
    [("scenario", "loadgen/scenarios", "scenarios"), ("plan", "loadgen/plans", "plans")],
)
def test_scenarios_and_plans_are_checked_too(tmp_path: Path, kind: str, folder: str, attribute: str) -> None:
    file = tmp_path / folder / f"{kind}.toml"
    file.parent.mkdir(parents=True)
    file.write_text("trials = 0")
    with pytest.raises(UsageError, match=rf"{kind}\.toml: \w+: "):
        getattr(Catalog(tmp_path), attribute)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ("steady_buckets = 5", "steady_buckets must be 0 or at least 6"),
        ("trim_start_s = 5.0", "leave nothing of the shorter of closed_s and open_s"),
        ("trim_start_s = -1.0", "trim_start_s: Input should be greater than or equal to 0"),
        ("warm_up_cap_s = 2", "warm_up_cap_s is below warm_up_s, which is 3"),
    ],
)
def test_a_plan_that_cannot_work_is_refused(
    real: Catalog, root: Path, tmp_path: Path, changed: str, told: str
) -> None:
    name = changed.split()[0]
    lines = (root / "loadgen/plans/smoke.toml").read_text().splitlines()
    file = tmp_path / "own.toml"
    file.write_text("\n".join([changed, *(line for line in lines if not line.startswith(name))]))
    with pytest.raises(UsageError, match=rf"own\.toml: .*{told}"):
        real.plan(str(file))


def test_fewer_steady_seconds_than_a_plan_may_ask_for_are_too_few() -> None:
    assert steady([100.0] * STEADY_LEAST, least=1).reason == "steady"
    assert steady([100.0] * (STEADY_LEAST - 1), least=1).reason == "too-few"


# ---- names ----


@pytest.mark.parametrize(
    ("kind", "attribute", "name", "near"),
    [
        ("implementation", "implementations", "rust-asink", "rust-async"),
        ("scenario", "scenarios", "recipez", "recipe"),
        ("plan", "plans", "smok", "smoke"),
        ("topology", "topologies", "ful", "full"),
        ("placement", "placements", "two-core", "two-cores"),
    ],
)
def test_an_unknown_name_offers_the_nearest(
    real: Catalog, kind: str, attribute: str, name: str, near: str
) -> None:
    entries = getattr(real, attribute)
    assert real.pick(kind, near, entries).name == near
    with pytest.raises(UsageError, match=rf"no {kind} '{name}'\. Did you mean '{near}'\? There are: "):
        real.pick(kind, name, entries)
    with pytest.raises(UsageError, match=rf"no {kind} 'zzzzzz'\. There are: "):
        real.pick(kind, "zzzzzz", entries)


def test_a_plan_may_be_a_file(real: Catalog, root: Path, tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text((root / "loadgen/plans/smoke.toml").read_text().replace("trials = 3", "trials = 1"))
    assert real.plan("smoke").trials == 3
    assert (real.plan(str(file)).name, real.plan(str(file)).trials) == ("own", 1)
    with pytest.raises(UsageError, match=r"none\.toml: cannot be read: No such file"):
        real.plan(str(tmp_path / "none.toml"))
    with pytest.raises(UsageError, match="Did you mean 'smoke'"):
        real.plan("smok")


# ---- formulas, CPU sets, env files ----


@pytest.mark.parametrize(
    ("formula", "cpus", "value"),
    [("10", 4, 10), ("cpus", 4, 4), ("2*cpus", 4, 8), ("2*cpus+1", 4, 9), ("12*cpus+34", 3, 70), ("0", 4, 0)],
)
def test_formulas(made: Path, formula: str, cpus: int, value: int) -> None:
    assert evaluate(formula, cpus) == value
    (made / "one/bench.toml").write_text(BENCH + f'[defaults]\nWORKERS = "{formula}"')
    assert Catalog(made).implementations["one"].defaults == {"WORKERS": formula}


@pytest.mark.parametrize(
    "formula", ["cpus*2", "2cpus", "-1", "cpus+1", "2*cpus-1", "2*cpu", "1.5*cpus", "", "10 "]
)
def test_other_formulas_are_refused(made: Path, formula: str) -> None:
    assert refused(made, BENCH + f'[defaults]\nWORKERS = "{formula}"').startswith("defaults -> WORKERS: ")


def test_an_env_file(tmp_path: Path) -> None:
    """Values are read as by Compose, but for other variables: none is put in."""
    file = tmp_path / "own.env"
    lines = ["A=1", "B_C=x=y", "D=", "E= 1 ", "F=1 # one", "G='1 # one'", 'H="1"', "I=${HOME}", "J=0,2-3"]
    file.write_text("\n".join(["# What it is.", "# More.", "", *lines, ""]))
    found = read_env_file(file)
    assert (found.name, found.summary) == ("own", "What it is.")
    values = ["1", "x=y", "", "1", "1", "1 # one", "1", "${HOME}", "0,2-3"]
    assert found.variables == dict(zip(["A", "B_C", *"DEFGHIJ"], values, strict=True))


@pytest.mark.parametrize("line", ["A", "=1", "a b=1", "export A=1", "a=1", "B='1", "B='1' 2", " # indented"])
def test_an_env_file_with_a_wrong_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "own.env"
    file.write_text(f"# ok\nA=1\n{line}\n")
    with pytest.raises(UsageError, match=r"own\.env: line 3: expected NAME=VALUE"):
        read_env_file(file)


# ---- the settings of the contract, and which of them a run may set ----


def implementation(**changes: object) -> Implementation:
    fields = {"name": "x", "title": "X", "language": "l", "model": "sync", "stack": [], **changes}
    return Implementation.model_validate(fields)


def test_settings_are_the_choice_else_the_implementations_best_else_the_contracts(real: Catalog) -> None:
    own = implementation(defaults={"WORKERS": "2*cpus+1", "THREADS": "10"})
    found = real.effective_settings(own, 4, {"THREADS": "3", "DB_PREPARE": "0"})
    assert (found["WORKERS"], found["THREADS"], found["DB_PREPARE"]) == ("9", "3", "0")
    assert (found["DB_POOL_MAX"], found["LOG_LEVEL"], found["DB_RESET"]) == ("20", "warn", "0")
    assert "PORT" not in found
    assert "DATABASE_URL" not in found
    assert real.effective_settings(real.implementation(OWN_SERVICE), 4, {"WORKERS": "2"}) == {"WORKERS": "2"}


WHOLE = "must be a whole number from 1, not"


@pytest.mark.parametrize(
    ("of", "name", "value", "told"),
    [
        (None, "WORKERZ", "1", "no setting 'WORKERZ'. Did you mean 'WORKERS'"),
        (None, "DB_PREPARE", "yes", "DB_PREPARE must be one of 0, 1, not 'yes'"),
        (None, "LOG_LEVEL", "WARN", "LOG_LEVEL must be one of debug, info, warn, error, not 'WARN'"),
        (None, "OFFLOAD", "sum", "x cannot vary OFFLOAD: it has no loop"),
        (None, "DATABASE_URL", "postgresql://elsewhere", "DATABASE_URL is set by the topology"),
        (None, "PORT", "1", "PORT is set by the topology"),
        *((None, name, "0", f"{name} {WHOLE} '0'") for name in ("WORKERS", "THREADS", "DB_POOL_MAX")),
        *((None, "WORKERS", no, f"WORKERS {WHOLE} '{no}'") for no in ("abc", "", "-1", "1.5", " 2", "²")),
        ("cpp-sync", "DB_PREPARE", "each", "DB_PREPARE must be one of 0, 1, not 'each'"),
        ("python-sync", "LOOP", "asyncio", "no setting 'LOOP'"),
        ("python-async", "LOOP", "trio", "LOOP must be one of uvloop, asyncio, not 'trio'"),
    ],
)
def test_settings_that_cannot_be(real: Catalog, of: str | None, name: str, value: str, told: str) -> None:
    own = implementation(unsupported=Unsupported(settings={"OFFLOAD": "it has no loop"}))
    with pytest.raises(UsageError) as refusal:
        real.effective_settings(real.implementation(of) if of else own, 4, {name: value})
    assert told in str(refusal.value)


def test_a_value_and_a_setting_beyond_the_contract_are_their_owners(real: Catalog) -> None:
    def found(name: str, **chosen: str) -> dict[str, str]:
        return real.effective_settings(real.implementation(name), 2, chosen)

    for name in ("rust-async", "rust-sync"):
        assert found(name, DB_PREPARE="each")["DB_PREPARE"] == "each"
    assert found("python-async", LOOP="asyncio")["LOOP"] == "asyncio"
    # At its default it is left out: sessions from before are draws of the same.
    every = found("python-async"), found("python-async", LOOP="uvloop"), found("python-sync")
    assert not any("LOOP" in settings for settings in every)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[WORKERS]\nmeaning = "no default"', "WORKERS -> default: Field required"),
        ("WORKERS = 3", "WORKERS: Input should be "),
        ('[WORKERS]\nname = "x"\ndefault = "1"\nmeaning = ""', "WORKERS -> name: comes from the table"),
    ],
)
def test_a_malformed_settings_file(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "contract").mkdir()
    (tmp_path / "contract/settings.toml").write_text(text)
    with pytest.raises(UsageError, match=rf"settings\.toml: {told}"):
        _ = Catalog(tmp_path).settings
