"""The committed results of the experiments: whole, of the experiments as they are, and what the pages say of them."""

import re
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest
from harness_places import ROOT

from tandem.studies.registry import read_folder
from tandem.studies.reproduce.claims import ClaimResult
from tandem.studies.reproduce.conclusions import RowResult
from tandem.studies.reproduce.experiment import read_all

REFERENCES = ROOT / "results/reference-experiments"
EXPERIMENTS = read_all(ROOT)
FOLDERS = sorted(file.parent.name for file in REFERENCES.glob("*/result.json"))
MADE = [name for name in FOLDERS if "." not in name]
"""Those that the page speaks of first. NAME.wide beside NAME has every row, in fewer starts."""
PENDING = "*After the reference run.*"
NUMBER = r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?"
FIGURE = rf"(?:× )?{NUMBER}(?:/s)?"
PUBLISHED = rf"published {FIGURE}(?: and {FIGURE})*"


def reference(name: str) -> Any:
    _, result, _ = read_folder(REFERENCES / name)
    found = result.conclusions
    settings: Any = getattr(found, "settings", None)
    if settings is None:
        settings = SimpleNamespace(starts=found.starts, limits={"lines_percent": found.lines_percent})
    return SimpleNamespace(
        **{name: getattr(found, name) for name in ("experiment", "digest", "rows", "claims")},
        plan=result.request.plan,
        settings=settings,
        environment=result.environments,
        started_at=result.started_at,
    )


def records(name: str) -> list[Any]:
    """All of an experiment, the main one first."""
    return [reference(folder) for folder in FOLDERS if folder.partition(".")[0] == name]


def found_in_page(name: str) -> str:
    """What the page says was found, of one experiment, in one line."""
    page = (ROOT / "docs/origins.md").read_text()
    section = next(part for part in page.split("\n## ") if f"(`{name}`" in part.partition("\n")[0])
    return " ".join(section.partition("**Found.**")[2].split())


# ---- figures of a record, for the phrases below ----


def row(record: Any, label: str) -> RowResult:
    found: RowResult = next(one for one in record.rows if one.label == label)
    return found


def mean(record: Any, label: str, figure: str) -> float:
    found: float = row(record, label).figures[figure].mean
    return found


def means(record: Any, figure: str, words: str = "") -> list[float]:
    """Of the rows that have that figure, and these words in their label."""
    return [one.figures[figure].mean for one in record.rows if words in one.label and figure in one.figures]


def span(values: list[float]) -> str:
    return f"{min(values):.1f} to {max(values):.1f}"


def reached(record: Any, label: str) -> str:
    """The share of threads/delay, in percent."""
    return f"{100 * mean(record, label, 'goodput_rps') / row(record, label).ceilings['threads/delay']:.0f}"


def claim(record: Any, of: str, to: str, figure: str) -> ClaimResult:
    found: ClaimResult = next(
        one for one in record.claims if (one.of, one.to, one.figure) == (of, to, figure)
    )
    return found


def interval(found: ClaimResult) -> str:
    assert found.ratio.interval
    return "an interval from {:.2f} to {:.2f}".format(*found.ratio.interval)


def less(found: ClaimResult) -> str:
    assert found.ratio.ratio
    return f"{100 * (1 - found.ratio.ratio):.0f} % lower"


def held(record: Any) -> str:
    """The connections of wrk and oha that were open, and how many failed."""
    rows = [one for one in record.rows if one.settings["tool"] in ("wrk", "oha")]
    opened = min(min(float(one.settings["connections"]), one.figures["established"].mean) for one in rows)
    failed = sum(one.figures[name].mean for one in rows for name in ("connect_errors", "errors"))
    failures = f"{failed:,.0f}" if failed else "none"
    return f"{opened:,.0f} connections were open in every row of wrk and oha, and {failures} failed"


