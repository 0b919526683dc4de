"""tandem.studies.reproduce.experiment and .rows: what a file may hold, which rows share a start and a window, and the order of things."""

import re
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness_experiments import FAST, OURS, SLOW, experiment, table
from harness_samples import PROPERTY
from hypothesis import given
from hypothesis import strategies as st

from tandem.catalog.catalog import Catalog
from tandem.errors import UsageError
from tandem.judge.file_io import Case
from tandem.record.trial import TrialSpec
from tandem.studies.reproduce.experiment import (
    CLAIMS,
    CORE_STARTS,
    EXPERIMENTS,
    PLANS,
    WIDE_STARTS,
    Experiment,
    ExperimentPlan,
    PlanName,
    pick,
    published_ratio,
    read,
    read_all,
    read_claims,
)
from tandem.studies.reproduce.rows import ExperimentRows, check_space, scaled
from tandem.studies.reproduce.windows import (
    RowWindow,
    WindowTimes,
    opened_first,
    patience_s,
    trips_ceiling,
    trips_implied,
    waiting_ceilings,
    window_times,
)

TOML = """\
title = "Waiting"
origin = "a document"
published_host = "a laptop"
figures = ["goodput_rps"]
rows = [{label = "a", variant = {implementation = "node"}, published = {goodput_rps = 5}, smoke = true}]
plans.smoke = {starts = 2}
plans.full = {starts = 5, cap_s = 60, requests = 10000}
"""


