"""tandem.judge.file_io: what asynctest's document says, and what does not count. Golden: a real document."""

import json
from pathlib import Path
from typing import Any

import pytest

from tandem.errors import TandemError
from tandem.judge.file_io import Case, Counting, WaySettings, counting, disturbance, read
from tandem.record.window import Finding

WAYS = ("test04", "test07", "test12", "loop-one")
CASE = Case(files=2, lines=20_000)
COLD = Case(files=2, lines=20_000, cache="cold")
MISSED = {"cache_achieved": False, "disk_read_bytes": 0}


@pytest.fixture(scope="module")
def golden(fixtures: Path) -> dict[str, Any]:
    """asynctest sample 2 20000 --only test04,test07,test12,loop-one,loop-all --threads 2"""
    found: dict[str, Any] = json.loads((fixtures / "asynctest.json").read_text())
    return found


def said(document: dict[str, Any], way: str, case: Case = CASE) -> tuple[Counting, list[Finding]]:
    """What a document says of one way."""
    return counting(read(json.dumps(document)), case, way)


def told(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.severity, finding.text) for finding in findings]


def changed(golden: dict[str, Any], way: str, **values: Any) -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(json.dumps(golden))
    for made in copy["measurements"]:
        if made["name"] == way:
            made.update(values)
    return copy


def test_what_asynctest_is_asked() -> None:
    settings = {"way": "test07", "files": "2", "lines": "20000", "buffer_bytes": "65536", "cache": "cold"}
    case, ways = WaySettings.model_validate(settings).case, ["loop-one", *(f"test{n:02}" for n in range(9))]
    asked = [case.arguments(ways, seed) for seed in ("5 1", "5 1", "5 2")]
    others = [*asked[0][:3], *asked[0][4:]]
    assert others == ["2", "20000", "--only", "--buffer-size", "65536", "--cache", "cold"]
    assert sorted(asked[0][3].split(",")) == ["loop-all", *sorted(ways)]
    assert asked[0] == asked[1] != asked[2], "each start has an order of its own"


def test_a_real_document(golden: dict[str, Any]) -> None:
    found = {way: said(golden, way) for way in WAYS}
    assert all(findings == [] for _, findings in found.values())
    by_name = {made["name"]: made for made in golden["measurements"]}
    one, loop = by_name["test04"], by_name["loop-one"]
    figures = found["test04"][0].figures
    assert figures["time_ms"] == one["elapsed_ms"]
    assert figures["cpu_ms"] == pytest.approx(one["cpu_user_ms"] + one["cpu_system_ms"])
    assert figures["loop_ratio"] == pytest.approx(one["elapsed_ms"] / loop["elapsed_ms"])
    assert found["loop-one"][0].figures["loop_ratio"] == 1
    assert figures["peak_memory_mib"] > 1
    document = read(json.dumps(golden))
    assert {"compio", "rayon"} <= document.versions.keys()
    both_s = (one["elapsed_ms"] + loop["elapsed_ms"]) / 1e3
    assert document.measuring_s(["test04", "loop-one"]) == pytest.approx(both_s)


def test_what_the_machine_does_not_let_is_null_and_said(golden: dict[str, Any]) -> None:
    copy = json.loads(json.dumps(golden))
    for way in copy["ways"]:
        if way["name"] == "test12":
            way["unavailable"] = "io_uring is refused"
    copy["measurements"] = [made for made in copy["measurements"] if made["name"] != "test12"]
    found, findings = said(copy, "test12")
    assert (found, told(findings)) == (Counting(), [("warning", "not measured: io_uring is refused")])


@pytest.mark.parametrize(
    ("values", "case", "severity", "text"),
    [
        ({"lines": 19_999}, CASE, "invalid", "19,999 lines were counted instead of 20,000"),
        ({"buffer_bytes": 64}, CASE, "invalid", "under other conditions"),
        ({"cache": "cold"}, CASE, "invalid", "under other conditions"),
        ({"name": "test99"}, CASE, "invalid", "asynctest reported nothing about test04"),
        (MISSED, CASE, "warning", "the page cache did not keep the files"),
        ({"cache_achieved": None, "disk_read_bytes": None}, CASE, "warning", "the kernel does not report"),
        ({"cache": "cold", **MISSED}, COLD, "warning", "did not leave the page cache, 0% came from the disk"),
    ],
)
def test_what_has_no_figures(
    golden: dict[str, Any], values: Any, case: Case, severity: str, text: str
) -> None:
    found, [finding] = said(changed(golden, "test04", **values), "test04", case)
    assert (found, finding.severity) == (Counting(), severity)
    assert text in finding.text
    if case is CASE:
        assert said(changed(golden, "test04", **values), "test07")[1] == [], "that way alone"


@pytest.mark.parametrize(
    ("cpu_ms", "cache", "limit"),
    [(195, "hot", "app-cpu"), (100, "hot", "app-thread"), (20, "hot", "unknown"), (20, "cold", "disk")],
)
def test_what_limited_a_way(golden: dict[str, Any], cpu_ms: float, cache: str, limit: str) -> None:
    case, read_bytes = (COLD, 600_000) if cache == "cold" else (CASE, 0)
    values: dict[str, Any] = {"elapsed_ms": 100.0, "cpu_user_ms": cpu_ms, "cpu_system_ms": 0.0}
    values |= {"cache": cache, "cache_achieved": True, "disk_read_bytes": read_bytes}
    found, _ = said(changed(golden, "test04", **values), "test04", case)
    assert found.bottleneck == limit
    assert found.evidence[0] == f"{cpu_ms / 100:.2f} of 2 CPUs busy"


def test_a_hypervisor_that_took_too_much() -> None:
    assert disturbance(0.01) == []
    assert told(disturbance(0.05)) == [("warning", "the hypervisor took 5.0% of the CPUs")]
    assert told(disturbance(0.2)) == [("void", "the hypervisor took 20.0% of the CPUs")]


@pytest.mark.parametrize("text", ["", "{}", '{"schema_version": 3}', "made 1 file"])
def test_something_else_is_no_document(text: str) -> None:
    with pytest.raises(TandemError, match="asynctest's output is not as expected"):
        read(text)
