"""The counters against processes that know what they used, end to end."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from python_on_whales import Container, DockerClient

from tandem.errors import TandemError
from tandem.hosts import HERE
from tandem.hosts.host import Cgroup
from tandem.judge.counters import HARNESS, foreign_cores
from tandem.probes.sampler import Sampler
from tandem.record.selftest import Outcome
from tandem.selftest import burner
from tandem.selftest.known_answer import KnownAnswer
from tandem.selftest.stage import BROKEN, HONEST, Stage

IMAGE = f"tandem/{BROKEN}"
"""Any image with Python."""
SHARES = (0.1, 0.5, 1.0, 1.5, 2.0, 2.5)
SHARE_S = 9
"""Seconds of each share: with their edges cut off as long as the usual window. An edge is known to a tick of the scheduler and
to what holds up the reader; over half of this time, that alone has exceeded CORE_SHARE on two busy cores."""
EDGE_S = 0.6
CORE_SHARE = 0.005
STOLEN, STOLEN_S, LOADED_S = (0.05, 0.10, 0.20), 6, 4
"""Shares of a core, for how long, and for how long of it there is a load."""
STOLEN_TOLERANCE = 0.02
"""Tolerance of stolen time, as a share of a core."""
THIEF = "thief"
CHILDREN, CHILD_S = 200, 0.020
SIZE_BYTES = 256 << 20
FORKS = 4
ENDS_S = 120


@dataclass
class Burner:
    """A running container of burner.py."""

    container: Container
    group: Cgroup

    def lines(self) -> list[dict[str, Any]]:
        """The lines that it printed, once it is done. Raises TandemError if it does not get done."""
        deadline = time.monotonic() + ENDS_S
        while time.monotonic() < deadline:
            said = str(self.container.logs()).splitlines()
            if said and said[-1] == "done":
                return [json.loads(line) for line in said[:-1]]
            time.sleep(0.2)
        raise TandemError(f"the burner did not end: {self.container.logs()}")


@contextmanager
def burning(*arguments: object) -> Iterator[Burner]:
    """Starts the burner; it waits a moment before it begins."""
    docker = DockerClient()
    source = Path(burner.__file__).read_text()
    container = docker.run(
        IMAGE, ["python3", "-c", source, *map(str, arguments)], detach=True, labels={"dev.tandem": "stack"}
    )
    assert isinstance(container, Container)
    try:
        container.reload()  # type: ignore[no-untyped-call]
        yield Burner(container, HERE.cgroup(container.state.pid or 0))
    finally:
        container.remove(force=True, volumes=True)


def _own_cores(lines: list[dict[str, Any]], low_s: float, high_s: float) -> float:
    """Cores that the burner used, by its processes' own clocks."""
    used = 0.0
    for process in {line["process"] for line in lines}:
        own = [line for line in lines if line["process"] == process]
        at_s, cpu_s = [line["at_s"] for line in own], [line["cpu_s"] for line in own]
        used += float(np.interp(high_s, at_s, cpu_s) - np.interp(low_s, at_s, cpu_s))
    return used / (high_s - low_s)


def shares(cpus: int) -> Outcome:
    """A burner at known shares of a core, as tandem.judge.counters computes them, against its own clocks."""
    wanted = [share for share in SHARES if share <= max(1.0, cpus - 0.5)]
    with burning("share", ",".join(map(str, wanted)), SHARE_S) as it:
        sampler = Sampler(HERE, {"burner": it.group}, None, None, lambda before, now: None)
        sampler.start()
        lines = it.lines()
        series = sampler.stop()
    differences, polled = [], []
    for share in wanted:
        own = [line for line in lines if line["share"] == f"{share:.2f}"]
        low, high = _inside(own)
        true = _own_cores(own, low, high)
        used = [series.at(moment, lambda sample: sample.usage["burner"].cpu_s) for moment in (low, high)]
        differences.append((used[1] - used[0]) / (high - low) - true)
        polled.append(_own_cores([line for line in own if line["process"] == 0], low, high) - true)
    return KnownAnswer[list[float]](
        name="CPU burner",
        expected=f"its own clocks at {', '.join(f'{share:.0%}' for share in wanted)} of a core",
        tolerance=f"{CORE_SHARE:.1%} of a core",
        right=lambda off: max(map(abs, off)) <= CORE_SHARE,
        shown=lambda off: (
            f"{max(map(abs, off)):.2%} of a core off at most ({', '.join(f'{d:+.2%}' for d in off)})"
        ),
        broken="one process of the container looked at",
    ).judged(differences, polled)


def _inside(lines: list[dict[str, Any]]) -> tuple[float, float]:
    """The time of these lines without its edges."""
    moments = [line["at_s"] for line in lines]
    return min(moments) + EDGE_S, max(moments) - EDGE_S