def test_a_file_is_read_and_has_its_name(tmp_path: Path) -> None:
    (tmp_path / EXPERIMENTS).mkdir(parents=True)
    (tmp_path / EXPERIMENTS / "waiting.toml").write_text(TOML)
    [found] = read_all(tmp_path).values()
    assert (found.name, found.plan("full").cap_s) == ("waiting", 60)
    assert found.rows[0].published == {"goodput_rps": 5}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (TOML + "name = 'x'", "name: follows from the file's name"),
        (TOML.replace("origin = ", "orgin = "), "origin: Field required"),
        (TOML + "knid = 'http'", "knid: Extra inputs"),
        (TOML.replace("starts = 5", "starts = 0"), "plans -> full -> starts: Input should be greater"),
        (
            TOML.replace("goodput_rps = 5", "goodput = 5"),
            "row 'a': published: there is no figure 'goodput'. Did you mean 'goodput_rps'",
        ),
        (TOML.replace("goodput_rps = 5", "goodput_rps = 0"), "a figure must be above 0"),
        (TOML.replace("smoke = true", "smoke = false"), "none is marked `smoke = true`"),
        (TOML.replace("title = ", "title "), "not valid TOML"),
    ],
)
def test_what_is_wrong_is_said_with_the_file_and_the_key(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "waiting.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=re.escape(told)) as error:
        read(file)
    assert str(file) in str(error.value)


@pytest.mark.parametrize(
    ("label", "told"), [(FAST, "'async' is given twice"), ("sync  2 threads", "would share one file")]
)
def test_a_label_is_given_once(label: str, told: str) -> None:
    rows = table()["rows"]
    with pytest.raises(UsageError, match=told):
        experiment(rows=[*rows, {**rows[1], "label": label}])


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ({"of": "asnyc", "to": SLOW}, "there is no row 'asnyc'. Did you mean 'async'?"),
        ({"of": FAST, "to": FAST}, "the same row"),
        ({"of": OURS, "to": FAST}, "nothing says what is claimed"),
        ({"of": FAST, "to": SLOW, "figure": "p99"}, "there is no figure 'p99'. Did you mean 'p99_ms'"),
        ({"of": FAST, "to": SLOW, "figure": "p99_ms"}, "nothing says what is claimed"),
        ({"of": FAST, "to": SLOW, "host": "a desktp"}, "no host 'a desktp'. Did you mean 'a desktop'"),
    ],
)
def test_a_claim_is_about_what_there_is(claim: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        experiment(claims=[{"text": "faster", **claim}])


def test_the_published_ratio() -> None:
    found = experiment()
    [main, ours] = found.claims
    assert published_ratio(found, main) == pytest.approx(4)
    assert published_ratio(found, main.model_copy(update={"host": "a desktop"})) == pytest.approx(5)
    assert published_ratio(found, ours) is None


def test_what_a_plan_measures() -> None:
    """core is smoke more often; wide is every row as briefly as smoke."""
    found = experiment()
    smoke, few, every = found.plan("smoke"), [SLOW, FAST], [SLOW, FAST, OURS]
    measured = {plan: [row.label for row in found.measured(plan)] for plan in PLANS}
    assert measured == {"smoke": few, "core": few, "wide": every, "full": every}
    assert found.plan("core") == smoke.model_copy(update={"starts": CORE_STARTS})
    assert found.plan("wide") == smoke.model_copy(update={"starts": WIDE_STARTS})
    assert smoke.starts < CORE_STARTS
    assert len({found.digest(plan) for plan in PLANS}) == 4


def test_the_digest_is_of_what_is_measured() -> None:
    base = experiment()
    assert base.digest("full") == experiment(sentence="other", title="other", claims=[]).digest("full")
    assert base.digest("full") != base.digest("smoke")
    changed = table()["rows"]
    changed[2]["variant"] = {"implementation": "node"}
    assert base.digest("full") != experiment(rows=changed).digest("full")
    assert base.digest("smoke") == experiment(rows=changed).digest("smoke"), "smoke does not measure that row"


# ---- the repository's own ----


def test_what_was_published(root: Path) -> None:
    """Two of the documents' tables, and the ratios of two quoted sources."""
    known = read_all(root) | read_claims(root)
    hyper = {row.label: row.published for row in known["hyper-microservice"].rows if row.published}
    assert len(hyper) == 10, "six runs of wrk and four of drill"
    assert hyper["wrk -t10, release, v0.2"]["goodput_rps"] == 310_531.78
    for values in hyper.values():
        assert values["requests"] / values["total_s"] == pytest.approx(values["goodput_rps"], rel=0.01)
    files = [row for row in known["file-io"].rows if row.published]
    assert len(files) == 50
    assert all(len(row.published_elsewhere) == 1 for row in files)
    ratios = {
        "cpp-connections": {0: 1.18, 1: 0.81},
        "async-tails": {0: 0.914, 1: 2.03},
        "pooled-django": {0: 4.45, 2: 2.72},
    }
    for name, each in ratios.items():
        found = {number: published_ratio(known[name], known[name].claims[number]) for number in each}
        assert found == pytest.approx(each, abs=0.01)


def test_claims_are_quoted_and_experiments_are_not(root: Path) -> None:
    claims, experiments = read_claims(root), read_all(root)
    assert not experiments.keys() & claims.keys()
    assert all(own.source is None for own in experiments.values())
    for own in claims.values():
        measured = {row.label for row in own.measured("smoke")}
        assert own.claims
        assert all({claim.of, claim.to} <= measured for claim in own.claims)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("source = ", "# ", "a claim needs `source`, an address, and `hypothesis`"),
        ("hypothesis = ", "# ", "a claim needs `source`, an address, and `hypothesis`"),
        ("https://", "", "source"),
    ],
)
def test_a_claim_without_its_source_is_refused(
    root: Path, tmp_path: Path, old: str, new: str, told: str
) -> None:
    text = (root / CLAIMS / "small-pools.toml").read_text().replace(old, new)
    (tmp_path / CLAIMS).mkdir(parents=True)
    (tmp_path / CLAIMS / "mine.toml").write_text(text)
    with pytest.raises(UsageError, match=rf"mine\.toml: {told}"):
        read_claims(tmp_path)


# ---- what a row is ----


