"""tandem.load.generator: oha's command line, version and summary."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tandem.catalog.bodies import SentBodies
from tandem.errors import TandemError
from tandem.load.generator import OHA, Generator, Load, arguments, check_version, read_report
from tandem.load.vegeta import VEGETA

URL = "http://proxy:8080/api/v1/recipes"
LOAD = Load(URL, 30, 50, 2, {"Cookie": "sessionid=1", "Accept": "*/*"})
ALWAYS = ["oha", "--no-tui", "--worker-threads", "2", "-t", "10s", "-w", "-r", "0"]
WINDOW = [*ALWAYS, "-z", "30s", "-c", "50", "--output-format", "json"]
FILES = ["-o", "/tmp/w.json", "--db-url", "/tmp/w.sqlite"]
HEADERS = ["-H", "Cookie: sessionid=1", "-H", "Accept: */*"]
ONE, TWO = SentBodies.of(b"[1]"), SentBodies.of(b"[1]", b"[2]")
URLS = ["http://a/1", "http://a/2"]


@pytest.mark.parametrize(
    ("changes", "told", "target"),
    [
        ({}, [], [URL]),
        # -q without --latency-correction suffers coordinated omission; the latter without -q is ignored.
        ({"rate_rps": 500}, ["-q", "500", "--latency-correction"], [URL]),
        ({"method": "POST", "bodies": ONE}, ["-m", "POST", "-D", f"/tmp/body-{ONE.name}"], [URL]),
        ({"method": "POST", "bodies": TWO}, ["-m", "POST", "-Z", f"/tmp/body-{TWO.name}"], [URL]),
        ({"urls": URLS}, [], ["--urls-from-file", "/tmp/w.urls"]),
    ],
)
def test_the_command_line(changes: dict[str, Any], told: list[str], target: list[str]) -> None:
    load = replace(LOAD, **changes)
    assert arguments(load, "w") == [*WINDOW, *FILES, *told, *HEADERS, *target]
    assert OHA.arguments(load, "w") == arguments(load, "w")
    assert OHA.inputs(load, "w") == ({"urls": "http://a/1\nhttp://a/2\n"} if load.urls else {})


def test_what_a_load_leaves_is_what_is_read() -> None:
    """The files that are copied home are those on the command line, for every generator."""
    generators: list[Generator] = [OHA, VEGETA]
    for generator in generators:
        command = " ".join(generator.arguments(replace(LOAD, rate_rps=500), "w"))
        for suffix in generator.suffixes:
            assert f"/tmp/w.{suffix}" in command or f'"$name.{suffix}"' in command


OTHER, OLD, NONE = r"is not supported: 1\.x is\.", r"is too old: 1\.14 or newer", "did not report its version"


@pytest.mark.parametrize(
    ("text", "version", "problem"),
    [
        ("oha 1.16.0", "1.16.0", ""),
        ("oha 1.14.0\n", "1.14.0", ""),
        ("oha 1.99.1-beta", "1.99.1", ""),
        *((text, "", OTHER) for text in ("oha 2.0.0", "oha 2.0.1-beta", "oha 10.3.0")),
        *((text, "", OLD) for text in ("oha 1.13.9", "oha 0.99.0", "1.9.0")),
        *((text, "", NONE) for text in ("", "oha", "command not found", "oha 1.16")),
    ],
)
def test_a_version_will_do_or_is_refused(text: str, version: str, problem: str) -> None:
    if problem:
        with pytest.raises(TandemError, match=problem):
            check_version(text)
    else:
        assert check_version(text) == version


@pytest.mark.parametrize(
    ("name", "statuses", "errors"),
    [
        ("closed", {"200": 192, "503": 8}, {}),
        ("open", {"200": 192, "503": 8}, {}),
        ("refused", {}, {"Connection refused (os error 111)": 4}),
    ],
)
def test_a_real_summary(fixtures: Path, name: str, statuses: dict[str, int], errors: dict[str, int]) -> None:
    """oha calls all of them successes: its successRate is 1.0 with eight 503 among them."""
    report = read_report(fixtures / f"oha-{name}.json")
    assert (report.statusCodeDistribution, report.errorDistribution) == (statuses, errors)
    assert report.answered == sum(statuses.values())


@pytest.mark.parametrize(
    "text",
    ["", "{", "{}", "[]", "oha: error", '{"statusCodeDistribution": {"200": "many"}}', '{"errorDistribution": null}', None],
)  # fmt: skip
def test_a_summary_that_cannot_be_read(tmp_path: Path, text: str | None) -> None:
    """The last one is missing."""
    if text is not None:
        (tmp_path / "closed.json").write_text(text)
    with pytest.raises(TandemError, match=r"closed\.json: .* cannot be read"):
        read_report(tmp_path / "closed.json")
