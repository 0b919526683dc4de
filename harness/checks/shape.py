"""Whether a folder has the shape of an implementation that takes part. Reads files and starts nothing."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tandem.catalog.catalog import Catalog, Implementation, Unsupported
from tandem.errors import UsageError, nearest

HEADINGS = ("Stack", "Concurrency model", "Settings that matter", "Request path", "Known limits")
STAGES = 3
"""Build, test, and the last, which runs."""


@dataclass(frozen=True)
class Flaw:
    """What is wrong with a file of the folder, and what to do about it."""

    file: str
    found: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}: {self.found}\n    {self.remedy}"


def examine(root: Path, name: str) -> list[Flaw]:
    """What the folder lacks. Raises UsageError if there is no such folder."""
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
        yield Flaw(
            file, "is missing", "contract/README.md says what is in it; `just new` writes a commented one"
        )
        return
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        yield Flaw(file, f"is not TOML: {error}", "https://toml.io: texts stand in quotes, a list in [ ]")
        return
    yield from _types(name, given)
    yield from _names(root, given)
    if "tier" not in given:
        yield Flaw(file, "tier is missing", EXAMPLES["tier"])


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
                yield Flaw("bench.toml", f"{where}: {one['msg']}", EXAMPLES[str(one["loc"][0])])


def _no_such(found: str, name: str, known: list[str]) -> Flaw:
    return Flaw("bench.toml", found, f"{nearest(name, known)} There are: {', '.join(sorted(known))}".strip())


def _names(root: Path, given: dict[str, Any]) -> Iterator[Flaw]:
    """Settings and scenarios that do not exist, and reasons that say nothing."""
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
        for name, value in table.items():
            if name not in known:
                yield _no_such(f"{where} there is no {kind} '{name}'", name, known)
            elif where.startswith("[unsupported") and isinstance(value, str) and not value.strip():
                yield Flaw(
                    "bench.toml", f"{where} {name} has no reason", f'{name} = "why not, in a sentence"'
                )


EXAMPLES = {
    "title": 'a text: title = "Go, async"',
    "language": 'a text: language = "go"',
    "model": 'model = "sync" or model = "async"',
    "tier": 'tier = "core" or tier = "hardened"',
    "stack": 'a list of texts: stack = ["net/http", "pgx"]',
    "pool_tells": "pool_tells = true or pool_tells = false, without quotes",
    "defaults": 'a number or a formula of the CPUs: WORKERS = "cpus", THREADS = "2*cpus+1"',
    "further_values": 'a list of texts for each setting: DB_PREPARE = ["each"]',
    "unsupported": 'tables of reasons: [unsupported.scenarios] and below it users = "several processes share no memory"',
}


# ---- the image ----


def _dockerfile(folder: Path) -> Iterator[Flaw]:
    file = "Dockerfile"
    text = _read(folder, file)
    if text is None:
        yield Flaw(
            file,
            "is missing",
            "its context is the root of the repository; `just new` writes one to begin with",
        )
        return
    words = [line.split() for line in text.splitlines()]
    stages = [line for line in words if line[:1] and line[0].upper() == "FROM"]
    names = [line[3].lower() for line in stages if len(line) > 3 and line[2].upper() == "AS"]
    if "test" not in names:
        yield Flaw(
            file,
            "has no stage `test`",
            "FROM ... AS test: formatter, linters and unit tests, without a network",
        )
    elif names[-1] == "test" and len(names) == len(stages):
        yield Flaw(
            file, "its last stage is `test`", "the last stage is the one that runs: FROM debian:trixie-slim"
        )
    if len(stages) < STAGES:
        yield Flaw(
            file,
            f"has {len(stages)} stages",
            "three at the least: one that builds, `test`, and the last, which runs",
        )
    last = max(
        (number for number, line in enumerate(words) if line[:1] and line[0].upper() == "FROM"), default=0
    )
    users = [line[1] for line in words[last:] if line[:1] and line[0].upper() == "USER" and len(line) > 1]
    if not users or users[-1] in ("root", "0"):
        yield Flaw(
            file,
            "runs as root",
            "in the last stage: RUN useradd --system --uid 10001 tandem, then USER tandem",
        )
    if not any(line[:1] and line[0].upper() in ("CMD", "ENTRYPOINT") for line in words[last:]):
        yield Flaw(file, "starts nothing", 'in the last stage: CMD ["/usr/local/bin/mine"]')
    # The context is the root: a path without the folder's name is one of the root.
    for line in words:
        if (
            line[:1]
            and line[0].upper() in ("COPY", "ADD")
            and not any(w.startswith(("--from", "<<")) for w in line)
        ):
            for source in [w for w in line[1:-1] if not w.startswith("--")]:
                if not (folder.parent / source.rstrip("/").split("*")[0]).exists() and "$" not in source:
                    yield Flaw(
                        file,
                        f"COPY {source}: there is no such file",
                        f"paths begin at the root: {folder.name}/{source}",
                    )


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