@pytest.fixture
def rows(real: Catalog, root: Path) -> Callable[..., ExperimentRows]:
    """The rows of an experiment or a claim of the repository."""
    return lambda name, plan="full", cpus=2: ExperimentRows(real, pick(root, name), plan, cpus)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"variant": {"implementation": "rust-snc"}}, "'rust-snc'. Did you mean 'rust-sync'"),
        ({"variant": {"scenario": "wrok"}}, "no scenario 'wrok'. Did you mean 'work'"),
        ({"variant": {"topology": "dircet"}}, "no topology 'dircet'. Did you mean 'direct'"),
        ({"variant": {"settings": {"THREDS": "2"}}}, "no setting 'THREDS'. Did you mean 'THREADS'"),
        ({"variant": {"settings": {"THREADS": "two"}}}, "THREADS must be a whole number"),
        ({"variant": {"implementation": "rust-hyper", "scenario": "recipe"}}, "does not support recipe"),
        ({"variant": {"delay": 20}}, "variant -> delay: Extra inputs"),
        ({"variant": {"db_rtt_ms": 4}}, "work never asks the database"),
        ({"variant": {"variables": {"APP_MAXCON": "25"}}}, "no limit of a shared service 'APP_MAXCON'"),
        ({"variant": {"scenario_changes": {"connectons": 1}}}, "variant -> scenario_changes -> connectons"),
        ({"variant": {"scenario": "recipe"}, "window": {"delay_ms": 20}}, "scenario recipe does not wait"),
        ({"round_trips": 8}, "`round_trips` needs `db_rtt_ms`"),
        ({"window": {"generator": "ab", "connections": 1}}, "window -> generator"),
        ({"window": {"generator": "wrk", "connections": 0}}, "window -> connections"),
        ({"window": {"generator": "wrk"}}, "wrk needs `connections`"),
        ({"window": {"generator": "drill", "connections": 2}}, "needs `requests`"),
        (
            {"window": {"generator": "drill", "connections": 20, "generator_options": {"requests": 10}}},
            "at least 20 iterations",
        ),
        (
            {"window": {"generator": "wrk", "connections": 2, "generator_options": {"threads": 4}}},
            "each of its 4 threads",
        ),
    ],
)
def test_what_a_row_cannot_be(real: Catalog, row: dict[str, Any], told: str) -> None:
    own = table()["rows"]
    wrong = {**own[0], **row, "variant": {"implementation": "rust-sync", **row.get("variant", {})}}
    with pytest.raises(UsageError) as error:
        ExperimentRows(real, experiment(rows=[wrong, *own[1:]]), "full", 2)
    assert told in str(error.value)
    assert str(error.value).startswith(f"waiting: row '{SLOW}': ")


@pytest.mark.parametrize("plan", PLANS)
def test_every_row_of_the_repository_can_be_measured(real: Catalog, root: Path, plan: PlanName) -> None:
    for own in (read_all(root) | read_claims(root)).values():
        found = ExperimentRows(real, own, plan, 2)
        assert [row.row for row in found.rows.values()] == own.measured(plan)
        assert sorted(chain.from_iterable(found.starts.values())) == sorted(found.rows)
        for row in found.rows.values():
            assert row.window is None or row.window.seconds >= 3 * (row.own.delay_ms or 0) / 1e3


def test_what_reaches_the_variant(rows: Callable[..., ExperimentRows]) -> None:
    far = rows("sync-to-async-python", "smoke").variants
    assert {one.variables["APP_MAXCONN"] for one in far} == {"25"}
    assert {one.db_rtt_ms for one in far} == {4, 15}
    usable = {label: row.usable for label, row in rows("sync-to-async-python").rows.items()}
    assert usable["sync Python, as published, 4 ms"] == 5
    assert usable["async Python, as published, 4 ms"] == usable["async Rust, equal, 15 ms"] == 20
    overloaded = rows("async-overload").variants[0].scenario_changes
    assert overloaded == {"connections": 50, "timeout_s": 30, "refused_most": 0.5}


def test_a_row_that_needs_more_cpus_is_not_pinned(rows: Callable[..., ExperimentRows]) -> None:
    assert {one.placement for one in rows("hyper-payload", "smoke").variants} == {"shared"}
    with pytest.raises(UsageError, match="2 CPUs are needed, and this host has 1"):
        rows("hyper-payload", "smoke", 1)


def test_published_ceilings_explain_published_rows(rows: Callable[..., ExperimentRows]) -> None:
    """No published row of the laptop is above what waiting allows; the other machine's at 20 ms all are."""
    for one in rows("hyper-delay").rows.values():
        least = min(one.ceilings.values())
        assert one.row.published.get("goodput_rps", 0) <= least
        elsewhere = one.row.published_elsewhere.get("4 cores, Win10")
        if elsewhere and one.own.delay_ms == 20:
            assert elsewhere["goodput_rps"] > least


# ---- which rows share what ----


def outline(found: ExperimentRows, seed: int = 7) -> list[list[TrialSpec]]:
    return found.outline(seed, [list(found.starts)])


