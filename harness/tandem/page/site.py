"""Builds the site: reads results one by one, keeps what the first page needs of each, and writes a page for each."""

import base64
import hashlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from rich.console import RenderableType

from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError
from tandem.facts.session import read_sessions
from tandem.facts.statement import read_statements
from tandem.lab.provenance import TANDEM_VERSION
from tandem.page import documents, nights, statements
from tandem.page.data import PageData, script
from tandem.page.first import FirstPage
from tandem.page.plots import OF_RESULTS, specs_of
from tandem.page.read import Header, NotShown, find, read
from tandem.page.result import ResultView, report_parts, result_page
from tandem.record.result import Publication
from tandem.record.store import give
from tandem.record.window import Verdict

TEMPLATES = Path(__file__).parent / "templates"
FOLDER = "page"
"""Folder of the results where the site is by default."""
RUNS_MOST = 1_000
"""Number of the newest results that are read whole and have a page; of older ones the headline is listed."""
DRAWN_MOST = 40
"""Number of the newest results with their pictures on their own pages, too: each such page has the drawing code in it."""
TOLD_EVERY = 100


@cache
def bundle() -> str:
    """Vega, Vega-Lite and vega-embed as one classic script."""
    import vl_convert  # here, because loading it takes longer than most commands

    text = str(vl_convert.javascript_bundle())  # type: ignore[call-arg]  # its stub asks for what is optional
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def digest(text: str) -> str:
    """What a content security policy calls an inline script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


class Site:
    """Writes pages below a folder. root: of the repository; records: see build."""

    def __init__(self, out: Path, root: Path, records: str | None = None) -> None:
        self.out, self.root, self.records = out, root, records
        self.catalog = Catalog(root)
        self.templates = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.style, self.code = ((TEMPLATES / f"page.{kind}").read_text() for kind in ("css", "js"))

    def write(self, path: str, template: str, draws: PageData | None = None, **values: Any) -> Path:
        """A page. draws: what its pictures are drawn from. Whatever is in values is escaped, but for what is Markup."""
        scripts = [self.code]
        if draws is not None:
            scripts = [bundle(), self.code] if draws.sets or draws.figures else scripts
            values["data"] = Markup(script(draws.as_json(specs_of(draws.sets))))
        text = self.templates.get_template(template).render(
            policy=f"default-src 'none'; script-src {' '.join(map(digest, scripts))}; style-src {digest(self.style)};"
            " img-src data:; base-uri 'none'; form-action 'none'",
            style=Markup(self.style),
            scripts=[Markup(each) for each in scripts],
            up="../" * path.count("/"),
            version=TANDEM_VERSION,
            **values,
        )
        file = self.out / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def write_result(
        self, header: Header, pictures: bool = True, first: FirstPage | None = None
    ) -> NotShown | None:
        """Read a result, write its page, and tell the first page. What a record holds may break a report; that is said and no
        more."""
        try:
            run = read(header)
        except TandemError as error:
            return NotShown(header.name, str(error))
        try:
            view, path = ResultView(run, self.catalog), f"runs/{header.slug}.html"
            draws = view.data() if pictures else PageData()
            shown = result_page(run, self.out.resolve() / path, self.root, self.records)
            plots = [plot for plot in OF_RESULTS if plot.name in draws.sets]
            self.write(path, "run.html", draws, plots=plots, figures=draws.figures, **shown)
            if first is not None:
                first.add(view)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            return NotShown(header.name, f"cannot be shown: {type(error).__name__}: {error}"[:300])
        return None

    def write_documents(self) -> None:
        """The documents of the repository, and their list with a search."""
        found = list(documents.documents(self.root))
        for page in found:
            self.write(page.path, "doc.html", title=page.title, body=Markup(page.html))
        pages = [
            {"href": page.path.removeprefix(f"{documents.FOLDER}/"), "title": page.title, "text": page.text}
            for page in found
        ]
        self.write(f"{documents.FOLDER}/index.html", "docs.html", pages=pages, data=Markup(script(pages)))

    def give(self) -> None:
        """Give the files to the owner of the repository: the harness's container runs as root."""
        if self.out.is_relative_to(self.root):
            give(self.out, self.root)


@dataclass(frozen=True)
class Built:
    """What came out of a build of the site."""

    runs: int
    older: int
    broken: list[NotShown]


def build(
    folders: Sequence[Path],
    out: Path,
    root: Path,
    progress: Callable[[str], None],
    records: str | None = None,
    claims: Sequence[Publication] = (),
) -> Built:
    """Builds the whole site. records: address of the repository's files, for a site that does not lie beside them. claims: those
    that people quote, measured or not. Raises TandemError where the folder holds something else."""
    prepare(out)
    site = Site(out, root, records)
    first = FirstPage(site.catalog)
    headers, broken = find(folders, root)
    for number, header in enumerate(headers[:RUNS_MOST], start=1):
        if not_shown := site.write_result(header, number <= DRAWN_MOST, first):
            broken.append(not_shown)
        if number % TOLD_EVERY == 0:
            progress(f"{number:,} of {len(headers):,} results")
    for header in headers[RUNS_MOST:]:
        first.add_older(header)
    history, unread = nights.read_nights(folders, root)
    first.add_nights(history)
    sessions, damaged = read_sessions(root / "results")
    broken += [*unread, *(NotShown("session", reason) for reason in damaged)]
    stated = statements.section(sessions, read_statements(root), site.catalog)
    values = first.values(stated, claims, broken)
    site.write("index.html", "index.html", first.data, **values)
    (out / "answers.json").write_text(stated.answers.model_dump_json(indent=1) + "\n", encoding="utf-8")
    for one in stated.answers.answers:
        site.write(f"badges/{one.name}.svg", "badge.svg", texts=statements.badge(one))
    site.write_documents()
    site.give()
    return Built(first.shown, first.older, broken)


def page_alone(folder: Path, results: Path, root: Path) -> Path:
    """Writes the page of one result, where the whole site has it. Raises TandemError."""
    site = Site(results / FOLDER, root)
    headers, broken = find([folder], root)
    header = next((header for header in headers if header.path == folder.resolve()), None)
    if header is None:
        why = "; ".join(f"{one.name}: {one.reason}" for one in broken)
        raise TandemError(why or f"{folder} holds no result")
    if not_shown := site.write_result(header):
        raise TandemError(f"{not_shown.name}: {not_shown.reason}")
    site.give()
    return site.out / f"runs/{header.slug}.html"


def page_told(
    name: str, sentence: str, verdict: Verdict, report: RenderableType, results: Path, root: Path
) -> Path:
    """Writes the page of what is no study: a self-test, an outcome matrix. The newest one replaces the one before."""
    site = Site(results / FOLDER, root)
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    values: dict[str, Any] = {"title": name, "sentence": sentence, "verdict": verdict, "when": when}
    page = site.write(f"runs/{name}.html", "report.html", parts=list(report_parts(report)), **values)
    site.give()
    return page


def prepare(out: Path) -> None:
    """An empty place. Only what an earlier build left is removed. Raises TandemError for a folder of something else."""
    alone = {"runs"}  # what page_alone leaves where there is no site yet
    there = {path.name for path in out.iterdir()} if out.exists() else set()
    if there - alone and "index.html" not in there:
        raise TandemError(f"{out} is not empty and holds no site: give another folder with --out")
    for part in ("runs", "badges", documents.FOLDER):
        shutil.rmtree(out / part, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
