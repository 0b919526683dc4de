"""tandem.page.site and .documents: the files that are written, from the committed results."""

import base64
import hashlib
import json
import re
import shutil
import urllib.request
from html import unescape
from html.parser import HTMLParser
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote

import pytest
from harness_engine import Found, Static, request, result_of
from harness_page import page_and_data
from harness_places import ROOT, result_alone
from rich.console import Group, RenderableType

from tandem.commands import page as commands
from tandem.errors import TandemError
from tandem.page import site as building
from tandem.page.documents import address, documents, slug
from tandem.page.pairs import COST
from tandem.page.read import find, read
from tandem.page.site import build
from tandem.record.conclusion import Contrast, Estimate
from tandem.record.result import Concluded, Publication, Result
from tandem.record.store import write_model
from tandem.record.window import Verdict
from tandem.report.markdown import cells, tables_in
from tandem.report.picture import Picture
from tandem.studies import registry
from tandem.studies.registry import read_folder

FOLDERS = ("reference", "reference-experiments", "comparisons", "explanations")
PAGE_MOST = 3 << 20
CODE_MOST = 300


class Page(HTMLParser):
    """What a page refers to, and what stands in its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.loaded: list[str] = []
        self.handlers: list[str] = []
        self.inline: list[str] = []
        self._within = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids += [given["id"]] if "id" in given else []
        self.handlers += [name for name in given if name.startswith("on") or name == "style"]
        self.links += [given["href"]] if tag == "a" and given.get("href") else []
        self.loaded += [given[name] for name in ("src", "href") if name in given and tag != "a"]
        self._within = tag in ("script", "style") and given.get("type") != "application/json"

    def handle_data(self, data: str) -> None:
        self.inline += [data] if self._within else []
        self._within = False


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    built = build([root / "results" / name for name in FOLDERS], out, root, print)
    assert built.broken == []
    assert built.runs == len([*out.glob("runs/*.html")]) > 8
    return out


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {file: Page(file.read_text()) for file in site.rglob("*.html")}


def test_every_link_leads_somewhere(pages: dict[Path, Page], site: Path) -> None:
    dead = []
    for file, page in pages.items():
        for link in page.links:
            path, _, at = unquote(link).partition("#")
            target = (file.parent / path).resolve() if path else file
            if "://" in link:
                continue
            if not target.exists() or (at and target.suffix == ".html" and at not in pages[target].ids):
                dead.append(f"{file.relative_to(site)}: {link}")
    assert dead == []


def test_a_page_loads_nothing_and_its_policy_allows_what_is_in_it_and_nothing_else(
    pages: dict[Path, Page],
) -> None:
    for file, page in pages.items():
        assert {src[:11] for src in page.loaded} <= {"data:image/"}, file
        assert len(page.ids) == len({*page.ids}), file
        assert page.handlers == [], file
        policy = unescape(re.findall(r'Security-Policy" content="([^"]+)"', file.read_text())[0])
        hashes = {
            f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
            for text in page.inline
        }
        assert {*re.findall(r"'(sha256-[^']+)'", policy)} == hashes
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy


def test_every_result_shows_all_that_its_report_has(site: Path, root: Path) -> None:
    """Any study's tables are on its page, whether or not the page knows the study."""
    for file in (root / "results").glob("reference-experiments/*/result.json"):
        kind, result, _ = read_folder(file.parent)
        text = unescape((site / f"runs/results-reference-experiments-{file.parent.name}.html").read_text())
        for table in tables_in(kind.report(result)):
            headings, rows, _ = cells(table)
            assert all(f">{cell}</td>" in text for row in rows for cell in row)
            assert all(f">{heading}</th>" in text for heading in headings)


class Glanced(Found):
    """What a study concludes that no page has heard of."""

    @property
    def publication(self) -> Publication:
        fields = dict.fromkeys(("origin", "published_host", "hypothesis", "sentence"), "")
        return Publication(name="glance", title="A <quote>", source=None, **fields)


