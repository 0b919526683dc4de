"""The kind `files`: what is run, what asynctest's document says, what does not count. Golden: a real document."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError, UsageError
from tandem.record.window import Finding
from tandem.studies.files.command import estimate_s
from tandem.studies.files.document import Counting, counting, disturbance, measuring_s, versions
from tandem.studies.files.document import read as read_document
from tandem.studies.files.spec import (
    Case,
    FilesRun,
    arguments,
    case_of,
    cases,
    check_space,
    facts,
    lines_made,
    scaled,
    variant,
)
from tandem.studies.reproduce.experiment import Experiment, PlanName, read

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


def said(text: str, way: str, case: Case = CASE) -> tuple[Counting, list[Finding]]:
    """What a document says of one way."""
    return counting(read_document(text), case, way)


def told(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.severity, finding.text) for finding in findings]


def changed(golden: dict[str, Any], way: str, **values: Any) -> str:
    copy = json.loads(json.dumps(golden))
    for made in copy["measurements"]:
        if made["name"] == way:
            made.update(values)
    return json.dumps(copy)


def small(**changes: Any) -> Experiment:
    """Two cases of the kind."""
    row = {"published": {"time_ms": 10.0}, "smoke": True}
    return Experiment.model_validate(
        {
            "name": "small",
            "title": "Counting",
            "origin": "this test",
            "published_host": "nowhere",
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
    with pytest.raises(UsageError, match="the rows 'one' and 'again' are the same measurement"):
        cases(small(rows=twice), "smoke")


def test_a_way_that_cannot_be_is_refused() -> None:
    wrong = [{"label": "one", "run": {"way": "test4", "files": 1, "lines": 5}, "smoke": True}]
    with pytest.raises(UsageError, match="row 'one': run -> way"):
        cases(small(rows=wrong), "smoke")


def test_what_asynctest_is_asked() -> None:
    asked = arguments(Case(2, 20_000, 65536, "cold"), ["test04", "test07"], 7)
    assert " ".join(asked) == (
        "2 20000 --only test04,test07 --buffer-size 65536 --cache cold --repeats 1 --seed 7 --json"
    )


def test_a_scaled_row_says_so() -> None:
    assert facts(small(), "smoke", "one")["lines"] == "10 % of 1,000,000"
    assert facts(small(), "full", "one")["lines"] == "1,000,000"


@given(st.integers(1, 1000), st.integers(1, 10**9), st.integers(1, 100))
def test_a_file_has_a_line(files: int, lines: int, percent: int) -> None:
    made = lines_made(FilesRun(way="test04", files=files, lines=lines), percent)
    assert files <= made <= max(files, lines)


def test_a_row_as_a_variant_and_back() -> None:
    run = FilesRun(way="test04", files=5, lines=1_000_000, cache="cold")
    found = variant("one", run, 200_000)
    assert found.settings["way"] == "test04"
    assert case_of(found) == Case(5, 200_000, 8192, "cold")


# ---- size ----


@given(st.integers(1, 9), st.integers(1, 400))
def test_a_case_is_never_larger_than_it_is_said_to_be(files: int, each: int) -> None:
    written = sum(len(f"{file},{row},1700000000000000000\n") for file in range(files) for row in range(each))
    assert written <= Case(files, files * each, 8192, "hot").bytes


def test_a_case_that_does_not_fit_is_told_with_the_scale_that_would() -> None:
    need = next(iter(cases(small(), "full"))).bytes
    check_space(small(), "full", need)
    with pytest.raises(
        UsageError,
        match=r"need 32 MB, and the engine's disk has 16 MB left\. Free some space, or use --scale 0\.50",
    ):
        check_space(small(), "full", round(need * 0.505))
    with pytest.raises(UsageError, match="not even a hundredth"):
        check_space(small(), "full", need // 200)
    assert cases(scaled(small(), "full", 0.5), "full").keys() == {
        Case(1, 500_000, 8192, "hot"),
        Case(1, 500_000, 8192, "cold"),
    }


def test_a_scale_is_a_share_and_for_files(root: Path) -> None:
    assert scaled(small(), "full", None) == small()
    assert all(scaled(small(), p, 0.3).digest(p) != small().digest(p) for p in get_args(PlanName))
    for scale in (0.0, 1.5, -1.0):
        with pytest.raises(UsageError, match="--scale takes a share"):
            scaled(small(), "full", scale)
    with pytest.raises(UsageError, match="--scale is for experiments with files"):
        scaled(read(root / "loadgen/experiments/hyper-delay.toml"), "full", 0.5)


# ---- what asynctest says ----


def test_a_real_document(golden: dict[str, Any]) -> None:
    text = json.dumps(golden)
    found = {way: said(text, way) for way in WAYS}
    assert all(findings == [] for _, findings in found.values())
    by_name = {made["name"]: made for made in golden["measurements"]}
    one, loop = by_name["test04"], by_name["loop-one"]
    figures = found["test04"][0].figures
    assert figures["time_ms"] == one["elapsed_ms"]
    assert figures["cpu_ms"] == pytest.approx(one["cpu_user_ms"] + one["cpu_system_ms"])
    assert figures["loop_ratio"] == pytest.approx(one["elapsed_ms"] / loop["elapsed_ms"])
    assert found["loop-one"][0].figures["loop_ratio"] == 1
    assert figures["peak_memory_mib"] > 1
    document = read_document(text)
    assert {"compio", "rayon"} <= versions(document).keys()
    assert measuring_s(document, ["test04", "loop-one"]) == pytest.approx(
        (one["elapsed_ms"] + loop["elapsed_ms"]) / 1e3
    )


def test_what_the_machine_does_not_let_is_null_and_said(golden: dict[str, Any]) -> None:
    copy = json.loads(json.dumps(golden))
    for way in copy["ways"]:
        if way["name"] == "test12":
            way["unavailable"] = "io_uring is refused"
    copy["measurements"] = [made for made in copy["measurements"] if made["name"] != "test12"]
    found, findings = said(json.dumps(copy), "test12")
    assert (found, told(findings)) == (Counting(), [("warning", "not measured: io_uring is refused")])


def test_a_wrong_count_is_invalid(golden: dict[str, Any]) -> None:
    text = changed(golden, "test04", lines=19_999)
    found, findings = said(text, "test04")
    assert found == Counting()
    assert told(findings) == [("invalid", "19,999 lines were counted instead of 20,000")]
    assert said(text, "test07")[1] == []


def test_what_was_not_asked_for_is_invalid(golden: dict[str, Any]) -> None:
    for values in ({"buffer_bytes": 64}, {"cache": "cold"}):
        _, [finding] = said(changed(golden, "test04", **values), "test04")
        assert finding.severity == "invalid", values
    _, findings = said(json.dumps(golden), "test00")
    assert told(findings) == [("invalid", "asynctest reported nothing about test00")]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"cache_achieved": False, "disk_read_bytes": 300_000}, "the page cache did not keep the files"),
        ({"cache_achieved": None, "disk_read_bytes": None}, "the kernel does not report"),
    ],
)
def test_a_cache_that_was_not_as_asked_has_no_figures(golden: dict[str, Any], values: Any, why: str) -> None:
    found, [finding] = said(changed(golden, "test04", **values), "test04")
    assert (found, finding.severity) == (Counting(), "warning")
    assert why in finding.text


def test_files_that_stay_in_memory_are_not_cold(golden: dict[str, Any]) -> None:
    text = changed(golden, "test04", cache="cold", cache_achieved=False, disk_read_bytes=0)
    _, [finding] = said(text, "test04", Case(2, 20_000, 8192, "cold"))
    assert finding.text == (
        "not measured: not achieved: the files did not leave the page cache, 0% came from the disk"
    )


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
    found, _ = said(changed(golden, "test04", **values), "test04", Case(2, 20_000, 8192, cache))
    assert found.bottleneck == limit
    assert found.evidence[0] == f"{cpu_ms / 100:.2f} of 2 CPUs busy"


def test_a_hypervisor_that_took_too_much() -> None:
    assert disturbance(0.01) == []
    assert told(disturbance(0.05)) == [("warning", "the hypervisor took 5.0% of the CPUs")]
    assert told(disturbance(0.2)) == [("void", "the hypervisor took 20.0% of the CPUs")]


@pytest.mark.parametrize("text", ["", "{}", '{"schema_version": 2}', "made 1 file"])
def test_something_else_is_no_document(text: str) -> None:
    with pytest.raises(TandemError, match="asynctest's output is not as expected"):
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


def test_an_estimate_grows_with_the_lines(real: Catalog, own: Experiment, tmp_path: Path) -> None:
    smoke, full = (estimate_s(real, tmp_path, own, plan) for plan in ("smoke", "full"))
    assert smoke < 150 < full


def test_the_documents_own_conclusions_are_judged(own: Experiment) -> None:
    text = " ".join(claim.text for claim in own.claims)
    assert re.search("rayon is ahead of one thread", text)
    assert re.search("async-std's tasks against tokio's", text)
    assert re.search("Arc<Mutex>", text)