def foreign(stage: Stage) -> Outcome:
    """A process that steals a known share of a core while a server is loaded over the network, which is when interrupts
    come. What is foreign besides, on an idle host next to nothing, is what the same seconds say with the thief as ours."""
    found, rest = [], []
    with stage.running() as running:
        for share in STOLEN:
            with burning("share", share, STOLEN_S) as thief:
                stack = {role: HERE.cgroup(service.pid) for role, service in running.app.services.items()}
                groups = {**stack, HARNESS: HERE.harness_cgroup(), THIEF: thief.group}
                sampler = Sampler(HERE, groups, None, None, lambda before, now: None)
                sampler.start()
                running.window(LOADED_S, HONEST, settled=False)
                lines = thief.lines()
                series = sampler.stop()
            inside = _inside(lines)
            all_of_it, _ = foreign_cores(series, [inside], groups.keys() - {THIEF})
            besides, _ = foreign_cores(series, [inside], groups.keys())
            found.append((_own_cores(lines, *inside), all_of_it - besides))
            rest.append(besides)
    return KnownAnswer[list[tuple[float, float]]](
        name="stolen CPU under load",
        expected=f"{', '.join(f'{share:.0%}' for share in STOLEN)} of a core by the thief's own clock",
        tolerance=f"{STOLEN_TOLERANCE:.0%} of a core",
        right=lambda pairs: max(abs(seen - true) for true, seen in pairs) <= STOLEN_TOLERANCE,
        shown=lambda pairs: (
            f"{', '.join(f'{true:.1%} as {seen:.1%}' for true, seen in pairs)};"
            f" besides it {min(rest):.1%} to {max(rest):.1%} of a core"
        ),
        broken="with the thief counted as ours",
        caught=lambda pairs: min(abs(seen - true) for true, seen in pairs) > STOLEN_TOLERANCE,
    ).judged(found, [(true, 0.0) for true, _ in found])


def children() -> Outcome:
    """Processes that live shorter than any sampling interval."""
    with burning("children", CHILDREN, CHILD_S) as it:
        before, alive_before = it.group.usage().cpu_s, sum(it.group.thread_cpu_s().values())
        [line] = it.lines()
        after, alive_after = it.group.usage().cpu_s, sum(it.group.thread_cpu_s().values())
    busy = line["cpu_s"] >= 0.99 * line["least_s"]
    return KnownAnswer[float](
        name=f"{CHILDREN} children of {CHILD_S * 1e3:.0f} ms",
        expected=f"{line['cpu_s']:.2f} s of CPU by their parent's account",
        tolerance="99 % captured, 5 % more at most",
        right=lambda used_s: 0.99 <= used_s / line["cpu_s"] <= 1.05 and busy,
        shown=lambda used_s: f"{used_s:.2f} s, {used_s / line['cpu_s']:.1%}",
        broken="summed over living threads",
        caught=lambda used_s: used_s / line["cpu_s"] < 0.99,
    ).judged(after - before, alive_after - alive_before)


def _grown(touched: str, forks: int) -> tuple[int, int]:
    """Growth of the container's memory; sum of the resident memory of its processes at the end."""
    with burning("memory", SIZE_BYTES, touched, forks) as it:
        before = it.group.usage().memory_bytes
        it.lines()
        after = it.group.usage().memory_bytes
        resident = it.group.resident_bytes()
    return after - before, resident


def memory() -> list[Outcome]:
    """Memory that is touched counts, memory that is only asked for does not, and copies of a process share its pages until
    they write. All wait most of the time, so they do that beside each other."""
    with ThreadPoolExecutor() as threads:
        found = threads.map(_grown, ("touched", "untouched", "touched"), (0, 0, FORKS))
        (grown, _), (untouched, _), (forked, resident) = found

    def shown(more: int) -> str:
        return f"{more / 2**20:.1f} MiB more"

    return [
        KnownAnswer[int](
            name="256 MiB touched",
            expected="256 MiB more",
            tolerance="2 %",
            right=lambda more: 0.98 <= more / SIZE_BYTES <= 1.02,
            shown=shown,
            broken="not touched",
        ).judged(grown, untouched),
        KnownAnswer[int](
            name=f"{FORKS} forks of 256 MiB",
            expected="256 MiB more, once",
            tolerance="+5 %",
            right=lambda more: 0.98 <= more / SIZE_BYTES <= 1.05,
            shown=shown,
            broken="resident memory summed over processes, as psrecord does",
            caught=lambda more: more / SIZE_BYTES > 1.05,
        ).judged(forked, resident),
    ]


def run(stage: Stage) -> list[Outcome]:
    """The checks of this module."""
    return [shares(HERE.cpus), children(), *memory(), foreign(stage)]
