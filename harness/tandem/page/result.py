"""The page of one result. Pure but for listing the files of its folder."""

import base64
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rich.console import RenderableType
from rich.table import Table

from tandem.catalog.catalog import Catalog
from tandem.page.data import AddedFigure, PageData, PageRow
from tandem.page.lines import lines
from tandem.page.plots import OF_RESULTS, Plot
from tandem.page.read import Run
from tandem.record.trial import Trial
from tandem.report.markdown import cells, parts_in, pictures_in
from tandem.report.parts import conditions_line, host_line, host_told
from tandem.wording import limited_by, number

FILES_MOST = 400
"""The most files of a result that are listed."""
WINDOWS = (
    *("trial", "window", "variant", "load", "offered, 1/s", "goodput, 1/s", "p50, ms", "p90, ms", "p99, ms"),
    *("p99.9, ms", "slowest, ms", "limited by", "verdict"),
)


class ResultView:
    """A result with what pages draw of it, each made once."""

    def __init__(self, run: Run, catalog: Catalog) -> None:
        self.run, self.lines = run, lines(run, catalog)
        self._rows: dict[str, list[PageRow]] = {}

    def rows(self, plot: Plot) -> list[PageRow]:
        """Rows of a picture."""
        if plot.name not in self._rows:
            rows = plot.rows(self.run, self.lines) if plot.rows else ()
            self._rows[plot.name] = [{"run": self.run.slug, **row} for row in rows]
        return self._rows[plot.name]

    @cached_property
    def figures(self) -> list[AddedFigure]:
        """The pictures of its report. Raises ValueError where one cannot stand in a page."""
        found = pictures_in(self.run.kind.report(self.run.result))
        json.dumps([one.spec for one in found], allow_nan=False)
        return [AddedFigure(**vars(one), slug=self.run.slug) for one in found]

    def describe(self, data: PageData) -> None:
        """Tell a page what the result is called and under which conditions it was made."""
        request, started = self.run.result.request, self.run.result.started_at
        labels = [variant.label for variant in request.variants]
        name = request.title or ", ".join(labels[:3]) + (" …" if len(labels) > 3 else "")
        slug = self.run.slug
        data.names[slug] = f"{request.study}: {name}, {request.scenario}, {started:%Y-%m-%d}"
        data.conditions[slug] = f"{conditions_line(request)}. {host_line(self.run.result)}."

    def data(self) -> PageData:
        """All that the result's own page draws from."""
        data = PageData({plot.name: rows for plot in OF_RESULTS if (rows := self.rows(plot))}, self.figures)
        self.describe(data)
        return data


@dataclass(frozen=True)
class PageTable:
    """A table."""

    title: str
    headings: list[str]
    rows: list[list[str]]
    numbers: list[bool]
    """Whether each column is of numbers."""


def result_page(run: Run, page: Path, root: Path, records: str | None = None) -> dict[str, Any]:
    """What the template shows. page: the file that it becomes. records: address of the files of the repository at root; None:
    they lie beside the site."""
    files, more = _files(run.header.path, page, root, records)
    result, request = run.result, run.result.request
    return {
        "title": f"{request.study}: {request.title or ', '.join(one.label for one in request.variants[:4])}",
        "headline": result.headline,
        "about": f"{conditions_line(request)}. {'; '.join([host_line(result), *host_told(result)])}. Seed {request.seed}.",
        "parts": list(report_parts(run.kind.report(result))),
        "windows": _windows(run.trials),
        "findings": _findings(run),
        "settings": _of_environments(run, "settings"),
        "versions": _of_environments(run, "versions"),
        "files": files,
        "more_files": more,
        "svgs": [  # an image runs no script, wherever it comes from
            (file.stem, f"data:image/svg+xml;base64,{base64.b64encode(file.read_bytes()).decode()}")
            for file in sorted(run.header.path.glob("*.svg"))
        ],
        "elsewhere": records is not None,
        "run": run,
    }


def report_parts(report: RenderableType) -> Iterator[PageTable | str]:
    """A report's tables and sentences, in their order."""
    for part in parts_in(report):
        if isinstance(part, Table):
            yield PageTable(str(part.title or ""), *cells(part))
        elif part.plain.strip():
            yield part.plain


def _windows(trials: list[Trial]) -> PageTable | None:
    rows = []
    for trial in trials:
        for record in trial.windows:
            for label, window in record.windows.items():
                times = window.response_time_ms or window.service_time_ms
                ms = (times.p50, times.p90, times.p99, times.p999, times.max)
                rates = number(window.offered_rps), number(window.goodput_rps)
                of = trial.spec.key, record.spec.name, label, window.load
                ending = limited_by(window.bottleneck), str(window.verdict)
                rows.append([*of, *rates, *(number(value, 1) for value in ms), *ending])
    numbers = [heading.endswith(("1/s", "ms")) for heading in WINDOWS]
    return PageTable("", list(WINDOWS), rows, numbers) if rows else None


def _findings(run: Run) -> list[str]:
    """All that any check noticed, once."""
    found = [("", one) for one in run.result.findings]
    found += [(f"{trial.spec.key}: ", one) for trial in run.trials for one in trial.all_findings()]
    return list(dict.fromkeys(f"{at}{one.severity}: {one.text} [{one.code}]" for at, one in found))


def _of_environments(run: Run, part: str) -> PageTable | None:
    """A row for each setting or version; one column where all variants have the same."""
    of = {label: getattr(environment, part) for label, environment in run.result.environments.items()}
    names = sorted({name for own in of.values() for name in own})
    if not names:
        return None
    if len({tuple(sorted(own.items())) for own in of.values()}) == 1:
        of = {"all variants": next(iter(of.values()))}
    rows = [[name, *(own.get(name, "–") or "–" for own in of.values())] for name in names]
    return PageTable("", ["name", *of], rows, [False] * (len(of) + 1))


def _files(folder: Path, page: Path, root: Path, records: str | None) -> tuple[list[tuple[str, str]], int]:
    """Names and addresses, and how many more there are."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())

    def address(file: Path) -> str:
        if records is not None and file.is_relative_to(root):
            return records + quote(file.relative_to(root).as_posix())
        return quote(Path(os.path.relpath(file, page.parent)).as_posix())

    listed = [(file.relative_to(folder).as_posix(), address(file)) for file in files[:FILES_MOST]]
    return listed, len(files) - len(listed)
