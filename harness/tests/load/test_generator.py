"""tandem.load.generator: oha's command line, version and summary."""

from dataclasses import replace
from pathlib import Path

import pytest

from tandem.catalog.bodies import SentBodies
from tandem.errors import TandemError
from tandem.load.generator import OHA, Generator, Load, arguments, check_version, read_report
from tandem.load.vegeta import VEGETA

ALWAYS = ["oha", "--no-tui", "--worker-threads", "2", "-t", "10s", "-w", "-r", "0"]


def load(rate_rps: int | None = None, urls: list[str] | None = None) -> Load:
    return Load(
        url="http://proxy:8080/api/v1/recipes",
        duration_s=30,
        connections=50,
        threads=2,
        headers={"Cookie": "sessionid=1", "Accept": "*/*"},
        rate_rps=rate_rps,
        urls=urls,
    )


WINDOW = [*ALWAYS, "-z", "30s", "-c", "50", "--output-format", "json"]
FILES = ["-o", "/tmp/w.json", "--db-url", "/tmp/w.sqlite"]
HEADERS = ["-H", "Cookie: sessionid=1", "-H", "Accept: */*"]


def test_a_closed_loop() -> None:
    assert arguments(load(), "w") == [*WINDOW, *FILES, *HEADERS, "http://proxy:8080/api/v1/recipes"]


def test_an_open_loop_is_corrected_for_latency() -> None:
    """-q without --latency-correction suffers coordinated omission; the latter without -q is ignored."""
    pace = ["-q", "500", "--latency-correction"]
    assert arguments(load(500), "w") == [*WINDOW, *FILES, *pace, *HEADERS, "http://proxy:8080/api/v1/recipes"]


def test_a_body_comes_from_a_file() -> None:
    for option, bodies in (("-D", SentBodies.of(b"[1]")), ("-Z", SentBodies.of(b"[1]", b"[2]"))):
        posted = replace(load(), method="POST", bodies=bodies)
        body = ["-m", "POST", option, f"/tmp/body-{bodies.name}"]
        assert arguments(posted, "w") == [
            *WINDOW,
            *FILES,
            *body,
            *HEADERS,
            "http://proxy:8080/api/v1/recipes",
        ]


def test_many_urls_come_from_a_file() -> None:
    found = arguments(load(urls=["http://a/1", "http://a/2"]), "w")
    assert found == [*WINDOW, *FILES, *HEADERS, "--urls-from-file", "/tmp/w.urls"]


def test_oha_as_a_generator() -> None:
    assert OHA.inputs(load(), "w") == {}
    assert OHA.inputs(load(urls=["http://a/1", "http://a/2"]), "w") == {"urls": "http://a/1\nhttp://a/2\n"}
    assert OHA.arguments(load(500), "w") == arguments(load(500), "w")


def test_what_a_load_leaves_is_what_is_read() -> None:
    """The files that are copied home are those on the command line, for every generator."""
    generators: list[Generator] = [OHA, VEGETA]
    for generator in generators:
        command = " ".join(generator.arguments(load(500), "w"))
        for suffix in generator.suffixes:
            assert f"/tmp/w.{suffix}" in command or f'"$name.{suffix}"' in command


@pytest.mark.parametrize(
    ("text", "version"), [("oha 1.16.0", "1.16.0"), ("oha 1.14.0\n", "1.14.0"), ("oha 1.99.1-beta", "1.99.1")]
)
def test_a_version_that_will_do(text: str, version: str) -> None:
    assert check_version(text) == version


@pytest.mark.parametrize("text", ["oha 2.0.0", "oha 2.0.1-beta", "oha 10.3.0"])
def test_a_version_that_nobody_has_looked_at(text: str) -> None:
    with pytest.raises(TandemError, match=r"is not supported: 1\.x is\."):
        check_version(text)


@pytest.mark.parametrize("text", ["oha 1.13.9", "oha 0.99.0", "1.9.0"])
def test_a_version_that_is_too_old(text: str) -> None:
    with pytest.raises(TandemError, match=r"is too old: 1\.14 or newer"):
        check_version(text)


@pytest.mark.parametrize("text", ["", "oha", "command not found", "oha 1.16"])
def test_a_version_that_cannot_be_told(text: str) -> None:
    with pytest.raises(TandemError, match="did not report its version"):
        check_version(text)


@pytest.mark.parametrize("name", ["closed", "open"])
def test_a_real_summary(fixtures: Path, name: str) -> None:
    """oha calls all of them successes: its successRate is 1.0 with eight 503 among them."""
    report = read_report(fixtures / f"oha-{name}.json")
    assert report.statusCodeDistribution == {"200": 192, "503": 8}
    assert report.errorDistribution == {}
    assert report.answered == 200
    assert '"successRate": 1.0' in (fixtures / f"oha-{name}.json").read_text()


def test_a_real_summary_of_a_dead_server(fixtures: Path) -> None:
    report = read_report(fixtures / "oha-refused.json")
    assert report.errorDistribution == {"Connection refused (os error 111)": 4}
    assert report.answered == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{}",
        "[]",
        "oha: error",
        '{"statusCodeDistribution": {"200": "many"}}',
        '{"errorDistribution": null}',
    ],
)
def test_a_summary_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    file = tmp_path / "closed.json"
    file.write_text(text)
    with pytest.raises(TandemError, match=r"closed\.json: .* cannot be read"):
        read_report(file)


def test_a_summary_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(TandemError, match=r"none\.json: .* cannot be read"):
        read_report(tmp_path / "none.json")