# ---- what the page has to say ----

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
SYNC_32 = [f"sync, 32 threads, {ms} ms" for ms in (20, 200, 1000)]
SYNC_20 = SYNC_32[0]
ASYNC, RUST = "async Python, as published, 4 ms", "async Rust, as published, 4 ms"
SYNC = "sync Python, as published, 4 ms"
TASKS, CPU, TRIPS = "tokio tasks, 10/10M", "app_cpu_us_per_request", "round_trips"
IDLE = "memory_per_idle_kib"
ALL: list[Callable[[Any], str]] = [
    lambda r: f"Plan {r.plan}, {NUMBERS[r.settings.starts]} start{'s' if r.settings.starts > 1 else ''}"
]
PHRASES: dict[str, list[Callable[[Any], str]]] = {
    "sync-to-async-python": [
        lambda r: interval(claim(r, ASYNC, SYNC, "goodput_rps")),
        lambda r: f"leave time for {span(means(r, TRIPS, 'equal, 15'))} round trips",
        lambda r: f"rows for {mean(r, ASYNC, TRIPS):.1f} and {mean(r, RUST, TRIPS):.1f}",
        lambda r: f"where {row(r, ASYNC).settings[TRIPS]} and {row(r, RUST).settings[TRIPS]} are",
    ],
    "hyper-delay": [
        lambda r: "{}, {} and {} % of *threads / delay*".format(*(reached(r, one) for one in SYNC_32)),
        lambda r: f"{mean(r, 'sync, 2 threads, 1000 ms', 'goodput_rps'):.1f}/s. 100 threads",
        lambda r: f"it is {mean(r, 'async1, 20 ms', CPU):.0f} µs of CPU in one reactor thread",
        lambda r: f"{mean(r, 'async2 (sum), 32 threads, 20 ms', CPU):.0f} µs with the sum in a pool of 32",
        lambda r: f"{mean(r, 'sync, 100 threads, 20 ms', CPU):.0f} µs in a hundred threads that sleep",
    ],
    "hyper-payload": [
        lambda r: f"costs {span([us / 1e3 for us in means(r, CPU)])} ms of CPU",
        lambda r: f"{reached(r, 'sync, 2 threads, 20 ms')} % of *threads / delay*",
        lambda r: interval(claim(r, "async2 (parse+sum), 32 threads, 20 ms", SYNC_20, "goodput_rps")),
    ],
    "chatbot-pool": [
        lambda r: f"costs {min(means(r, CPU)):,.0f} to {max(means(r, CPU)):,.0f} µs",
    ],
    "hyper-microservice": [
        held,
        lambda r: f"All {int(r.rows[0].settings['connections']):,} connections hold",
    ],
    "cpp-connections": [
        lambda r: "{:.1f} KiB against {:.1f}, Node.js {:.1f}".format(*means(r, IDLE, ", 1,000")),
        lambda r: "{:.1f}, {:.1f} and {:.1f} with 10,000".format(*means(r, IDLE, ", 10,000")),
        lambda r: f"mean time is {less(claim(r, 'cpp-async, 7,000', 'cpp-sync, 7,000', 'mean_ms'))}",
        lambda r: f"in {r.started_at.year} it is on the same axis",
    ],
    "file-io": [
        lambda r: f"{r.settings.limits['lines_percent']} % of the lines",
        lambda r: f"each {int(row(r, TASKS).settings['buffer'].removesuffix(' bytes')) // 1024} KiB travel",
        lambda r: interval(claim(r, "tokio tasks, Arc<Mutex>, 10/10M", TASKS, "time_ms")),
        lambda r: f"one thread is at {mean(r, 'sync, one thread, 10/10M', 'loop_ratio'):.2f}",
        lambda r: f"rayon at {mean(r, 'sync, rayon, 10/10M', 'loop_ratio'):.2f} times the tight loop",
        lambda r: "they are at {:.2f} and {:.2f}".format(
            *(mean(r, f"sync, {way}, 10/10M, 64 KiB", "loop_ratio") for way in ("one thread", "rayon"))
        ),
        lambda r: "reads 256 KiB at a time",
    ],
}
"""Of each experiment: what is told of its record beside ratios and rates. With a new record the page changes alone."""


def told(ratios: Iterable[float | None], rates: Iterable[float | None]) -> set[str]:
    """As they are written: × 1.23 and 1,234/s."""
    return {f"× {value:,.2f}" for value in ratios if value is not None} | {
        f"{value:,.0f}/s" for value in rates if value is not None
    }


def wrong(text: str, records: list[Any]) -> list[str]:
    """What a text lacks or has wrong: phrases that it should have, then numbers that are neither in one of them, nor
    a ratio or rate of a record or (behind the word `published`) of the document, nor in a row's label."""
    record, rows = records[0], [row for record in records for row in record.rows]
    claims = [claim for record in records for claim in record.claims]
    phrases = [phrase(record) for phrase in ALL + PHRASES.get(record.experiment, [])]
    missing = [phrase for phrase in phrases if phrase not in text]
    ours = text
    for phrase in phrases:
        ours = ours.replace(phrase, "")
    theirs = " ".join(re.findall(PUBLISHED, ours))
    ours = re.sub(PUBLISHED, "", ours)
    published = told((one.published for one in claims), (one.published.get("goodput_rps") for one in rows))
    rates = [rate for record in records for rate in means(record, "goodput_rps")]
    known = told((one.ratio.ratio for one in claims), rates)
    known |= {number for one in rows for number in re.findall(NUMBER, one.label)}
    return [
        *missing,
        *(figure for figure in re.findall(FIGURE, ours) if figure not in known),
        *(figure for figure in re.findall(FIGURE, theirs) if figure not in published),
    ]


# ---- the tests ----


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_reference_is_of_what_the_experiment_is_today(folder: str) -> None:
    name, _, plan = folder.partition(".")
    record, experiment = reference(folder), EXPERIMENTS[name]
    assert record.experiment == name
    assert plan in ("", record.plan)
    assert record.digest == experiment.digest(record.plan), "what is measured has changed: measure it again"
    assert any(environment.host.get("cpu_model") for environment in record.environment.values())


@pytest.mark.parametrize("name", MADE)
def test_the_page_says_what_the_record_says(name: str) -> None:
    text, sentence = found_in_page(name), EXPERIMENTS[name].sentence
    assert sentence
    assert " ".join(sentence.split()) in text
    assert wrong(text, records(name)) == []
    for record in records(name)[1:]:
        folder = f"`results/reference-experiments/{name}.{record.plan}`"
        assert f"by plan {record.plan} in {NUMBERS[record.settings.starts]} starts, is in {folder}" in text


@pytest.mark.parametrize("name", MADE)
def test_the_readme_says_what_became_of_it(name: str) -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    [row] = [line for line in lines if line.startswith(f"| [`{name}`](docs/origins.md#")]
    assert row.endswith(f" | {EXPERIMENTS[name].sentence} |")


@pytest.mark.parametrize("name", sorted(EXPERIMENTS.keys() - set(MADE)))
def test_without_a_reference_nothing_is_said(name: str) -> None:
    assert not EXPERIMENTS[name].sentence
    assert found_in_page(name) == PENDING


@pytest.mark.parametrize("name", MADE)
def test_a_changed_figure_is_noticed(name: str) -> None:
    text, made = found_in_page(name), records(name)
    figures = list(re.finditer(NUMBER, text))
    assert len(figures) > 5
    for figure in figures:
        changed = f"{text[: figure.start()]}98,765.43{text[figure.end() :]}"
        assert wrong(changed, made), f"'{figure[0]}' of '{text[figure.start() - 20 : figure.end()]}'"
