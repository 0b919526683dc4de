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
from tandem.commands.records import folders

RECORDS = Records(ROOT)
MEASURED = re.compile(r"× \d[\d,]*\.\d\d\b|\d/s\b")
"""A ratio or a rate as the figures write them."""
BELOW = {
    "comparisons": ("compared", "compared-table", "compared-verdict", "compared-mode", "compared-mean"),
    "settings": ("setting",),
    "explanations": (
        "explained",
        "explained-factors",
        "explained-factor",
        "explained-cpu",
        "explained-leg",
        "explained-rate",
        "explained-model",
    ),
    "crossovers": ("crossed", "crossed-told", "crossed-at", "crossed-pairs"),
    "reference-experiments": ("ratio", "mean", "span", "of-ceiling", "claims"),
    "reference-claims": ("quoted-ratio",),
}
"""Folder of results -> the figures that are of one record below it, which their first argument names."""
OF_ONE = {
    "questions": ("questions-table", "application-bound"),
    "reference": ("reference-table", "reference-goodput", "reference-cpu", "reference-cpu-mean"),
}
"""Record -> the figures that are of it."""
SEVERAL = "crossed-pairs"
"""A figure whose arguments are all records."""
KEPT = [str(folder.relative_to(ROOT)) for folder in folders(ROOT / "results")]
CAPTIONS = ("one-session", "single-sessions")
IN_README = ("known", "costs-table", "pairs-table", "statements-table", *CAPTIONS)
"""Figures that say themselves on how many sessions they rest."""
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


def test_git_keeps_two_files_of_a_record() -> None:
    kept = [f"{folder}/{name}" for folder in KEPT for name in ("result.json", "trials.jsonl.gz")]
    others = [
        f"{records.BENCH}/{name}" for name in ("raw/1/app.log", "trials/1.json", "request.json", "a.svg")
    ]
    assert left_out(*kept, *others) == others


def test_the_readme_of_the_results_names_every_folder_of_records() -> None:
    named = set(re.findall(r"^\| `([^`/]+)/` \|", (ROOT / "results/README.md").read_text(), re.MULTILINE))
    assert {folder.split("/")[1] for folder in KEPT} < named


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


def quoted(name: str, arguments: list[str]) -> set[str]:
    """The records, below results/, of which a figure is."""
    for folder, names_ in BELOW.items():
        if name in names_:
            return {f"{folder}/{one}" for one in (arguments if name == SEVERAL else arguments[:1])}
    return {record for record, names_ in OF_ONE.items() if name in names_}


def uncaptioned(text: str) -> set[str]:
    """The records that a page quotes without saying that each is one session, of which machine, day and commit."""
    told: set[str] = set()
    wanted: set[str] = set()
    for mark, _ in marks(text):
        name, *arguments = (part.strip() for part in mark[1].split(";"))
        if name in CAPTIONS:
            told |= {*arguments}
        elif name == "claims":
            told |= quoted(name, arguments)  # the line below its table has all of that
        wanted |= quoted(name, arguments)
    return wanted - told


@pytest.mark.parametrize("name", names())
def test_a_page_says_of_which_one_session_its_figures_are(name: str) -> None:
    assert uncaptioned((ROOT / name).read_text()) == set(), "`one-session; RECORD` fills the caption in"


def test_a_record_without_its_caption_is_found() -> None:
    ratio = "It is <!-- figure: compared; falcon; falcon-async; goodput_rps -->× 1.0<!-- /figure -->"
    other = "(<!-- figure: one-session; comparisons/index -->one session<!-- /figure -->)"
    own = "(<!-- figure: one-session; comparisons/falcon -->one session<!-- /figure -->)"
    assert uncaptioned(ratio) == uncaptioned(f"{ratio} {other}") == {"comparisons/falcon"}
    assert uncaptioned(f"{ratio} {own}") == set()
    several = "a <!-- figure: crossed-pairs; rust; cpp -->b<!-- /figure -->"
    assert uncaptioned(several) == {"crossovers/rust", "crossovers/cpp"}


def test_figures_that_name_records_are_all_known() -> None:
    named = {name for of in (BELOW, OF_ONE) for found in of.values() for name in found}
    assert named | {*IN_README} <= {*FIGURES}


def unfounded(text: str) -> list[str]:
    """Ratios that stand neither on several sessions nor on one that is named on the same page."""
    missing = uncaptioned(text)
    out = []
    for mark, close in marks(text):
        name, *arguments = (part.strip() for part in mark[1].split(";"))
        records_ = quoted(name, arguments)
        based = name in IN_README or (
            records_ and not records_ & missing and name not in BELOW["comparisons"]
        )
        if MEASURED.search(text[mark.end() : close]) and not based:
            out.append(mark[1])
    return out


def test_every_ratio_of_the_readme_says_what_it_rests_on() -> None:
    assert unfounded((ROOT / "README.md").read_text()) == []


def test_a_ratio_of_a_comparison_does_not_stand_in_the_readme() -> None:
    asked = "compared; falcon; falcon-async; goodput_rps"
    text = (
        f"<!-- figure: one-session; comparisons/falcon -->one session<!-- /figure --> <!-- figure: {asked} -->"
        "× 1.05 (1.04 to 1.06)<!-- /figure -->"
    )
    assert unfounded(text) == [asked]
    known = "a <!-- figure: known; a; b; c -->× 1.05, next session 1.00 to 1.10 (9 sessions, 2 CPU models)<!-- /figure -->"
    assert unfounded(known) == []


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
