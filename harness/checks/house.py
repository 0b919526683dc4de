"""Limits of size for each part of the repository. A limit that rises has a line in the changelog that says why."""

import re
import subprocess
from pathlib import Path

BUDGET = {
    "lines in harness/tandem": 43_500,
    "lines in harness/tests": 34_830,
    "lines in harness/documents, benchmarks and checks": 2_740,
    "words in documents": 55_900,
    "files in results": 200,
}
"""Kind of size -> its limit. CHANGELOG.md repeats the limits in its lines that begin with `- Budget:`."""
LINE = re.compile(r"(?ms)^- Budget: (.+?)(?=^- |^#|\Z)")


def tracked(root: Path, *patterns: str) -> list[Path]:
    """Files that git knows, by its own patterns. Raises CalledProcessError outside a clone."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--", *patterns]
    names = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    return [root / name for name in names.split("\0") if name]


def measured(root: Path) -> dict[str, int]:
    """The size of everything in BUDGET."""

    def lines(*patterns: str) -> int:
        return sum(file.read_bytes().count(b"\n") for file in tracked(root, *patterns) if file.is_file())

    documents = [file for file in tracked(root, "*.md") if file.is_file()]
    sizes = (
        lines("harness/tandem/*"),
        lines("harness/tests/*.py"),
        lines("harness/documents/*", "harness/benchmarks/*", "harness/checks/*"),
        sum(len(file.read_text().split()) for file in documents),
        len(tracked(root, "results/*")),
    )
    return dict(zip(BUDGET, sizes, strict=True))


def announced(changelog: str) -> dict[str, int]:
    """The newest limit of each kind in the changelog's lines such as `- Budget: 20,000 lines in harness/tandem. Why.`"""
    found: dict[str, int] = {}
    for text in map(" ".join, map(str.split, LINE.findall(changelog))):
        for name in BUDGET:
            if match := re.search(rf"([\d,]+) {re.escape(name)}(?![\w/])", text):
                found.setdefault(name, int(match[1].replace(",", "")))
    return found


def excesses(root: Path) -> list[str]:
    """Sizes beyond their limits, and limits that the changelog does not have."""
    told = announced((root / "CHANGELOG.md").read_text())
    sizes = measured(root)
    return [
        *(
            f"{sizes[name]:,} {name}: the limit is {most:,}"
            for name, most in BUDGET.items()
            if sizes[name] > most
        ),
        *(
            f"{name}: the limit is {most:,}, CHANGELOG.md has {told.get(name)} in its lines '- Budget: …'"
            for name, most in BUDGET.items()
            if told.get(name) != most
        ),
    ]