def test_rows_that_differ_in_the_delay_share_a_start(rows: Callable[..., ExperimentRows]) -> None:
    found = rows("hyper-delay")
    assert {len(labels) for labels in found.starts.values()} == {3}
    assert [one.label for one in found.variants] == list(found.starts)
    for one in found.variants:
        assert one.scenario_changes["path"] == "/work?delay_ms=20", "the shortest is verified and warmed up"
    for spec in outline(found)[0]:
        paths = {window.scenario_changes["path"] for window in spec.windows}
        assert paths == {f"/work?delay_ms={ms}" for ms in (20, 200, 1000)}


def test_one_load_is_made_once_in_a_start(rows: Callable[..., ExperimentRows]) -> None:
    found = rows("hyper-microservice", "smoke")
    assert {one.label: one.build for one in found.variants} == {
        "rust-hyper release index": None,
        "rust-hyper debug index": "debug",
        "rust-hyper release users": None,
    }
    assert found.rows["wrk -t1, release, v0.1"].window == found.rows["wrk -t1, release, v0.2"].window
    assert found.rows["wrk -t1, release, v0.1"].window != found.rows["wrk -t1, debug, v0.1"].window
    windows = [w for block in outline(found) for spec in block for w in spec.windows]
    assert len({w.name for w in windows}) == len(windows) == len(found.rows) - 2
    by_name = {w.name: w for w in windows}
    wrk, oha = by_name["wrk--t10-release-v0.2"], by_name["oha-release"]
    assert (wrk.generator, wrk.generator_options, wrk.seconds) == ("wrk", {"threads": 10}, 5)
    assert wrk.scenario_changes == {"connections": 10_000}
    drill = {"requests": 3_600, "rampup_s": 10}
    assert by_name["drill-2-at-a-time-release"].generator_options == drill
    assert (oha.generator, oha.seconds, oha.trim_start_s) == ("oha", 9, 5.5), "connections are opened first"


def test_a_ladder_ascends_and_silent_connections_have_a_start_of_their_own(
    rows: Callable[..., ExperimentRows],
) -> None:
    found = rows("cpp-connections")
    assert {one.label: one.settings for one in found.variants} == {
        "cpp-sync": {"THREADS": "10064"},
        "cpp-async": {},
        "node": {},
    }
    assert len(found.starts) == 6
    for spec in outline(found)[0]:
        idle = spec.name.endswith("-idle")
        name = "idle_connections" if idle else "connections"
        levels = [window.scenario_changes[name] for window in spec.windows]
        assert levels == sorted(levels)
        assert {window.generator for window in spec.windows} == {"silent" if idle else "oha"}


def test_rows_with_connections_and_a_wait_of_their_own(rows: Callable[..., ExperimentRows]) -> None:
    """What waiting allows follows from a row's own connections, not from those of its start."""
    found = rows("virtual-threads")
    least = {label: min(one.ceilings.values()) for label, one in found.rows.items()}
    assert least["200 platform threads, 100 requests"] == least["goroutines, 100 requests"] == 200
    assert least["200 platform threads, 1,000 requests"] == 400
    assert least["virtual threads, 1,000 requests"] == least["1,000 platform threads, 1,000 requests"] == 2000
    for spec in outline(found)[0]:
        levels = [window.scenario_changes["connections"] for window in spec.windows]
        assert levels == sorted(levels)


def test_a_claim_by_way_of_a_third_row_joins(real: Catalog) -> None:
    def row(label: str, n: int) -> dict[str, Any]:
        variant = {"implementation": "rust-hyper", "scenario_changes": {"connections": n}}
        return {"label": label, "variant": variant, "smoke": label != "unmeasured"}

    rows = [row(label, n) for n, label in enumerate(("a", "alone", "b", "c", "unmeasured"), start=1)]
    pairs = (("b", "a"), ("c", "b"), ("unmeasured", "alone"), ("unmeasured", "a"))
    claims = [{"text": "t", "of": of, "to": to, "says": "more"} for of, to in pairs]
    found = ExperimentRows(real, experiment(rows=rows, claims=claims), "smoke", 2)
    assert sorted(map(sorted, found.joined_by_claims())) == [["a", "b", "c"], ["alone"]]


