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


type Process = tuple[Host, int]
"""A PID, and the host whose number it is."""


def held[K](
    containers: Sequence[Process], marks: Mapping[K, str], running: Sequence[Future[Any]]
) -> dict[K, Process]:
    """The generators that stand still before their beginning. containers: their first processes. marks: a word of each
    one's command. running: ends early where one could not be started. Raises TandemError."""
    until = time.monotonic() + HELD_WITHIN_S
    while time.monotonic() < until and not any(one.done() for one in running):
        found = _standing(containers, marks)
        if len(found) == len(marks):
            return found
        time.sleep(LOOK_S)
    for one in running:
        if one.done():
            one.result()
    raise TandemError("the load generators did not start")


def _standing[K](containers: Sequence[Process], marks: Mapping[K, str]) -> dict[K, Process]:
    commands = [
        ((host, pid), host.stopped(pid))
        for host, container in containers
        for pid in host.cgroup(container).processes()
    ]
    return {
        key: process
        for key, mark in marks.items()
        for process, command in commands
        if command and tuple(command[: len(HELD)]) == HELD and mark in command
    }


def end[K](
    containers: Sequence[Process],
    marks: Mapping[K, str],
    processes: Mapping[K, Process],
    running: Mapping[K, Future[Any]],
) -> None:
    """Kills the generators, those that stand still among them: nobody would wake them any more. processes: that are known."""
    until = time.monotonic() + HELD_WITHIN_S
    while time.monotonic() < until and not all(one.done() for one in running.values()):
        for key, (host, pid) in {**_standing(containers, marks), **processes}.items():
            if not running[key].done():
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
    processes: Mapping[str, Sequence[Process]],
) -> tuple[Callable[[str], None], Callable[[str], None]]:
    """`go` and `halt` for `take_turns`. processes: each label's generators. Where it has several, one that has died is left
    to its run, which tells it."""

    def send(label: str, number: int) -> None:
        for host, pid in processes[label]:
            with suppress(*[OSError] if len(processes[label]) > 1 else []):
                host.signal(pid, number)

    def go(label: str) -> None:
        send(label, signal.SIGCONT)

    def halt(label: str) -> None:
        send(label, signal.SIGSTOP)

    return go, halt
