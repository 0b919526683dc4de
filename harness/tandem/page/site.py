"""Builds the site: reads results one by one, keeps what the first page needs of each, and writes a page for each."""

import base64
import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from rich.console import RenderableType

from tandem.analysis.cost import TOTAL
from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError
from tandem.facts.metric import metric, told_coordinates
from tandem.facts.session import read_sessions
from tandem.facts.statement import read_statements
from tandem.lab.provenance import TANDEM_VERSION
from tandem.page import detail, documents, nights, plots, statements
from tandem.page.answers import ToldAnswer, answer, language
from tandem.page.data import PageRow, Texts, columns, script
from tandem.page.lines import Kinds, Line, kinds, lines
from tandem.page.outcomes import Outcomes, ToldExperiment, experiment
from tandem.page.pairs import COST, RATE, ModelPair, Question, best, pairs
from tandem.page.read import Header, NotShown, Run, find, read
from tandem.page.show import drawn, parts, show
from tandem.page.specs import SPECS
from tandem.record.store import give
from tandem.record.window import Verdict
from tandem.report.forest import SAYS
from tandem.report.parts import conditions_line, host_line
from tandem.studies.reproduce.experiment import Experiment, read_claims

HERE = Path(__file__).parent / "templates"
FOLDER = "page"
"""Of the results: where the site is by default."""
RUNS_MOST = 1_000
"""So many of the newest results are read whole and have a page; of older ones the headline is listed."""
LINES_MOST = 10_000
"""So many lines has the table; then a result is one line."""
RATIOS_MOST, DETAILED_MOST, SECONDS_MOST, SAME_MOST = 40, 12, 3, 3
"""Results in the picture of the ratios; with percentiles, roles, loads and settings; with single seconds. Pictures of a kind
that a study adds."""
DRAWN_MOST = 40
"""So many of the newest results have their pictures on their own pages, too: each such page has the drawing code in it."""
ON_RUN = ("forest", "sweep", "load", "roles", "percentiles", "seconds")
"""The pictures that it then has, besides those of its study."""
TOLD_EVERY = 100

HUES = {
    "python": "--lang-python",
    "rust": "--lang-rust",
    "cpp": "--lang-cpp",
    "javascript": "--lang-node",
    "typescript": "--lang-node",
}
SAME_ROWS = {"cost": "roles"}
"""A picture -> the rows of another, which it is drawn from."""
type Tell = Callable[[str], None]