def test_a_row_may_say_how_long_its_client_waits(real: Catalog) -> None:
    """Otherwise a request that rightly waits is given the time."""
    own = table()["rows"]
    patient = {**own[0], "variant": {**own[0]["variant"], "scenario_changes": {"timeout_s": 60}}}
    variant = {"implementation": "rust-sync", "settings": {"THREADS": "2"}}
    slow = {**own[1], "variant": variant, "window": {"delay_ms": 1000}}
    found = ExperimentRows(real, experiment(rows=[patient, slow], claims=[]), "full", 2)
    timeouts = {one.label: one.scenario_changes.get("timeout_s") for one in found.variants}
    assert timeouts == {SLOW: 60, FAST: 100}
    assert [patience_s(100, ceiling) for ceiling in (2.0, 5000.0, None)] == [100, 10, 10]


# ---- files ----


def small(**changes: Any) -> Experiment:
    """Two cases of files."""
    settings = {"way": "test04", "files": "1", "lines": "1000000"}
    other = {"rayon": {"way": "test07"}, "cold": {"cache": "cold"}, "one": {}}
    return experiment(
        variant={"implementation": "file-io", "settings": settings},
        rows=[{"label": label, "variant": {"settings": own}, "smoke": True} for label, own in other.items()],
        figures=["time_ms"],
        claims=[],
        plans={"smoke": {"starts": 2, "limits": {"lines_percent": 10}}, "full": {"starts": 5}},
        **changes,
    )


def test_rows_of_one_case_share_their_files(real: Catalog) -> None:
    found = ExperimentRows(real, small(), "smoke", 2)
    assert found.starts == {"1-100000-8192-hot": ["rayon", "one"], "1-100000-8192-cold": ["cold"]}
    assert found.rows["one"].settings["lines"] == "100000"
    assert {row.settings["lines"] for row in ExperimentRows(real, small(), "full", 2).rows.values()} == {
        "1000000"
    }
    [spec] = [spec for spec in outline(found)[0] if spec.name == "1-1-100000-8192-hot"]
    assert (spec.variants, spec.windows) == (["rayon", "one"], [])


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "the same measurement as the row 'one'"),
        ({"way": "test4"}, "settings -> way"),
        ({"files": "0"}, "files"),
    ],
)
def test_a_way_that_cannot_be(real: Catalog, settings: dict[str, str], told: str) -> None:
    own = [*(row.model_dump() for row in small().rows), {"label": "again", "variant": {"settings": settings}}]
    wrong = small().model_copy(update={"rows": experiment(rows=own, claims=[]).rows})
    with pytest.raises(UsageError, match=rf"row 'again': .*{told}"):
        ExperimentRows(real, wrong, "full", 2)


@given(st.integers(1, 9), st.integers(1, 400))
def test_a_case_is_never_larger_than_it_is_said_to_be(files: int, each: int) -> None:
    written = sum(len(f"{file},{row},1700000000000000000\n") for file in range(files) for row in range(each))
    assert written <= Case(files=files, lines=files * each).bytes


