"""The kind `files`: what is run, what asynctest's document says, what does not count. Golden: a real document."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from harness_experiments import experiment, table
from hypothesis import given
from hypothesis import strategies as st
from tandem.reproduce.files import FilesSession, arguments, facts
from tandem.reproduce.files_result import disturbed, starts, versions
from tandem.reproduce.files_result import read as read_document
from tandem.reproduce.files_spec import Case, FilesRun, cases, check_space, lines_made, scaled

from tandem.errors import TandemError, UsageError
from tandem.record.window import Verdict
from tandem.reproduce.experiment import Experiment, PlanName, read
from tandem.reproduce.kinds import Bench

WAYS = ("test04", "test07", "test12", "loop-one")
CASE = Case(2, 20_000, 8192, "hot")


@pytest.fixture(scope="module")
def golden(fixtures: Path) -> dict[str, Any]:
    """asynctest sample 2 20000 --only test04,test07,test12 --buffer-size 8192 --repeats 1 --seed 5 --threads 2 --json"""
    found: dict[str, Any] = json.loads((fixtures / "asynctest.json").read_text())
    return found


@pytest.fixture
def own(root: Path) -> Experiment:
    return read(root / "loadgen/experiments/file-io.toml")


def rows(*ways: str) -> dict[str, FilesRun]:
    return {way: FilesRun(way=way, files=2, lines=20_000) for way in ways or WAYS}


def changed(golden: dict[str, Any], way: str, **values: Any) -> str:
    copy = json.loads(json.dumps(golden))
    for made in copy["measurements"]:
        if made["name"] == way:
            made.update(values)
    return json.dumps(copy)


def small(**changes: Any) -> Experiment:
    """Two cases of the kind."""
    row = {"published": {"time_ms": 10.0}, "smoke": True}
    return experiment(
        **{
            "kind": "files",
            "figures": ["time_ms"],
            "run": {},
            "rows": [
                {"label": "one", "run": {"way": "test04", "files": 1, "lines": 1_000_000}, **row},
                {"label": "rayon", "run": {"way": "test07", "files": 1, "lines": 1_000_000}, **row},
                {
                    "label": "cold",
                    "run": {"way": "test04", "files": 1, "lines": 1_000_000, "cache": "cold"},
                    **row,
                },
            ],
            "claims": [],
            "plans": {"smoke": {"starts": 2, "limits": {"lines_percent": 10}}, "full": {"starts": 5}},
            **changes,
        }
    )


# ---- what is run ----


def test_rows_of_one_case_share_their_files() -> None:
    found = cases(small(), "smoke")
    assert {case: list(own) for case, own in found.items()} == {
        Case(1, 100_000, 8192, "hot"): ["one", "rayon"],
        Case(1, 100_000, 8192, "cold"): ["cold"],
    }
    assert [case.lines for case in cases(small(), "full")] == [1_000_000, 1_000_000]


def test_the_same_measurement_twice_is_refused() -> None:
    twice = [
        *(row.model_dump() for row in small().rows),
        {"label": "again", "run": small().rows[0].run, "smoke": True},
    ]
    with pytest.raises(UsageError, match="the rows 'one' and 'again' are the same"):
        cases(small(rows=twice), "smoke")


def test_a_way_that_cannot_be_is_refused() -> None:
    wrong = [{"label": "one", "run": {"way": "test4", "files": 1, "lines": 5}, "smoke": True}]
    with pytest.raises(UsageError, match="row 'one': run -> way"):
        cases(small(rows=wrong), "smoke")


def test_what_asynctest_is_asked() -> None:
    asked = arguments(Case(2, 20_000, 65536, "cold"), rows("test04", "test07"), 7)
    assert " ".join(asked) == (
        "2 20000 --only test04,test07 --buffer-size 65536 --cache cold --repeats 1 --seed 7 --json"
    )


def test_a_scaled_row_says_so() -> None:
    assert facts(small(), "smoke", "one").settings["lines"] == "10 % of 1,000,000"
    assert facts(small(), "full", "one").settings["lines"] == "1,000,000"


@given(st.integers(1, 1000), st.integers(1, 10**9), st.integers(1, 100))
def test_a_file_has_a_line(files: int, lines: int, percent: int) -> None:
    made = lines_made(FilesRun(way="test04", files=files, lines=lines), percent)
    assert files <= made <= max(files, lines)


# ---- size ----


@given(st.integers(1, 9), st.integers(1, 400))
def test_a_case_is_never_larger_than_it_is_said_to_be(files: int, each: int) -> None:
    written = sum(len(f"{file},{row},1700000000000000000\n") for file in range(files) for row in range(each))
    assert written <= Case(files, files * each, 8192, "hot").bytes


def test_a_case_that_does_not_fit_is_told_with_the_scale_that_would() -> None:
    need = next(iter(cases(small(), "full"))).bytes
    check_space(small(), "full", need)
    with pytest.raises(
        UsageError, match=r"need 32 MB, and the engine's disk has 16 MB left: .*--scale 0\.50 would fit"
    ):
        check_space(small(), "full", round(need * 0.505))
    with pytest.raises(UsageError, match="not even a hundredth"):
        check_space(small(), "full", need // 200)
    assert cases(scaled(small(), "full", 0.5), "full").keys() == {
        Case(1, 500_000, 8192, "hot"),
        Case(1, 500_000, 8192, "cold"),
    }


def test_a_scale_is_a_share_and_for_files() -> None:
    assert scaled(small(), "full", None) == small()
    assert all(scaled(small(), p, 0.3).digest(p) != small().digest(p) for p in get_args(PlanName))
    for scale in (0.0, 1.5, -1.0):
        with pytest.raises(UsageError, match="--scale takes a share"):
            scaled(small(), "full", scale)
    with pytest.raises(UsageError, match="--scale is for experiments with files"):
        scaled(Experiment.model_validate({"name": "waiting", **table()}), "full", 0.5)


# ---- what asynctest says ----


def test_a_real_document(golden: dict[str, Any]) -> None:
    document = read_document(json.dumps(golden))
    found = {start.row: start for start in starts(document, CASE, rows(), 3, 1)}
    assert {start.verdict for start in found.values()} == {Verdict.OK}
    assert {start.block for start in found.values()} == {3}
    by_name = {made["name"]: made for made in golden["measurements"]}
    one, loop = by_name["test04"], by_name["loop-one"]
    assert found["test04"].figures["time_ms"] == one["elapsed_ms"]
    assert found["test04"].figures["cpu_ms"] == pytest.approx(one["cpu_user_ms"] + one["cpu_system_ms"])
    assert found["test04"].figures["loop_ratio"] == pytest.approx(one["elapsed_ms"] / loop["elapsed_ms"])
    assert found["loop-one"].figures["loop_ratio"] == 1
    assert found["test04"].figures["peak_memory_mib"] > 1
    assert {"compio", "rayon"} <= versions(document).keys()


def test_what_the_machine_does_not_let_is_null_and_said(golden: dict[str, Any]) -> None:
    copy = json.loads(json.dumps(golden))
    for way in copy["ways"]:
        if way["name"] == "test12":
            way["unavailable"] = "io_uring is refused"
    copy["measurements"] = [made for made in copy["measurements"] if made["name"] != "test12"]
    [found] = starts(read_document(json.dumps(copy)), CASE, rows("test12"), 1, 1)
    assert (found.verdict, found.figures, found.warnings) == (
        Verdict.OK,
        {},
        ["not measured: io_uring is refused"],
    )


def test_a_wrong_count_is_invalid(golden: dict[str, Any]) -> None:
    document = read_document(changed(golden, "test04", lines=19_999))
    found = {start.row: start for start in starts(document, CASE, rows(), 1, 1)}
    assert found["test04"].verdict is Verdict.INVALID
    assert found["test04"].reason == "19,999 lines were counted where 20,000 were asked for"
    assert found["test07"].verdict is Verdict.OK


def test_what_was_not_asked_for_is_invalid(golden: dict[str, Any]) -> None:
    for values in ({"buffer_bytes": 64}, {"cache": "cold"}):
        [found] = starts(read_document(changed(golden, "test04", **values)), CASE, rows("test04"), 1, 1)
        assert found.verdict is Verdict.INVALID, values
    [found] = starts(read_document(json.dumps(golden)), CASE, rows("test00"), 1, 1)
    assert found.reason == "asynctest says nothing about test00"


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"cache_achieved": False, "disk_read_bytes": 300_000}, "the page cache did not keep the files"),
        ({"cache_achieved": None, "disk_read_bytes": None}, "the kernel does not say"),
    ],
)
def test_a_cache_that_was_not_as_asked_has_no_figures(golden: dict[str, Any], values: Any, told: str) -> None:
    [found] = starts(read_document(changed(golden, "test04", **values)), CASE, rows("test04"), 1, 1)
    assert (found.verdict, found.figures) == (Verdict.OK, {})
    assert told in found.warnings[0]


def test_files_that_stay_in_memory_are_not_cold(golden: dict[str, Any]) -> None:
    text = changed(golden, "test04", cache="cold", cache_achieved=False, disk_read_bytes=0)
    case = Case(2, 20_000, 8192, "cold")
    [found] = starts(read_document(text), case, rows("test04"), 1, 1)
    assert found.warnings == [
        "not measured: not achieved: the files did not leave the page cache, 0% came from the disk"
    ]


@pytest.mark.parametrize(
    ("cpu_ms", "cache", "limit"),
    [
        (195.0, "hot", "app-cpu"),
        (100.0, "hot", "app-thread"),
        (20.0, "hot", "unknown"),
        (20.0, "cold", "disk"),
    ],
)
def test_what_limited_a_way(golden: dict[str, Any], cpu_ms: float, cache: str, limit: str) -> None:
    values = {
        "elapsed_ms": 100.0,
        "cpu_user_ms": cpu_ms,
        "cpu_system_ms": 0.0,
        "cache": cache,
        "disk_read_bytes": 600_000 if cache == "cold" else 0,
        "cache_achieved": True,
    }
    case = Case(2, 20_000, 8192, cache)
    [found] = starts(read_document(changed(golden, "test04", **values)), case, rows("test04"), 1, 1)
    assert found.bottleneck == limit
    assert found.evidence[0] == f"{cpu_ms / 100:.2f} of 2 CPUs busy"


def test_a_hypervisor_that_took_too_much(golden: dict[str, Any]) -> None:
    [found] = starts(read_document(json.dumps(golden)), CASE, rows("test04"), 1, 1)
    assert disturbed(found, 0.01) == found
    warned = disturbed(found, 0.05)
    assert (warned.verdict, warned.figures) == (Verdict.OK, found.figures)
    assert warned.warnings == ["the hypervisor took 5.0% of the CPUs"]
    void = disturbed(found, 0.2)
    assert (void.verdict, void.figures, void.reason) == (
        Verdict.VOID,
        {},
        "the hypervisor took 20.0% of the CPUs",
    )


@pytest.mark.parametrize("text", ["", "{}", '{"schema_version": 2}', "made 1 file"])
def test_something_else_is_no_document(text: str) -> None:
    with pytest.raises(TandemError, match="asynctest's document is not as expected"):
        read_document(text)


# ---- the experiment of the repository ----


def test_the_five_published_cases_on_both_hosts(own: Experiment) -> None:
    published = [row for row in own.rows if row.published]
    assert len(published) == 50
    assert all(len(row.published_elsewhere) == 1 for row in published)
    found = {
        (case.files, case.lines): len(rows)
        for case, rows in cases(own, "full").items()
        if (case.buffer_bytes, case.cache) == (8192, "hot")
    }
    assert found == {
        (1, 1_000_000): 17,
        (5, 1_000_000): 17,
        (10, 10_000_000): 17,
        (25, 20_000_000): 17,
        (50, 100_000_000): 17,
    }
    assert {case.cache for case in cases(own, "full")} == {"hot", "cold"}
    assert len({case.buffer_bytes for case in cases(own, "full")}) == 3


def test_an_estimate_grows_with_the_lines(own: Experiment) -> None:
    session = FilesSession.__new__(FilesSession)
    session.bench = Bench.__new__(Bench)
    assert session.estimate_s(own, "smoke") < 150 < session.estimate_s(own, "full")


def test_the_documents_own_conclusions_are_judged(own: Experiment) -> None:
    text = " ".join(claim.text for claim in own.claims)
    assert re.search("rayon is ahead of one thread", text)
    assert re.search("async-std's tasks against tokio's", text)
    assert re.search("Arc<Mutex>", text)
