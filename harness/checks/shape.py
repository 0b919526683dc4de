"""Whether a folder has the shape of an implementation that takes part. Reads files and starts nothing."""

import re
import tomllib
from collections.abc import Iterator
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
    folder = root / name
    if not folder.is_dir():
        names = [file.name for file in root.iterdir() if file.is_dir()]
        hint = nearest(name, names)
        raise UsageError(f"there is no folder '{name}'.{hint} `just new {name}` makes one.")
    return [*_bench(root, name), *_dockerfile(folder), *_ignored(folder), *_readme(folder)]


def _read(folder: Path, name: str) -> str | None:
    file = folder / name
    return file.read_text(errors="replace") if file.is_file() else None


# ---- bench.toml ----


def _bench(root: Path, name: str) -> Iterator[Flaw]:
    file = "bench.toml"
    text = _read(root / name, file)
    if text is None:
        yield Flaw(file, "is missing", "contract/README.md describes it; `just new` writes a commented one")
        return
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        yield Flaw(file, f"is not TOML: {error}", "https://toml.io: strings are in quotes, lists in [ ]")
        return
    yield from _types(name, given)
    yield from _names(root, given)


def _types(name: str, given: dict[str, Any]) -> Iterator[Flaw]:
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
                yield Flaw("bench.toml", f"{where}: {one['msg']}", _example(str(one["loc"][0])))


def _no_such(found: str, name: str, known: list[str]) -> Flaw:
    hint = f"It is called '{RENAMED[name]}' now." if name in RENAMED else nearest(name, known)
    return Flaw("bench.toml", found, f"{hint} There are: {', '.join(sorted(known))}".strip())


def _names(root: Path, given: dict[str, Any]) -> Iterator[Flaw]:
    """Settings and scenarios that do not exist."""
    catalog = Catalog(root)
    settings, scenarios = list(catalog.settings), list(catalog.scenarios)
    unsupported = given.get("unsupported", {}) if isinstance(given.get("unsupported", {}), dict) else {}
    for where, table, kind, known in (
        ("[defaults]", given.get("defaults"), "setting", settings),
        ("[further_values]", given.get("further_values"), "setting", settings),
        ("[unsupported.settings]", unsupported.get("settings"), "setting", settings),
        ("[unsupported.scenarios]", unsupported.get("scenarios"), "scenario", scenarios),
    ):
        if not isinstance(table, dict):
            continue
        for name in table:
            if name not in known:
                yield _no_such(f"{where} there is no {kind} '{name}'", name, known)


def _example(key: str) -> str:
    """What the file that `just new` writes says of a key, in the line before it."""
    lines = (TEMPLATE / "bench.toml").read_text().splitlines()
    for comment, line in pairwise(lines):
        if line.startswith((f"{key} =", f"[{key}]")):
            return comment.removeprefix("# ")
    return "contract/tests/README.md says what it is"


# ---- the image ----


def _instructions(text: str) -> list[tuple[str, list[str]]]:
    """Each instruction of a Dockerfile with its words, comments left out and continued lines joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n", " ", "\n".join(lines))
    return [(words[0].upper(), words[1:]) for line in joined.splitlines() if (words := line.split())]


def _dockerfile(folder: Path) -> Iterator[Flaw]:
    file = "Dockerfile"
    text = _read(folder, file)
    if text is None:
        remedy = "its context is the root of the repository; `just new` writes one to start from"
        yield Flaw(file, "is missing", remedy)
        return
    yield from _stages(_instructions(text))


def _stages(instructions: list[tuple[str, list[str]]]) -> Iterator[Flaw]:
    file = "Dockerfile"
    begins = [number for number, (name, _) in enumerate(instructions) if name == "FROM"]
    froms = [[word for word in instructions[number][1] if not word.startswith("--")] for number in begins]
    names = [words[2].lower() if len(words) > 2 else "" for words in froms]
    if "test" not in names:
        remedy = "FROM ... AS test: formatter, linters and unit tests, without a network"
        yield Flaw(file, "has no stage `test`", remedy)
    last = instructions[begins[-1] :] if begins else []
    users = [words[0] for name, words in last if name == "USER" and words]
    if not users or users[-1].partition(":")[0] in ("root", "0"):
        remedy = "in the last stage: RUN useradd --system --uid 10001 tandem, then USER tandem"
        yield Flaw(file, "runs as root", remedy)
    if not any(name in ("CMD", "ENTRYPOINT") for name, _ in last):
        yield Flaw(file, "has neither CMD nor ENTRYPOINT", 'in the last stage: CMD ["/usr/local/bin/mine"]')


def _ignored(folder: Path) -> Iterator[Flaw]:
    file = "Dockerfile.dockerignore"
    text = _read(folder, file)
    remedy = f"its first line is *, then what the image needs: !{folder.name}/src, !contract/sql/queries"
    if text is None:
        yield Flaw(file, "is missing, so the whole repository is sent to the engine", remedy)
    elif not text.startswith("*\n"):
        yield Flaw(file, "does not begin with a line *", remedy)


# ---- the page ----


def _readme(folder: Path) -> Iterator[Flaw]:
    file = "README.md"
    text = _read(folder, file)
    if text is None:
        yield Flaw(file, "is missing", f"it has the headings {', '.join(HEADINGS)}")
        return
    found = tuple(line[3:].strip() for line in text.splitlines() if line.startswith("## "))
    if found[: len(HEADINGS)] != HEADINGS:
        yield Flaw(
            file,
            f"its headings are {', '.join(found) or 'none'}",
            f"the first five, in this order, each after ##: {', '.join(HEADINGS)}",
        )
