"""Runs load generators in their containers and brings their files home."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from tandem.errors import TandemError
from tandem.lab.stack import Stack
from tandem.load.generator import FOLDER, Generator, Load, Report, body_file
from tandem.load.rows import Rows
from tandem.load.shares import FIRST, Dealt, Share, merged

# The soft limit of open files may be 1,024, and neither oha nor wrk raises it. The generator's own lines stand between
# two stamps; its exit status is passed on.
_SCRIPT = 'ulimit -n "$(ulimit -Hn)"; date +%s.%N; "$@"; status=$?; date +%s.%N; exit $status'

# Of several generators: each gets ready and waits here, by its own clock, for a moment in nanoseconds since 1970.
_WAIT = (
    "left=$(({moment} - $(date +%s%N)));"
    ' [ "$left" -gt 0 ] && sleep "$(printf %d.%09d $((left / 1000000000)) $((left % 1000000000)))"; '
)
LEAD_S = 1.0
"""Time before the common moment at which the generators are called. What was called too late begins at once, and
is told."""

KEPT_CHARACTERS = 20_000
"""Characters that are kept of the end of what a generator printed: its summary is there."""


@dataclass(frozen=True)
class Ran:
    """A load that has run. Times: time.time()."""

    began_s: float
    ended_s: float
    text: str
    """The generator's output."""
    shares: tuple["RanShare", ...] = ()
    """Shares of each generator, where several shared it; the times are then those of the first that began and the
    last that ended."""


@dataclass(frozen=True)
class RanShare:
    """One generator's share of a load that has run. name: of its files. ran: None where it broke."""

    share: Share
    name: str
    ran: Ran | None
    late_s: float | None = None
    """Seconds from when it had to begin to when it began."""
    problem: str | None = None
    """Why it broke."""

    def left(self, folder: Path, by: Generator) -> tuple[Rows, Report] | str:
        """Rows and report that it left in `folder`, or why they are missing."""
        if self.problem is not None:
            return self.problem
        try:
            return by.read(folder, self.name)
        except TandemError as error:
            return str(error)


def split(said: str) -> Ran:
    """When the load began, what the generator printed, when it ended. Raises TandemError if a stamp is missing."""
    lines = said.strip("\n").split("\n")
    try:
        return Ran(float(lines[0]), float(lines[-1]), "\n".join(lines[1:-1]) + "\n")
    except (ValueError, IndexError):
        raise TandemError(f"the load generator's output has no time stamps:\n{said[-500:]}") from None


_GIVEN: set[tuple[str, str]] = set()
"""Container and body file, of those that are there: drawn bodies are many megabytes."""


def send(
    stack: Stack, container: str, folder: Path, name: str, load: Load, by: Generator, role: str = FIRST
) -> None:
    """Gives a generator's container what a load reads. container: its id; name: of the load's files. Raises TandemError."""
    for bodies in {part.bodies for part in load.parts if part.bodies is not None}:
        if (container, bodies.name) not in _GIVEN:
            (file := folder / "body").write_bytes(b"\n".join(bodies.each))
            stack.copy_in(role, file, body_file(bodies))
            file.unlink()  # the record's salt makes them again
            _GIVEN.add((container, bodies.name))
    for suffix, text in by.inputs(load, name).items():
        file = folder / f"{name}.{suffix}"
        file.write_text(text)
        stack.copy_in(role, file, f"{FOLDER}/{file.name}")


def installed(stack: Stack, generator: str, role: str = FIRST) -> None:
    """Raises TandemError, with the remedy, for a generator that the image does not have."""
    script = 'command -v "$1" >/dev/null || echo missing'
    if stack.execute(role, ["sh", "-c", script, "sh", generator]).strip():
        raise TandemError(
            f"the image of the load generators has no {generator}: it is older than loadgen/Dockerfile. Rebuild it:"
            f" LOADGEN={stack.variables['LOADGEN']} docker compose --profile load build loadgen"
        )


def run_load(
    stack: Stack,
    folder: Path,
    name: str,
    load: Load,
    by: Generator,
    before: Sequence[str] = (),
    role: str = FIRST,
    at_s: float | None = None,
) -> Ran:
    """Runs a load to its end, after `send`. name: of the files that it leaves in `folder`, one for each load that runs
    at the same time. before: of the generator's command. at_s: when it begins (time.time()); None: at once. Raises
    TandemError."""
    left = [f"{name}.{suffix}" for suffix in by.suffixes]
    (folder / f"{name}.txt").unlink(missing_ok=True)
    host = stack.sites.of(role).host
    # That host waits by its own clock, which is ahead of this one by what it would call our zero.
    wait = "" if at_s is None else _WAIT.format(moment=int((at_s - host.to_ours(0.0)) * 1e9))
    script = f"cd {FOLDER} && rm -f {' '.join(left)}; {wait}{_SCRIPT}"
    try:
        command = ["sh", "-c", script, "sh", *before, *by.arguments(load, name)]
        ran = split(stack.execute(role, command, load.duration_s + load.patience_s))
        began_s = by.began_s(ran.text) or ran.began_s
        ran = replace(ran, began_s=host.to_ours(began_s), ended_s=host.to_ours(ran.ended_s))
    except TandemError:
        installed(stack, by.name, role)
        raise
    for file_name in left:
        stack.copy_out(role, f"{FOLDER}/{file_name}", folder / file_name)
    if ran.text.strip():
        (folder / f"{name}.txt").write_text(ran.text[-KEPT_CHARACTERS:])
    return ran


def run_shares(
    stack: Stack, folder: Path, shares: Mapping[str, Share], by: Generator, before: Sequence[str] = ()
) -> Ran:
    """Runs the shares of a load to their ends, after `send` for each. shares: by the name of their files. They
    begin at one moment, each with its phase; with a command before them that is left to who wakes it. A generator
    that breaks is told in its share, and the others go on. Raises TandemError where all break."""
    moment_s = time.time() + LEAD_S

    def one(name: str, share: Share) -> RanShare:
        at_s = None if before else moment_s + share.after_s
        try:
            ran = run_load(stack, folder, name, share.load, by, before, share.role, at_s)
        except TandemError as error:
            return RanShare(share, name, None, problem=str(error))
        return RanShare(share, name, ran, None if at_s is None else ran.began_s - at_s)

    with ThreadPoolExecutor(len(shares)) as threads:
        made = tuple(threads.map(one, shares, shares.values()))
    ran = [part.ran for part in made if part.ran is not None]
    if not ran:
        raise TandemError(f"no generator ran: {made[0].problem}")
    return Ran(min(one.began_s for one in ran), max(one.ended_s for one in ran), "", made)


def collected(
    folder: Path,
    by: Generator,
    ran: Ran,
    seen: Callable[[RanShare, tuple[Rows, Report] | str], None],
    zero_s: Callable[[Rows], float] | None = None,
) -> Rows:
    """The rows of all generators that shared a load, merged; they count from the first that began. seen: called with each
    share and what it left. zero_s: when a generator's rows count from, where its stamp does not tell."""
    first_s: float | None = None if zero_s else ran.began_s

    def parts() -> Iterator[Dealt]:
        nonlocal first_s
        for part in ran.shares:
            left = part.left(folder, by)
            seen(part, left)
            if part.ran is not None and not isinstance(left, str):
                began_s = zero_s(left[0]) if zero_s else part.ran.began_s
                first_s = began_s if first_s is None else first_s
                yield Dealt(left[0], began_s - first_s, part.share.load.rate_rps)

    return merged(parts())
