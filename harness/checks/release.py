"""Makes a version: the changelog's unreleased part gets its name, and the version stands everywhere. Commits nothing."""

import re
from datetime import date
from pathlib import Path

from tandem.errors import UsageError

CHANGELOG, UNRELEASED = "CHANGELOG.md", "## Unreleased\n"
VERSION = re.compile(r"\d+\.\d+\.\d+")
PLACES = {
    "harness/pyproject.toml": r'(?m)^version = "({})"$',
    "harness/tandem/lab/provenance.py": r'(?m)^TANDEM_VERSION = "({})"$',
    "harness/uv.lock": r'(?m)^name = "tandem"\nversion = "({})"$',
    "CITATION.cff": r"(?m)^version: ({})$",
}
"""File -> the pattern that the version stands in."""
CITED, RELEASED = "CITATION.cff", re.compile(r"(?m)^date-released: .*$")


def versions(root: Path) -> dict[str, str]:
    """The version in each of PLACES. Raises UsageError where there is none."""
    found = {}
    for name, pattern in PLACES.items():
        match = re.search(pattern.format(VERSION.pattern), (root / name).read_text())
        if match is None:
            raise UsageError(f"{name} has no version")
        found[name] = match[1]
    return found


def release(root: Path, version: str, day: date) -> None:
    """Writes the version into all places and into the changelog.

    Raises UsageError, before anything is written, for a version that is not larger than the last, and for a changelog
    that says nothing of what is unreleased.
    """
    if not VERSION.fullmatch(version):
        raise UsageError(f"a version has three numbers, such as 1.2.0, not '{version}'")
    last = max(versions(root).values(), key=_numbers)
    text = (root / CHANGELOG).read_text()
    head, heading, rest = text.partition(UNRELEASED)
    first_release = f"## {last}" not in text
    if _numbers(version) < _numbers(last) or (version == last and not first_release):
        raise UsageError(f"{version} does not come after {last}")
    entries = rest.partition("\n## ")[0].strip()
    if not heading or not entries:
        raise UsageError(
            f"{CHANGELOG}: nothing stands under '{UNRELEASED.strip()}': what is new in {version}?"
        )
    for name, pattern in PLACES.items():
        file = root / name
        file.write_text(
            re.sub(pattern.format(VERSION.pattern), lambda m: m[0].replace(m[1], version), file.read_text())
        )
    cited = root / CITED
    cited.write_text(RELEASED.sub(f"date-released: {day.isoformat()}", cited.read_text()))
    (root / CHANGELOG).write_text(f"{head}{UNRELEASED}\n## {version} ({day.isoformat()})\n{rest}")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
