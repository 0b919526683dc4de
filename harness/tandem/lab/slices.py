"""Lets the generators of a window take turns: one runs, the others stand still. Applications are never stopped: their
time limits would run on."""

import math
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tandem.analysis.alternation import balanced
from tandem.errors import TandemError
from tandem.hosts.host import Host
from tandem.judge.slices import Slice
from tandem.lab.application import Application
from tandem.lab.generator_runs import Ran
from tandem.load.generator import FOLDER, Generator, Load
from tandem.record.trial import Slicing, WindowSpec

HELD = ("sh", "-c", 'kill -STOP $$; exec "$@"', "held")
"""What stands before a command: it stands still until it is woken, and only then becomes its program."""
HELD_WITHIN_S, LOOK_S = 20.0, 0.05
LEFT_S = 1.0
"""Rest after its duration in which a generator surely reaches its end, however late it began."""


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
    """Kills the generators, those that stand still among them, which nothing would wake any more. processes: that
    are known."""
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
) -> list[Slice]:
    """Make one slice after the other. go, halt: of a label's generator. mark: reads the counters; returns when."""

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
        made.append(Slice(label, woken_s, settled_s, ended_s, clock()))
    return made


def signals(
    processes: Mapping[str, Sequence[Process]],
) -> tuple[Callable[[str], None], Callable[[str], None]]:
    """`go` and `halt` for `take_turns`. processes: each label's generators. Where it has several, one that has died
    is left to its run, which tells it."""

    def send(label: str, number: int) -> None:
        for host, pid in processes[label]:
            with suppress(*[OSError] if len(processes[label]) > 1 else []):
                host.signal(pid, number)

    def go(label: str) -> None:
        send(label, signal.SIGCONT)

    def halt(label: str) -> None:
        send(label, signal.SIGSTOP)

    return go, halt


def turns_of(spec: WindowSpec) -> list[str]:
    """The labels in the order of their slices; none where they are loaded at once."""
    if spec.slices is None:
        return []
    groups = int(spec.seconds / (len(spec.variants) * spec.slices.slice_s))
    return balanced(spec.variants, groups, spec.slices.seed)


def until_the_end(load: Load, spec: WindowSpec, before: int) -> Load:
    """The load, so long that it lasts to the window's last slice, from its own first one. before: slices of others
    before that. A request may be in flight while its generator stands still, and is not late by that."""
    assert spec.slices is not None
    late_s, still_s = before * spec.slices.slice_s, 2 * len(spec.variants) * spec.slices.slice_s
    return replace(
        load, duration_s=math.ceil(spec.seconds - late_s), timeout_s=load.timeout_s + math.ceil(still_s)
    )


def in_slices(
    loads: dict[str, tuple[Application, str, Load]],
    by: Generator,
    turns: Sequence[str],
    how: Slicing,
    mark: Callable[[], float],
) -> tuple[dict[str, Ran], list[Slice]]:
    """Runs each load to its end, all but one of the generators standing still at any moment."""
    with ThreadPoolExecutor(len(loads)) as threads:
        running = {
            label: threads.submit(app.run, name, load, by, HELD) for label, (app, name, load) in loads.items()
        }
        first = next(iter(loads.values()))[0]
        containers = [(first.services[role].host, first.services[role].pid) for role in first.generators]
        marks = {
            (label, own): f"{FOLDER}/{own}.json"
            for label, (app, name, _) in loads.items()
            for own in app.names(name)
        }
        processes = dict[tuple[str, str], Process]()
        try:
            processes = held(containers, marks, list(running.values()))
            of = {
                label: [process for key, process in processes.items() if key[0] == label] for label in loads
            }
            go, halt = signals(of)
            made = take_turns(turns, how, go, halt, mark)
            ends_s = max(
                next(one.woken_s for one in made if one.label == label) + load.duration_s
                for label, (_, _, load) in loads.items()
            )
            time.sleep(max(0.0, ends_s + LEFT_S - time.time()))
        except BaseException:
            end(containers, marks, processes, {key: running[key[0]] for key in marks})
            raise
        for label in loads:  # their time is over: each takes the answers that wait for it, and ends
            go(label)
        return {label: run.result() for label, run in running.items()}, made
