"""The documents: their figures are those of the committed records, and their links lead somewhere."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from harness_places import ROOT

from documents.figures import FIGURES, PICTURES
from documents.fill import draw_all, fill, fill_all, marks, outside, pages
from documents.records import Records
from tandem.commands.records import folders
from tandem.page.documents import slug

RECORDS = Records(ROOT)
GIT = ["git", "-c", "safe.directory=*", "-C", str(ROOT)]
PAGES = {str(page.relative_to(ROOT)): page.read_text() for page in pages(ROOT)}
MEASURED = re.compile(r"× \d[\d,]*\.\d\d\b|\d/s\b")
"""A ratio or a rate as the figures write them."""
OF_A_RECORD = ("table", "cell")
"""Figures of one record, which their first argument names."""
OF_SEVERAL = {"across": 3, "claims": 0, "contrasts": 2}
"""Figures of several records, and from which argument these are named."""
CAPTIONS = ("one-session", "single-sessions")
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)")


def test_every_figure_is_what_the_records_say() -> None:
    assert [str(one) for one in fill_all(RECORDS, FIGURES, write=False)] == [], "`just docs` fills them in"


def test_git_keeps_two_files_of_a_record() -> None:
    records = [folder.relative_to(ROOT) for folder in folders(ROOT / "results")]
    kept = [f"{folder}/{name}" for folder in records for name in ("result.json", "trials.jsonl.xz")]
    others = [f"{records[0]}/{name}" for name in ("raw/1/app.log", "trials/1.json", "request.json", "a.svg")]
    others.append("results/20260101-000000-bench/result.json")
    command = [*GIT, "check-ignore", *kept, *others]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines() == others


def test_the_readme_of_the_results_names_every_folder_of_records() -> None:
    named = set(re.findall(r"^\| `([^`/]+)/` \|", (ROOT / "results/README.md").read_text(), re.MULTILINE))
    assert {folder.relative_to(ROOT / "results").parts[0] for folder in folders(ROOT / "results")} < named


def test_every_picture_is_what_the_records_say(tmp_path: Path) -> None:
    assert [one.page for one in draw_all(RECORDS, PICTURES, write=False)] == [], "`just docs` draws them"
    drawn = {"a.svg": lambda _: "<svg/>\n"}
    assert [str(one.page) for one in draw_all(Records(tmp_path), drawn, write=True)] == ["a.svg"]
    assert draw_all(Records(tmp_path), drawn, write=False) == []


def test_a_changed_figure_is_found() -> None:
    text = PAGES["README.md"]
    figures = [*marks(text)]
    changed = text
    for _, close in reversed(figures):
        end = len(text[:close].rstrip())
        changed = f"{changed[:end]}9{changed[end:]}"
    filled, stale = fill(changed, Path("README.md"), RECORDS, FIGURES)
    assert [one.asked for one in stale] == [mark[1] for mark, _ in figures]
    assert filled == text


@pytest.mark.parametrize("name", PAGES)
def test_no_rate_or_ratio_is_typed(name: str) -> None:
    assert MEASURED.findall(outside(PAGES[name])) == []


def test_a_typed_rate_or_ratio_is_found() -> None:
    text = "It made 1,577/s, × 0.34 of\n<!-- figure: a -->\n\n4,597/s\n\n<!-- /figure -->\n"
    assert MEASURED.findall(outside(text)) == ["7/s", "× 0.34"]


def quoted(name: str, arguments: list[str]) -> set[str]:
    """The records, below results/, of which a figure is."""
    if name in OF_SEVERAL:
        return {*arguments[OF_SEVERAL[name] :]}
    return {arguments[0]} if name in OF_A_RECORD else set()


def uncaptioned(text: str) -> set[str]:
    """The records that a page quotes without saying that each is one session, of which machine, day and commit."""
    told: set[str] = set()
    wanted: set[str] = set()
    for mark, _ in marks(text):
        name, *arguments = (part.strip() for part in mark[1].split(";"))
        told |= {*arguments} if name in CAPTIONS else quoted(name, arguments) if name == "claims" else set()
        wanted |= quoted(name, arguments)
    return wanted - told


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_of_which_one_session_its_figures_are(name: str) -> None:
    assert uncaptioned(PAGES[name]) == set(), "`one-session; RECORD` fills the caption in"


def compared(text: str) -> list[str]:
    """The ratios of single comparisons: of those there are statements over sessions."""
    asked = [(mark[1], text[mark.end() : close]) for mark, close in marks(text)]
    return [one for one, value in asked if "; comparisons/" in one and MEASURED.search(value)]


def test_every_ratio_of_the_readme_rests_on_sessions_or_on_a_session_that_it_names() -> None:
    assert compared(PAGES["README.md"]) == []


def test_a_record_without_its_caption_is_found() -> None:
    ratio = (
        "It is <!-- figure: cell; comparisons/falcon; goodput; falcon-async; ratio -->× 1.05<!-- /figure -->"
    )
    other = "(<!-- figure: one-session; comparisons/index -->one session<!-- /figure -->)"
    own = "(<!-- figure: one-session; comparisons/falcon -->one session<!-- /figure -->)"
    assert uncaptioned(ratio) == uncaptioned(f"{ratio} {other}") == {"comparisons/falcon"}
    assert uncaptioned(f"{ratio} {own}") == set()
    assert uncaptioned("a <!-- figure: across; t; r; c; x/a; x/b -->b<!-- /figure -->") == {"x/a", "x/b"}
    assert len(compared(f"{ratio} {own}")) == 1


def broken(page: Path) -> list[str]:
    """Links of a page to files or headings that do not exist."""
    out = []
    for path, heading in LINK.findall(page.read_text()):
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            out.append(path)
        elif heading and file.suffix == ".md":
            lines = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)
            if heading[1:] not in map(slug, lines):
                out.append(path + heading)
    return out


@pytest.mark.parametrize("page", sorted({*pages(ROOT), *ROOT.glob("*.md")}), ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One, and (two)\n[a](page.md#one-and-two) [b](none.md) [c](#three) [d](https://x.org/none)\n"
    )
    assert broken(page) == ["none.md", "#three"]


def test_commands_that_the_documents_name_exist() -> None:
    recipes = set(re.findall(r"^@?([a-z]+)\b.*:", (ROOT / "justfile").read_text(), re.MULTILINE))
    named = {
        name
        for text in PAGES.values()
        for name in re.findall(r"(?:`|^    |\./)(?:just|bootstrap) ([a-z]+)", text, re.M)
    }
    assert "compare" in named
    assert named - {"glance"} <= recipes, "glance is what add-a-study adds"


MAP = PAGES["docs/architecture.md"]


def described(page: str) -> list[str]:
    """The folders and files in the first column of the tables that map the harness."""
    section = page[page.index("## One folder, one question") :].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE)
    return [
        name.removesuffix("/").removesuffix(".py") for row in rows for name in re.findall(r"`([^`]+)`", row)
    ]


def test_the_map_has_the_layers_in_their_order_and_every_folder_beside_them() -> None:
    project = tomllib.loads((ROOT / "harness/pyproject.toml").read_text())
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    inside = [name.removesuffix(".py") for name in reversed(layers) if name not in ("errors", "__main__")]
    command = [*GIT, "ls-tree", "-d", "--name-only", "HEAD", "harness/"]
    kept = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    found = described(MAP)
    assert found[: len(inside)] == inside
    assert sorted(found[len(inside) :]) == sorted({Path(name).name for name in kept} - {"tandem"})
    row = "| `report/` | What do all reports share? |\n"
    assert described(MAP.replace(row, "")) != found, "the check can fail"
