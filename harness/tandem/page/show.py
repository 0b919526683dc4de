"""One result as its page has it. Pure but for listing the files of its folder."""

import base64
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rich.console import RenderableType
from rich.table import Table

from tandem.page.data import PageRow
from tandem.page.read import Run
from tandem.record.trial import Trial
from tandem.record.window import Window
from tandem.report.markdown import cells, parts_in
from tandem.report.parts import conditions_line, host_line, host_told
from tandem.wording import limited_by, number

FILES_MOST = 400
"""So many files of a result are listed."""
WINDOW = (
    "trial",
    "window",
    "variant",
    "load",
    "offered, 1/s",
    "goodput, 1/s",
    "p50, ms",
    "p90, ms",
    "p99, ms",
)
WINDOW_MORE = ("p99.9, ms", "slowest, ms", "limited by", "verdict")


@dataclass(frozen=True)
class Sheet:
    """A table."""

    title: str
    headings: list[str]
    rows: list[list[str]]
    numbers: list[bool]


@dataclass(frozen=True)
class Shown:
    """What the template has."""

    title: str
    headline: str
    conditions: str
    host: str
    parts: list[Sheet | str]
    """Of the report: tables and sentences."""
    windows: Sheet | None
    findings: list[str]
    settings: Sheet | None
    versions: Sheet | None
    files: list[tuple[str, str]]
    """Name and address from the page."""
    more_files: int
    pictures: list[tuple[str, str]] = field(default_factory=list)
    """Name and data URI."""


def show(run: Run, page: Path, root: Path, records: str | None = None) -> Shown:
    """page: the file that it becomes. records: address of the files of the repository at root; None: they lie beside the
    site."""
    listed, more = _files(run.header.folder, page, root, records)
    request = run.result.request
    return Shown(
        title=f"{request.study}: {request.title or ', '.join(variant.label for variant in request.variants[:4])}",
        headline=run.result.headline or run.kind.headline(run.result.conclusions.model_dump(mode="json")),
        conditions=conditions_line(request),
        host="; ".join([host_line(run.result), *host_told(run.result)]),
        parts=list(parts(run.kind.report(run.result))),
        windows=_windows(run.trials),
        findings=_findings(run),
        settings=_of_environments(run, "settings"),
        versions=_of_environments(run, "versions"),
        files=listed,
        more_files=more,
        pictures=_pictures(run.header.folder),
    )


def parts(report: RenderableType) -> Iterator[Sheet | str]:
    """A report's tables and sentences, in their order."""
    for part in parts_in(report):
        if isinstance(part, Table):
            headings, rows, numbers = cells(part)
            yield Sheet(str(part.title or ""), headings, rows, numbers)
        elif part.plain.strip():
            yield part.plain


def _windows(trials: list[Trial]) -> Sheet | None:
    rows = [
        [trial.spec.key, record.spec.name, label, *_figures(window)]
        for trial in trials
        for record in trial.windows
        for label, window in record.windows.items()
    ]
    if not rows:
        return None
    headings = [*WINDOW, *WINDOW_MORE]
    return Sheet("", headings, rows, [heading.endswith(("1/s", "ms")) for heading in headings])


def _figures(window: Window) -> list[str]:
    times = window.response_time_ms or window.service_time_ms
    told = (times.p50, times.p90, times.p99, times.p999, times.max)
    return [
        window.load,
        number(window.offered_rps),
        number(window.goodput_rps),
        *(number(value, 1) for value in told),
        limited_by(window.bottleneck),
        str(window.verdict),
    ]


def _findings(run: Run) -> list[str]:
    """All that any check noticed, once."""
    found = [f"{finding.severity}: {finding.text} [{finding.code}]" for finding in run.result.findings]
    for trial in run.trials:
        found += [
            f"{trial.spec.key}: {one.severity}: {one.text} [{one.code}]" for one in trial.all_findings()
        ]
    return list(dict.fromkeys(found))


def _of_environments(run: Run, part: str) -> Sheet | None:
    """A row for each setting or version; one column where all variants have the same."""
    of = {label: getattr(environment, part) for label, environment in run.result.environments.items()}
    names = sorted({name for own in of.values() for name in own})
    if not names:
        return None
    if len({tuple(sorted(own.items())) for own in of.values()}) == 1:
        of = {"all variants": next(iter(of.values()))}
    rows = [[name, *(own.get(name, "–") or "–" for own in of.values())] for name in names]
    return Sheet("", ["name", *of], rows, [False] * (len(of) + 1))


def _files(folder: Path, page: Path, root: Path, records: str | None) -> tuple[list[tuple[str, str]], int]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())

    def address(file: Path) -> str:
        if records is not None and file.is_relative_to(root):
            return records + quote(file.relative_to(root).as_posix())
        return quote(Path(os.path.relpath(file, page.parent)).as_posix())

    listed = [(file.relative_to(folder).as_posix(), address(file)) for file in files[:FILES_MOST]]
    return listed, len(files) - len(listed)


def _pictures(folder: Path) -> list[tuple[str, str]]:
    """SVG files beside the result. An image runs no script, wherever it comes from."""
    return [
        (file.stem, f"data:image/svg+xml;base64,{base64.b64encode(file.read_bytes()).decode()}")
        for file in sorted(folder.glob("*.svg"))
    ]


def drawn(run: Run) -> list[tuple[PageRow, dict[str, Any]]]:
    """The pictures that a study adds: words, and its Vega-Lite. Raises ValueError where one cannot stand in a page."""
    found = []
    for one in run.kind.pictures(run.result):
        json.dumps(one.spec, allow_nan=False)
        words = {
            "id": f"{run.slug}-{one.name}",
            "name": one.name,
            "study": run.kind.name,
            "title": one.title,
            "says": one.says,
            "slug": run.slug,
            "section": one.section,
            "read": one.read,
        }
        found.append((words, one.spec))
    return found
