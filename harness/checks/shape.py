"""Whether a folder has the shape of an implementation that takes part. Reads files and starts nothing."""

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from checks.new import TEMPLATE
from tandem.catalog.catalog import Catalog, Implementation, Unsupported
from tandem.catalog.toml import RENAMED
from tandem.errors import UsageError, nearest

HEADINGS = ("Stack", "Concurrency model", "Settings that matter", "Request path", "Known limits")
IGNORED = "its first line is *, then what the image needs: !{}/src, !contract/sql/queries"

type Faults = Iterator[tuple[str, str]]
"""What is wrong with a file, and its remedy."""


@dataclass(frozen=True)
class Flaw:
    """A fault of a file of the folder, and its remedy."""

    file: str
    found: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}: {self.found}\n    {self.remedy}"


def examine(root: Path, name: str) -> list[Flaw]:
    """All flaws of the folder. Raises UsageError if there is no such folder."""
    if not (root / name).is_dir():
        names = [file.name for file in root.iterdir() if file.is_dir()]
        hint = nearest(name, names)
        raise UsageError(f"there is no folder '{name}'.{hint} `just new {name}` makes one.")
    flaws = []
    for file, (look, missing, remedy) in FILES.items():
        path = root / name / file
        faults = look(root, name, path.read_text(errors="replace")) if path.is_file() else None
        flaws += [Flaw(file, *fault) for fault in faults or [(missing, remedy.format(name))]]
    return flaws


# ---- bench.toml ----


def _bench(root: Path, name: str, text: str) -> Faults:
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        yield f"is not TOML: {error}", "https://toml.io: strings are in quotes, lists in [ ]"
        return
    yield from _types(name, given)
    yield from _names(Catalog(root), given)


def _types(name: str, given: dict[str, Any]) -> Faults:
    """Keys that do not exist, are missing, or have another type than theirs."""
    try:
        Implementation.model_validate({**given, "name": name})
    except ValidationError as error:
        told = error.errors()
        odd = [one for one in told if one["type"] == "extra_forbidden"]
        meant = set()
        for one in odd:
            *within, key = map(str, one["loc"])
            known = [*(Unsupported if within else Implementation).model_fields.keys() - {"name"}]
            meant |= {*get_close_matches(key, known, n=1, cutoff=0.5)}
            where = f" of [{'.'.join(within)}]" if within else ""
            yield _no_such(f"there is no key{where} '{key}'", key, known)
        for one in told:
            where = " -> ".join(map(str, one["loc"]))
            if one not in odd and not (one["type"] == "missing" and where in meant):
                yield f"{where}: {one['msg']}", _example(str(one["loc"][0]))


def _no_such(found: str, name: str, known: list[str]) -> tuple[str, str]:
    hint = f"It is called '{RENAMED[name]}' now." if name in RENAMED else nearest(name, known)
    return found, f"{hint} There are: {', '.join(sorted(known))}".strip()


def _names(catalog: Catalog, given: dict[str, Any]) -> Faults:
    """Settings and scenarios that do not exist."""
    unsupported = given.get("unsupported", {}) if isinstance(given.get("unsupported", {}), dict) else {}
    kinds = {"setting": [*catalog.settings], "scenario": [*catalog.scenarios]}
    for where, table, kind in (
        ("[defaults]", given.get("defaults"), "setting"),
        ("[further_values]", given.get("further_values"), "setting"),
        ("[unsupported.settings]", unsupported.get("settings"), "setting"),
        ("[unsupported.scenarios]", unsupported.get("scenarios"), "scenario"),
    ):
        for name in table if isinstance(table, dict) else ():
            if name not in kinds[kind]:
                yield _no_such(f"{where} there is no {kind} '{name}'", name, kinds[kind])


def _example(key: str) -> str:
    """What the file that `just new` writes says of a key, in the line before it."""
    lines = (TEMPLATE / "bench.toml").read_text().splitlines()
    for comment, line in pairwise(lines):
        if line.startswith((f"{key} =", f"[{key}]")):
            return comment.removeprefix("# ")
    return "contract/tests/README.md says what it is"


# ---- the image and the page ----


def _dockerfile(root: Path, name: str, text: str) -> Faults:
    # Each instruction with its words, comments left out and continued lines joined.
    kept = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    lines = map(str.split, re.sub(r"\\\n", " ", kept).splitlines())
    instructions = [(words[0].upper(), words[1:]) for words in lines if words]
    begins = [number for number, (instruction, _) in enumerate(instructions) if instruction == "FROM"]
    froms = [[word for word in instructions[number][1] if not word.startswith("--")] for number in begins]
    if "test" not in [words[2].lower() for words in froms if len(words) > 2]:
        yield "has no stage `test`", "FROM ... AS test: formatter, linters and unit tests, without a network"
    last = instructions[begins[-1] :] if begins else []
    users = [words[0] for instruction, words in last if instruction == "USER" and words]
    if not users or users[-1].partition(":")[0] in ("root", "0"):
        yield (
            "runs as root",
            "in the last stage: RUN useradd --system --uid 10001 tandem, then USER tandem",
        )
    if not any(instruction in ("CMD", "ENTRYPOINT") for instruction, _ in last):
        yield "has neither CMD nor ENTRYPOINT", 'in the last stage: CMD ["/usr/local/bin/mine"]'


def _ignored(root: Path, name: str, text: str) -> Faults:
    if not text.startswith("*\n"):
        yield "does not begin with a line *", IGNORED.format(name)


def _readme(root: Path, name: str, text: str) -> Faults:
    found = tuple(line[3:].strip() for line in text.splitlines() if line.startswith("## "))
    if found[: len(HEADINGS)] != HEADINGS:
        told = f"its headings are {', '.join(found) or 'none'}"
        yield told, f"the first five, in this order, each after ##: {', '.join(HEADINGS)}"


FILES: dict[str, tuple[Callable[[Path, str, str], Faults], str, str]] = {
    "bench.toml": (
        _bench,
        "is missing",
        "contract/README.md describes it; `just new` writes a commented one",
    ),
    "Dockerfile": (
        _dockerfile,
        "is missing",
        "its context is the root of the repository; `just new` writes one to start from",
    ),
    "Dockerfile.dockerignore": (
        _ignored,
        "is missing, so the whole repository is sent to the engine",
        IGNORED,
    ),
    "README.md": (_readme, "is missing", f"it has the headings {', '.join(HEADINGS)}"),
}
"""File -> the check of its text; the fault of one that is missing, and its remedy."""