def test_a_case_that_does_not_fit_is_told_with_the_scale_that_would(real: Catalog) -> None:
    found = ExperimentRows(real, small(), "full", 2)
    need = Case(files=1, lines=1_000_000).bytes
    check_space(found, need)
    told = r"need 32 MB, and the engine's disk has 16 MB left\. Free some space, or use --scale 0\.50"
    with pytest.raises(UsageError, match=told):
        check_space(found, round(need * 0.505))
    with pytest.raises(UsageError, match="not even a hundredth"):
        check_space(found, need // 200)
    half = ExperimentRows(real, scaled(small(), 0.5), "full", 2)
    assert {row.settings["lines"] for row in half.rows.values()} == {"500000"}


def test_a_scale_is_a_share_and_for_files() -> None:
    assert scaled(small(), None) == small()
    assert all(scaled(small(), 0.3).digest(plan) != small().digest(plan) for plan in PLANS)
    for of, scale, told in (
        *((small(), scale, "--scale takes a share") for scale in (0.0, 1.5, -1.0)),
        (experiment(), 0.5, "--scale is for experiments with files"),
    ):
        with pytest.raises(UsageError, match=told):
            scaled(of, scale)


# ---- how long a window is, what of it is measured, and which rates waiting allows ----


FULL = ExperimentPlan(starts=5, window_s=8, requests=10_000, cap_s=60)
SMOKE = ExperimentPlan(starts=2, window_s=3, cap_s=3, limits={"drill_s": 3})


def kept_s(found: WindowTimes) -> float:
    return found.seconds - found.trim_start_s - found.trim_end_s


@pytest.mark.parametrize(
    ("plan", "ceiling_rps", "delay_ms", "seconds", "measured_s"),
    [
        (FULL, 5000, 20, 8, 7.25),
        (FULL, 500, 200, 23, 19.8),
        (FULL, 100, 1000, 60, 56),
        (FULL, 2, 1000, 60, 56),
        (FULL, None, None, 8, 7.25),
        (SMOKE, 100, 1000, 5, 3),
        (SMOKE, 5000, 20, 3, 2.25),
    ],
)
def test_how_long_a_window_is(
    plan: ExperimentPlan, ceiling_rps: float | None, delay_ms: int | None, seconds: int, measured_s: float
) -> None:
    found = window_times(plan, ceiling_rps, delay_ms)
    assert (found.seconds, round(kept_s(found), 6)) == (seconds, measured_s)


@PROPERTY
@given(st.integers(50, 5000), st.integers(1, 60), st.floats(1, 5000))
def test_no_wave_of_a_long_delay_is_cut(delay_ms: int, window_s: int, ceiling_rps: float) -> None:
    plan = ExperimentPlan(starts=1, window_s=window_s, requests=10_000, cap_s=60)
    found, delay_s = window_times(plan, ceiling_rps, delay_ms), delay_ms / 1e3
    waves = kept_s(found) / delay_s
    assert waves == pytest.approx(round(waves), abs=1e-6)
    assert round(waves) >= 3
    assert found.trim_start_s / delay_s % 1 == pytest.approx(0.5, abs=1e-6)
    assert found.trim_start_s >= 1.5 * delay_s - 1e-6
    assert found.trim_end_s >= 0.25 - 1e-9
    # Requests that all take the delay and 1 ms more: whatever the window, the rate is right.
    ends = np.concatenate([np.full(100, n * (delay_s + 1e-4)) for n in range(1, round(60 / delay_s) + 60)])
    inside = (ends >= found.trim_start_s) & (ends < found.seconds - found.trim_end_s)
    assert inside.sum() / kept_s(found) == pytest.approx(100 / delay_s, rel=0.02 + 1.1e-4 / delay_s)


def test_connections_are_opened_before_the_measured_part() -> None:
    assert (opened_first(5, 100), opened_first(5, 10_000)) == ((5, 1.5, 0.5), (9, 5.5, 0.5))
    assert kept_s(opened_first(12, 100)) == 9
    with pytest.raises(UsageError, match="window_s = 2 is too short"):
        opened_first(2, 100)


@pytest.mark.parametrize(
    ("options", "connections", "requests", "seconds"),
    [
        ({"requests": 1_000_000}, 10, 24_000, 3),
        ({"requests": 10_000, "rampup_s": 10}, 2, 3_600, 3),
        ({"requests": 1_000}, 2, 1_000, 1),
    ],
)
def test_smoke_makes_fewer_requests_by_drill(
    options: dict[str, Any], connections: int, requests: int, seconds: int
) -> None:
    own = RowWindow(generator="drill", connections=connections, generator_options=options)
    spec = own.spec("w", "v", SMOKE, None, {})
    assert spec.generator_options == {**options, "requests": requests}
    assert spec.seconds == seconds
    assert spec.trim_start_s == pytest.approx(seconds / 10)
    assert own.spec("w", "v", FULL, None, {}).generator_options == options


def test_ceilings_of_waiting_and_of_round_trips() -> None:
    assert waiting_ceilings(100, 20, 32) == {"connections/delay": 5000, "threads/delay": 1600}
    assert waiting_ceilings(100, 20, None) == {"connections/delay": 5000}
    assert waiting_ceilings(100, 0, 32) == waiting_ceilings(100, None, 32) == {}
    [ceiling] = trips_ceiling(10, 20, 16.0).values()
    assert ceiling == pytest.approx(20 / (10 * 0.016))
    assert trips_implied(20, 16.0, ceiling) == pytest.approx(10)
    assert trips_ceiling(10, None, 16.0) == trips_ceiling(None, 20, 16.0) == {}
    assert trips_implied(20, 16.0, 0.0) is None