@cache
def bundle() -> str:
    """Vega, Vega-Lite and vega-embed as one classic script."""
    import vl_convert  # here, because loading it takes longer than most commands

    text = str(vl_convert.javascript_bundle())  # type: ignore[call-arg]  # its stub asks for what is optional
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def digest(text: str) -> str:
    """What a content security policy calls an inline script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@dataclass
class Gathered:
    """What the first page needs of all results."""

    kinds: Kinds
    outcomes: Outcomes
    lines: list[PageRow] = field(default_factory=list)
    pairs: list[ModelPair] = field(default_factory=list)
    sets: dict[str, list[PageRow]] = field(default_factory=dict)
    runs: dict[str, str] = field(default_factory=dict)
    """Slug -> how a result, or a nightly history, is called in a choice."""
    conditions: dict[str, str] = field(default_factory=dict)
    experiments: list[ToldExperiment] = field(default_factory=list)
    figures: list[tuple[PageRow, dict[str, Any]]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    """Set -> results that are in it."""
    stated: statements.ToldStatements | None = None

    def add(self, run: Run) -> None:
        """A result that was read whole. They come the newest first."""
        result = run.result
        when = f"{result.started_at:%Y-%m-%d}"
        name = result.request.title or ", ".join(v.label for v in result.request.variants[:3])
        more = " …" if not result.request.title and len(result.request.variants) > 3 else ""
        self.runs[run.slug] = f"{result.request.study}: {name}{more}, {result.request.scenario}, {when}"
        self.conditions[run.slug] = f"{conditions_line(result.request)}. {host_line(result)}."
        found = lines(run, self.kinds)
        self._lines(run.header, found)
        self.outcomes.tell(run.slug, found)
        told = f"{conditions_line(result.request)}, {when}"
        self.pairs += [replace(pair, slug=run.slug, told=told) for pair in pairs(run, found)]
        # Of an experiment that was made several times, the newest; the others are in the table.
        if (one := experiment(run)) and one.title not in {each.title for each in self.experiments}:
            self.experiments.append(one)
        for words, spec in drawn(run):
            # The first page has the newest of each kind; all others are on the pages of their results.
            same = f"{run.kind.name}/{words['name']}"
            self.counts[same] = self.counts.get(same, 0) + 1
            if self.counts[same] <= SAME_MOST:
                self.figures.append((words, spec))
        self._set("forest", RATIOS_MOST, lambda: self._ratios(run, found))
        self._set(
            "sweep",
            DETAILED_MOST,
            lambda: _ended(self._hued(detail.sweep(run, found), found), "at", ("figure",)),
        )
        self._set("load", DETAILED_MOST, lambda: self._hued(detail.loads(run), found))
        self._set(
            "roles",
            DETAILED_MOST,
            lambda: list(detail.roles(run, found)),
        )
        self._set(
            "percentiles",
            DETAILED_MOST,
            lambda: _ended(self._hued(detail.percentiles(run, found), found), "beyond"),
        )
        self._set("seconds", SECONDS_MOST, lambda: list(detail.seconds(run)))

    def add_nights(self, found: nights.Nights) -> list[NotShown]:
        """The nightly histories. Returns what of them cannot be read."""
        rows = nights.rows(found)
        if rows:
            self.sets["history"] = rows
        told = nights.conditions(found)
        self.conditions |= told
        self.runs |= {slug: text.partition(",")[0] for slug, text in told.items()}
        return found.broken

    def add_statements(self, found: statements.ToldStatements) -> None:
        """What the sessions say together."""
        self.stated = found
        self.figures += found.pictures
        self.conditions |= found.conditions

    def _set(self, name: str, most: int, rows: Callable[[], Sequence[PageRow]]) -> None:
        if self.counts.get(name, 0) < most and (found := rows()):
            self.counts[name] = self.counts.get(name, 0) + 1
            self.sets.setdefault(name, []).extend(found)

    def _lines(self, header: Header, found: list[Line]) -> None:
        if not found or len(self.lines) + len(found) > LINES_MOST:
            self.add_header(header)
            return
        self.lines += [_table_row(header, line) for line in found]

    def add_header(self, header: Header) -> None:
        """A result of which only the headline is listed."""
        self.lines.append(
            {
                "label": header.variants or header.name,
                "scenario": header.scenario,
                "condition": header.headline,
                "verdict": header.verdict,
                "limited": "–",
                "reasons": "",
                **_of_run(header),
            }
        )

    def _hued(self, rows: Iterator[PageRow], found: list[Line]) -> list[PageRow]:
        of = {line.label: line.kind for line in found}
        out: list[PageRow] = []
        for row in rows:
            kind = of.get(str(row["variant"]))
            own = {"language": kind.language, "model": kind.model} if kind else {}
            merged = {**own, **row}
            out.append({**merged, "hue": HUES.get(str(merged.get("language")), "--lang-other")})
        return out

    def _ratios(self, run: Run, found: list[Line]) -> list[PageRow]:
        of = {line.variant: line.kind.language for line in found}
        out: list[PageRow] = []
        for one in run.result.conclusions.contrasts:
            if one.ratio is None or one.interval is None:
                continue
            low, high = one.interval
            grey = one.word in ("inconclusive", "not decided", "too few")
            at = told_coordinates(one.coordinates)
            out.append(
                {
                    "run": run.slug,
                    "figure": metric(one.metric).heading,
                    "name": one.text or ", ".join(filter(None, [f"{one.of} against {one.to}", at])),
                    "of": one.of,
                    "to": one.to,
                    "ratio": one.ratio,
                    "low": low,
                    "high": high,
                    "word": one.word or "",
                    "published": one.published,
                    "end": max(high, one.published or 0),
                    "n": one.n,
                    "hue": "--undecided" if grey else HUES.get(of.get(one.of, ""), "--lang-other"),
                }
            )
        return out


def _of_run(header: Header) -> dict[str, Any]:
    return {"study": header.study, "date": header.started_at[:10], "run": header.slug}


def _half(line: Line, figure: str) -> float | None:
    value = line.figures.get(figure)
    return (value.interval[1] - value.interval[0]) / 2 if value and value.interval else None


def _table_row(header: Header, line: Line) -> PageRow:
    means = {name: one.mean for name, one in line.figures.items()}
    return {
        "label": line.label,
        "scenario": line.scenario,
        "condition": line.condition,
        "verdict": str(line.verdict),
        "goodput": means.get(RATE, means.get("capacity_rps")),
        "goodput_half": _half(line, RATE),
        "total": means.get(TOTAL),
        "total_half": _half(line, TOTAL),
        "cpu": means.get(COST),
        "cpu_half": _half(line, COST),
        "p50": means.get("response_time_p50_ms", means.get("p50_ms")),
        "p99": means.get("response_time_p99_ms", means.get("p99_ms")),
        "limited": line.limit,
        "starts": line.starts or None,
        "reasons": "; ".join(line.reasons[:2])[:300],
        **_of_run(header),
    }


def _ended(rows: list[PageRow], x: str, within: tuple[str, ...] = ()) -> list[PageRow]:
    """The last point of each line has its name."""
    last: dict[tuple[Any, ...], PageRow] = {}
    for row in rows:
        key = tuple(row[name] for name in ("run", "variant", *within))
        if key not in last or row[x] > last[key][x]:
            last[key] = row
    ends = {id(row) for row in last.values()}
    return [{**row, "label": row["variant"] if id(row) in ends else None} for row in rows]


def hero_rows(found: dict[Question, list[ModelPair]]) -> list[PageRow]:
    """A bar for each model of each language; sync is 1."""
    out: list[PageRow] = []
    for question, of in found.items():
        for pair in of:
            hue = HUES.get(pair.language, "--lang-other") if pair.decided else "--undecided"
            common: PageRow = {
                "question": question,
                "language": language(pair.language),
                "hue": hue,
                "run": pair.slug,
            }
            assert pair.ratio.ratio is not None
            assert pair.ratio.interval is not None
            low, high = pair.ratio.interval
            at_least = "≥ " if pair.at_least else ""
            text = f"{at_least}× {pair.ratio.ratio:.2f}"
            out.append(
                {**common, "model": "sync", "value": 1, "low": None, "high": None, "end": 1, "text": "sync"}
            )
            out.append(
                {
                    **common,
                    "model": "async",
                    "value": pair.ratio.ratio,
                    "low": low,
                    "high": high,
                    "end": high,
                    "text": f"async {text}",
                }
            )
    return out


@dataclass
class Site:
    """Writes pages below a folder."""

    out: Path
    templates: Environment
    style: str
    code: str
    root: Path
    records: str | None

    @classmethod
    def at(cls, out: Path, root: Path, records: str | None = None) -> "Site":
        """root: of the repository; records: see build."""
        templates = Environment(
            loader=FileSystemLoader(HERE),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        return cls(
            out, templates, (HERE / "page.css").read_text(), (HERE / "page.js").read_text(), root, records
        )

    def write(self, path: str, template: str, vega: bool = False, **values: Any) -> None:
        """A page. Whatever is in values is escaped, but for what is Markup."""
        scripts = [*([bundle()] if vega else []), self.code]
        up = "../" * path.count("/")
        text = self.templates.get_template(template).render(
            policy=f"default-src 'none'; script-src {' '.join(map(digest, scripts))}; style-src {digest(self.style)};"
            " img-src data:; base-uri 'none'; form-action 'none'",
            style=Markup(self.style),
            scripts=[Markup(each) for each in scripts],
            up=up,
            version=TANDEM_VERSION,
            **values,
        )
        file = self.out / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Built:
    """What came out."""

    runs: int
    older: int
    broken: list[NotShown]


def build(
    folders: Sequence[Path], out: Path, root: Path, progress: Tell, records: str | None = None
) -> Built:
    """Builds the whole site. records: address of the repository's files, for a site that does not lie beside them.
    Raises TandemError where the folder holds something else."""
    prepare(out)
    site, catalog = Site.at(out, root, records), Catalog(root)
    headers, broken = find(folders, root)
    gathered = Gathered(kinds(catalog), Outcomes(catalog))
    shown = 0
    for at, header in enumerate(headers):
        if at >= RUNS_MOST:
            gathered.add_header(header)
            continue
        run = _page_of(site, header, gathered, at < DRAWN_MOST)
        if isinstance(run, NotShown):
            broken.append(run)
        else:
            shown += 1
        if (at + 1) % TOLD_EVERY == 0:
            progress(f"{at + 1:,} of {len(headers):,} results")
    older = max(0, len(headers) - RUNS_MOST)
    broken += gathered.add_nights(nights.read_nights(folders, root))
    sessions, damaged = read_sessions(root / "results")
    broken += [NotShown("session", reason) for reason in damaged]
    gathered.add_statements(statements.told(sessions, read_statements(root), catalog))
    _first_page(site, gathered, broken, shown + older, older, read_claims(root))
    _documents(site, root)
    return Built(shown, older, broken)


def page_alone(folder: Path, results: Path, root: Path) -> Path:
    """Writes the page of one result, where the whole site has it. Raises TandemError."""
    out, catalog = results / FOLDER, Catalog(root)
    headers, broken = find([folder], root)
    own = next((header for header in headers if header.folder == folder.resolve()), None)
    if own is None:
        raise TandemError(
            "; ".join(f"{one.name}: {one.reason}" for one in broken) or f"{folder} holds no result"
        )
    made = _page_of(Site.at(out, root), own, Gathered(kinds(catalog), Outcomes(catalog)), True)
    if isinstance(made, NotShown):
        raise TandemError(f"{made.name}: {made.reason}")
    if out.is_relative_to(root):
        give(out, root)  # the harness's container runs as root
    return out / page_name(made)


def page_told(
    name: str, sentence: str, verdict: Verdict, report: RenderableType, results: Path, root: Path
) -> Path:
    """Writes the page of what is no study: a self-test, an outcome matrix. The newest one replaces the one before."""
    out, path = results / FOLDER, f"runs/{name}.html"
    Site.at(out, root).write(
        path,
        "told.html",
        title=name,
        sentence=sentence,
        verdict=verdict,
        when=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        parts=list(parts(report)),
    )
    if out.is_relative_to(root):
        give(out, root)  # the harness's container runs as root
    return out / path


def page_name(run: Run) -> str:
    """Its place in the site."""
    return f"runs/{run.slug}.html"


def _page_of(site: Site, header: Header, gathered: Gathered, pictures: bool) -> Run | NotShown:
    """Reads a result and writes its page. What a record holds may break a report; that is told and no more."""
    run = read(header)
    if isinstance(run, NotShown):
        return run
    try:
        page = show(run, site.out.resolve() / page_name(run), site.root, site.records)
        own = Gathered(gathered.kinds, Outcomes(gathered.outcomes.catalog))
        if pictures:
            own.add(run)
        has = [name for name in ON_RUN if name in own.sets]
        data = _data({name: own.sets[name] for name in has}, own)
        site.write(
            page_name(run),
            "run.html",
            alone=True,
            vega=bool(has or own.figures),
            run=run,
            page=page,
            plots=[plots.NAMED[name] for name in has],
            has=has,
            own=[words for words, _ in own.figures],
            data=Markup(script(data)),
            elsewhere=site.records is not None,
        )
        gathered.add(run)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return NotShown(header.name, f"cannot be shown: {type(error).__name__}: {error}"[:300])
    return run


def _data(sets: dict[str, list[PageRow]], gathered: Gathered) -> dict[str, Any]:
    """What the page's code draws from."""
    texts = Texts()
    named = {str(row["run"]) for rows in sets.values() for row in rows}
    named |= {str(words.get("slug", words.get("run"))) for words, _ in gathered.figures}
    return {
        "sets": {name: columns(rows, texts) for name, rows in sets.items()},
        "texts": texts.all,
        "specs": {name: make() for name, make in SPECS.items() if {name, SAME_ROWS.get(name)} & {*sets}},
        "own": {words["id"]: spec for words, spec in gathered.figures},
        "runs": {slug: name for slug, name in gathered.runs.items() if slug in named},
        "conditions": {slug: text for slug, text in gathered.conditions.items() if slug in named},
    }


