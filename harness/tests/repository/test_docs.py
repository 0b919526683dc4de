"""The documents: their figures are those of the committed records, and their links lead somewhere."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from harness_places import ROOT

from documents import records
from documents.figures import FIGURES, PICTURES
from documents.fill import draw_all, fill, fill_all, marks, outside, pages
from documents.records import Records

RECORDS = Records(ROOT)
MEASURED = re.compile(r"× \d[\d,]*\.\d\d\b|\d/s\b")
"""A ratio or a rate as the figures write them."""
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)")


def names() -> list[str]:
    return [str(page.relative_to(ROOT)) for page in pages(ROOT)]


def test_every_figure_is_what_the_records_say() -> None:
    assert [str(one) for one in fill_all(ROOT, FIGURES, write=False)] == [], "`just docs` fills them in"


def left_out(*files: str) -> list[str]:
    """Those that git ignores."""
    command = ["git", "-c", "safe.directory=*", "-C", str(ROOT), "check-ignore", *files]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()


def test_git_keeps_what_the_documents_read() -> None:
    folders = {
        value for value in vars(records).values() if isinstance(value, str) and value.startswith("results/")
    }
    assert {records.BENCH, records.QUESTIONS} <= folders
    assert left_out(*(f"{folder}/result.json" for folder in sorted(folders))) == [], (
        ".gitignore has to name them"
    )


def test_a_record_that_git_ignores_is_found() -> None:
    mine = "results/20260101-000000-bench/result.json"
    assert left_out(mine, f"{records.BENCH}/result.json") == [mine]


def test_every_picture_is_what_the_records_say() -> None:
    assert [one.page for one in draw_all(ROOT, PICTURES, write=False)] == [], "`just docs` draws them"


def test_a_changed_picture_is_found(tmp_path: Path) -> None:
    pictures = {"a.svg": lambda _: "<svg/>\n"}
    (tmp_path / "a.svg").write_text("<svg></svg>\n")
    [stale] = draw_all(tmp_path, pictures, write=True)
    assert str(stale.page) == "a.svg"
    assert draw_all(tmp_path, pictures, write=False) == []


@pytest.mark.parametrize("name", [name for name in names() if [*marks((ROOT / name).read_text())]])
def test_a_changed_figure_is_found(name: str) -> None:
    text, page = (ROOT / name).read_text(), Path(name)
    figures = [*marks(text)]
    changed = text
    for _, close in reversed(figures):
        end = len(text[:close].rstrip())
        changed = f"{changed[:end]}9{changed[end:]}"
    filled, stale = fill(changed, page, RECORDS, FIGURES)
    assert [one.asked for one in stale] == [mark[1] for mark, _ in figures]
    assert filled == text


@pytest.mark.parametrize("name", names())
def test_no_rate_or_ratio_is_typed(name: str) -> None:
    assert MEASURED.findall(outside((ROOT / name).read_text())) == []


def test_a_typed_rate_or_ratio_is_found() -> None:
    text = "It made 1,577/s, × 0.34 of\n<!-- figure: a -->\n\n4,597/s\n\n<!-- /figure -->\n"
    assert MEASURED.findall(outside(text)) == ["7/s", "× 0.34"]


def broken(page: Path) -> list[str]:
    """Links of a page to files or headings that do not exist."""
    out = []
    for path, heading in LINK.findall(page.read_text()):
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            out.append(path)
        elif heading and file.suffix == ".md":
            lines = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)
            anchors = {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}
            if heading[1:] not in anchors:
                out.append(path + heading)
    return out


@pytest.mark.parametrize(
    "page", [*pages(ROOT), *sorted({*ROOT.glob("*.md"), *ROOT.glob("*/README.md")} - {*pages(ROOT)})], ids=str
)
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One, and (two)\n[a](page.md#one-and-two) [b](none.md) [c](#three) [d](https://x.org/none)\n"
    )
    assert broken(page) == ["none.md", "#three"]


MAP = (ROOT / "docs/architecture.md").read_text()


def described(section: str, page: str = MAP) -> list[str]:
    """The folders and files in the first column of a section's tables, from the page that maps the harness."""
    rows = re.findall(r"^\| (`[^|]+) \|", page[page.index(section) :].partition("\n## ")[0], re.MULTILINE)
    return [name.removesuffix("/") for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_the_map_has_the_layers_in_their_order_and_every_folder_beside_them() -> None:
    project = tomllib.loads((ROOT / "harness/pyproject.toml").read_text())
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    inside = [name.removesuffix(".py") for name in reversed(layers) if name not in ("errors", "__main__")]
    command = [
        "git",
        "-c",
        "safe.directory=*",
        "-C",
        str(ROOT / "harness"),
        "ls-tree",
        "-d",
        "--name-only",
        "HEAD",
    ]
    kept = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    found = [name.removesuffix(".py") for name in described("## One folder, one question")]
    assert found[: len(inside)] == inside
    assert sorted(found[len(inside) :]) == sorted({*kept} - {"tandem"})


def test_a_folder_that_the_map_leaves_out_or_moves_is_found() -> None:
    section, row = "## One folder, one question", "| `report/` | What do all reports share? |\n"
    assert described(section, MAP.replace(row, "")) != described(section)
    moved = MAP.replace(row, "").replace("| `judge/` |", f"{row}| `judge/` |")
    assert described(section, moved) != described(section)
    assert sorted(described(section, moved)) == sorted(described(section))
