"""Runs a load generator in its container and brings its files home."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tandem.errors import TandemError
from tandem.lab.stack import Stack
from tandem.load.generator import FOLDER, Generator, Load, body_file

# The generator's own lines stand between two stamps; its exit status is passed on.
_SCRIPT = 'date +%s.%N; "$@"; status=$?; date +%s.%N; exit $status'

KEPT_CHARACTERS = 20_000
"""Of the end of what a generator printed: its summary is there."""


@dataclass(frozen=True)
class Ran:
    """A load that has run. Times: time.time()."""

    began_s: float
    ended_s: float
    text: str
    """What the generator printed."""


def split(said: str) -> Ran:
    """When the load began, what the generator printed, when it ended. Raises TandemError if a stamp is missing."""
    lines = said.strip("\n").split("\n")
    try:
        return Ran(float(lines[0]), float(lines[-1]), "\n".join(lines[1:-1]) + "\n")
    except (ValueError, IndexError):
        raise TandemError(f"the load generator's output has no stamps:\n{said[-500:]}") from None


_GIVEN: set[tuple[str, str]] = set()
"""Container and body file, of those that are there: drawn bodies are many megabytes."""


def send(stack: Stack, container: str, folder: Path, name: str, load: Load, by: Generator) -> None:
    """Gives the generator's container what a load reads. container: its id; name: of the load's files. Raises TandemError."""
    if load.bodies is not None and (container, load.bodies.name) not in _GIVEN:
        (file := folder / "body").write_bytes(b"\n".join(load.bodies.each))
        stack.copy_in("loadgen", file, body_file(load.bodies))
        file.unlink()  # the record's salt makes them again
        _GIVEN.add((container, load.bodies.name))
    for suffix, text in by.inputs(load, name).items():
        file = folder / f"{name}.{suffix}"
        file.write_text(text)
        stack.copy_in("loadgen", file, f"{FOLDER}/{file.name}")


def installed(stack: Stack, generator: str) -> None:
    """Raises TandemError, with the remedy, for a generator that the image does not have."""
    script = 'command -v "$1" >/dev/null || echo missing'
    if stack.execute("loadgen", ["sh", "-c", script, "sh", generator]).strip():
        raise TandemError(
            f"the image of the load generators has no {generator}: it is older than loadgen/Dockerfile. Build it anew:"
            f" LOADGEN={stack.variables['LOADGEN']} docker compose --profile load build loadgen"
        )


def run_load(
    stack: Stack, folder: Path, name: str, load: Load, by: Generator, before: Sequence[str] = ()
) -> Ran:
    """Runs a load to its end, after `send`. name: of the files that it leaves in `folder`, one for each load that runs
    at the same time. before: of the generator's command. Raises TandemError."""
    left = [f"{name}.{suffix}" for suffix in by.suffixes]
    (folder / f"{name}.txt").unlink(missing_ok=True)
    script = f"cd {FOLDER} && rm -f {' '.join(left)}; {_SCRIPT}"
    try:
        ran = split(stack.execute("loadgen", ["sh", "-c", script, "sh", *before, *by.arguments(load, name)]))
        host = stack.sites.of("loadgen").host
        ran = replace(ran, began_s=host.to_ours(ran.began_s), ended_s=host.to_ours(ran.ended_s))
    except TandemError:
        installed(stack, by.name)
        raise
    for file_name in left:
        stack.copy_out("loadgen", f"{FOLDER}/{file_name}", folder / file_name)
    if ran.text.strip():
        (folder / f"{name}.txt").write_text(ran.text[-KEPT_CHARACTERS:])
    return ran