class Glance(Static):
    """A new study: its trials, its conclusions, its report, and a picture."""

    name = "glance"
    kind = Glanced

    @classmethod
    def report(cls, result: Result[Any]) -> RenderableType:
        spec = {"data": {"values": []}, "mark": "bar"}
        return Group(super().report(result), Picture("gap", "A <gap>", "What it shows.", spec, "why"))


def test_a_new_study_is_on_every_part_of_the_page(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With nothing edited: its estimates, contrasts, claims, pictures and report are all that is read of it."""
    sync, other = "rust-sync", "rust-async"
    found = Glanced(
        reached={},
        estimates=[
            Estimate(metric=COST, variant=name, mean=us, n=6) for name, us in ((sync, 90), (other, 60))
        ],
        contrasts=[
            Contrast(
                metric=COST, of=other, to=sync, ratio=0.67, interval=(0.6, 0.7), n=6, text=text, word=word
            )
            for text, word in ((None, None), ("async is cheaper", "stands"))
        ],
    )
    made = result_of(request(sync, other, study="glance"), Concluded(verdict=Verdict.OK, conclusions=found))
    (tmp_path / "results/glance").mkdir(parents=True)
    write_model(tmp_path / "results/glance/result.json", made)
    monkeypatch.setitem(registry.STUDIES, "glance", Glance)
    built = build([tmp_path / "results"], tmp_path / "site", root, print)
    assert (built.runs, built.broken) == (1, [])
    first, data = page_and_data(tmp_path / "site/index.html")
    [slug] = [name for name in data["runs"] if name in data["conditions"]]
    assert {data["sets"][name]["length"] for name in ("lines", "forest", "hero")} == {2}
    assert f"{slug}-gap" in data["own"]
    for shown in ("<h3>A <gap></h3>", "A <quote> (", "1 of 1 claims stand", "async is cheaper"):
        assert shown in first
    own, drawn = page_and_data(tmp_path / f"site/runs/{slug}.html")
    assert f"{len(made.trials)} verdicts" in own, "its report"
    assert drawn["sets"].keys() == {"forest"}


def test_sizes(site: Path) -> None:
    assert (site / "index.html").stat().st_size < PAGE_MOST
    code = (building.TEMPLATES / "page.js").read_text().splitlines()
    assert len(code) <= CODE_MOST
    assert not re.search(r"\bfetch\(|\bimport\b|\beval\(|innerHTML", "\n".join(code))


def copy(folder: Path, day: int, **changes: Any) -> None:
    """A copy of a real result, as if of another day."""
    folder.mkdir(parents=True)
    made = {**result_alone(ROOT / "results/reference"), "started_at": f"2026-01-{day:02}T00:00:00Z"}
    (folder / "result.json").write_text(json.dumps(made | changes))


def copies(folder: Path, count: int, **changes: Any) -> Path:
    """The folder `results` in a folder, with so many copies."""
    for number in range(count):
        copy(folder / f"results/{number}", number + 1, **changes)
    return folder / "results"


def test_beyond_a_limit_the_headline_is_listed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "RUNS_MOST", 3)
    monkeypatch.setattr(building, "TOLD_EVERY", 2)
    progress: list[str] = []
    built = build([copies(tmp_path, 5, headline="so many")], tmp_path / "site", root, progress.append)
    assert (built.runs, built.older) == (3, 2)
    assert progress == ["2 of 5 results"]
    text, data = page_and_data(tmp_path / "site/index.html")
    assert "2 older results are listed by their headline" in text
    assert "Sync or async? 5 results" in text
    assert data["sets"]["lines"]["length"] == 3 * 6 + 2
    assert "so many" in data["texts"]


def test_what_is_void_has_its_verdict_and_what_is_broken_is_named(root: Path, tmp_path: Path) -> None:
    results = copies(tmp_path, 3, verdict="void", reasons=["too much steal"])
    (results / "1/result.json").write_text("{}")
    (results / "2/trials").mkdir()
    (results / "2/trials/1.json").write_text("[]")
    broken = {one.name: one.reason for one in build([results], tmp_path / "site", root, print).broken}
    assert broken.keys() == {f"{results}/1", f"{results}/2"}
    assert "1.json" in broken[f"{results}/2"]
    text = (tmp_path / "site/index.html").read_text()
    assert "Sync or async? 1 result," in text
    assert f"{results}/1" in text[text.index("Not shown in full") :]
    [page] = (tmp_path / "site/runs").iterdir()
    for shown in ('class="verdict void"', "too much steal"):
        assert shown in page.read_text()


def test_an_older_build_is_replaced_and_a_folder_of_something_else_is_left_alone(
    root: Path, tmp_path: Path
) -> None:
    """Where nothing was measured yet, the page says what to run."""
    (tmp_path / "results").mkdir()
    site, stale = tmp_path / "site", tmp_path / "site/runs/stale.html"
    build([tmp_path / "results"], site, root, print)
    assert "just compare python-sync python-async" in (site / "index.html").read_text()
    stale.parent.mkdir(exist_ok=True)
    stale.touch()
    results = copies(tmp_path, 1)
    build([results], site, root, print)
    assert not stale.exists()
    with pytest.raises(TandemError, match="holds no site"):
        build([results], results, root, print)
    assert [file.name for file in results.iterdir()] == ["0"]


def test_documents_keep_their_links_tables_and_figures(root: Path) -> None:
    found = {page.path: page for page in documents(root)}
    method = found[address("docs/method.md")]
    assert 'href="reference/load-and-windows.html"' in method.html
    assert "<table>" in found[address("docs/glossary.md")].html
    assert all("<!--" not in page.html for page in found.values())
    assert "data:image/svg+xml" in found["docs/readme.html"].html
    assert "data:image/png" in found["docs/reference/page.html"].html
    assert "docs/how-to/index.html" in found
    assert slug("One, and (two)") == "one-and-two"


def test_it_is_served_on_loopback_alone(site: Path) -> None:
    with commands.server(site, 0) as served:
        assert served.server_address[0] == "127.0.0.1"
        Thread(target=served.serve_forever, daemon=True).start()
        with urllib.request.urlopen(f"http://127.0.0.1:{served.server_port}/") as answer:
            assert b"<title>Tandem" in answer.read()
        with pytest.raises(TandemError, match="--port"):
            commands.server(site, served.server_port)
        served.shutdown()


def test_ctrl_c_ends_it_as_it_should(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ThreadingHTTPServer, "serve_forever", interrupted)
    commands.open_(site, 0)
    assert capsys.readouterr().out.startswith("http://127.0.0.1:")


# ---- what is found, in which order, and what happens to what cannot be read ----


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Three results, of three days."""
    for day, name in ((1, "a"), (3, "b"), (2, "deep/c")):
        copy(tmp_path / name, day)
    return tmp_path


def test_the_newest_comes_first_each_once_and_with_a_name_of_its_own(results: Path) -> None:
    for folders in ([results], [results / "a", results / "a", results]):
        found, broken = find(folders, results)
        assert [header.name for header in found] == ["b", "deep/c", "a"]
        assert broken == []
    run = read(found[0])
    assert (run.slug, run.result.request.study) == ("b", "bench")
    shutil.copytree(results / "deep/c", results / "deep-c")
    assert len({header.slug for header in find([results], results)[0]}) == 4


def test_what_cannot_be_read_is_named_and_the_rest_is_there(results: Path) -> None:
    file = results / "a/result.json"
    changed = json.dumps({**json.loads(file.read_text()), "started_at": "yesterday"})
    (results / "begun").mkdir()
    (results / "begun/request.json").write_text("{}")
    for damaged in ("[]", '{"schema_version": 3, "request": {"study": "bench"}}', changed):
        file.write_text(damaged)
        found, broken = find([results], results)
        assert [header.name for header in found] == ["b", "deep/c"]
        assert [one.name for one in broken] == ["a", "begun"]
        assert "cannot be read" in broken[0].reason
        assert "--resume" in broken[1].reason