def prepare(out: Path) -> None:
    """An empty place. Only what an earlier build left is removed. Raises TandemError for a folder of something else."""
    alone = {"runs"}  # what page_alone leaves where there is no site yet
    there = {path.name for path in out.iterdir()} if out.exists() else set()
    if there - alone and "index.html" not in there:
        raise TandemError(f"{out} is not empty and holds no site: give another folder with --out")
    for part in ("runs", documents.FOLDER):
        shutil.rmtree(out / part, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)


def _first_page(
    site: Site,
    gathered: Gathered,
    broken: list[NotShown],
    total: int,
    older: int,
    claims: dict[str, Experiment],
) -> None:
    """total: results, also the older ones. claims: those that people quote, measured or not."""
    found = best(gathered.pairs)
    answers: list[ToldAnswer] = [answer(question, of) for question, of in found.items()]
    data = _data({**gathered.sets, "lines": gathered.lines, "hero": hero_rows(found)}, gathered)
    drawn_by = {words.get("study") for words, _ in gathered.figures}
    scenarios, matrix = gathered.outcomes.rows()
    site.write(
        "index.html",
        "index.html",
        alone=False,
        vega=True,
        data=Markup(script(data)),
        answers=answers,
        has=set(gathered.sets),
        why=plots.WHY,
        explore=plots.EXPLORE,
        cost=plots.COST,
        own=[words for words, _ in gathered.figures if "section" in words],
        statements=gathered.stated,
        further=statements.FURTHER,
        remedy=statements.REMEDY,
        how_to_read=SAYS,
        untold=[told for study, told in plots.UNTOLD.items() if study not in drawn_by],
        scenarios=scenarios,
        matrix=matrix,
        experiments=gathered.experiments,
        unmeasured=[
            claim for name, claim in claims.items() if name not in {e.name for e in gathered.experiments}
        ],
        broken=broken,
        older=older,
        total=total,
        empty=not gathered.runs and not older,
        built=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    )


def _documents(site: Site, root: Path) -> None:
    found = list(documents.documents(root))
    for page in found:
        site.write(page.path, "doc.html", title=page.title, body=Markup(page.html))
    pages = [
        {"href": page.path.removeprefix(f"{documents.FOLDER}/"), "title": page.title, "text": page.text}
        for page in found
    ]
    site.write(f"{documents.FOLDER}/index.html", "docs.html", pages=pages, data=Markup(script(pages)))
