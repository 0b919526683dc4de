"""Lets the generators of a window take turns: one runs, the others stand still. Applications are never stopped: their
time limits would run on."""

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from tandem.errors import TandemError
from tandem.hosts.host import Host
from tandem.judge.slices import Stretch
from tandem.record.trial import Slicing

HELD = ("sh", "-c", 'kill -STOP $$; exec "$@"', "held")
"""Before a command: it stands still until it is woken, and only then becomes its program."""
HELD_WITHIN_S, LOOK_S = 20.0, 0.05
LEFT_S = 1.0
"""So long after its duration a generator has surely reached its end, however late it began."""


def held[K](
    host: Host, containers: Sequence[int], marks: Mapping[K, str], running: Sequence[Future[Any]]
) -> dict[K, int]:
    """The PIDs of the generators that stand still before their beginning. containers: PIDs of their first processes.
    marks: a word of each one's command. running: ends early where one could not be started. Raises TandemError."""
    until = time.monotonic() + HELD_WITHIN_S
    while time.monotonic() < until and not any(one.done() for one in running):
        found = _standing(host, containers, marks)
        if len(found) == len(marks):
            return found
        time.sleep(LOOK_S)
    for one in running:
        if one.done():
            one.result()
    raise TandemError("the load generators did not begin")


def _standing[K](host: Host, containers: Sequence[int], marks: Mapping[K, str]) -> dict[K, int]:
    commands = {
        pid: host.stopped(pid) for container in containers for pid in host.cgroup(container).processes()
    }
    return {
        label: pid
        for label, mark in marks.items()
        for pid, command in commands.items()
        if command and tuple(command[: len(HELD)]) == HELD and mark in command
    }


def end[K](
    host: Host,
    containers: Sequence[int],
    marks: Mapping[K, str],
    pids: Mapping[K, int],
    running: Mapping[K, Future[Any]],
) -> None:
    """Kills the generators, those that stand still among them: nobody would wake them any more. pids: that are known."""
    until = time.monotonic() + HELD_WITHIN_S
    while time.monotonic() < until and not all(one.done() for one in running.values()):
        for label, pid in {**_standing(host, containers, marks), **pids}.items():
            if not running[label].done():
                with suppress(OSError):
                    host.signal(pid, signal.SIGKILL)
        time.sleep(LOOK_S)


def take_turns(
    order: Sequence[str],
    how: Slicing,
    go: Callable[[str], None],
    halt: Callable[[str], None],
    mark: Callable[[], float],
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> list[Stretch]:
    """One slice after the other. go, halt: of a label's generator. mark: reads the counters; when that was."""

    def wait(until_s: float) -> None:
        sleep(max(0.0, until_s - clock()))

    made, ends_s = [], clock()
    for label in order:
        ends_s += how.slice_s
        woken_s = clock()
        go(label)
        wait(woken_s + how.settle_s)
        settled_s = mark()
        wait(ends_s)
        ended_s = mark()
        halt(label)
        made.append(Stretch(label, woken_s, settled_s, ended_s, clock()))
    return made


def signals(
    host: Host, pids: Mapping[str, Sequence[int]]
) -> tuple[Callable[[str], None], Callable[[str], None]]:
    """`go` and `halt` for `take_turns`. pids: of each label's generators. Where it has several, one that has died is left
    to its run, which tells it."""

    def send(label: str, number: int) -> None:
        for pid in pids[label]:
            with suppress(*[OSError] if len(pids[label]) > 1 else []):
                host.signal(pid, number)

    def go(label: str) -> None:
        send(label, signal.SIGCONT)

    def halt(label: str) -> None:
        send(label, signal.SIGSTOP)

    return go, halt
