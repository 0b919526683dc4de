"""Limits injected on purpose, end to end: the bottleneck that the harness names must be that one."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from threading import Thread
from typing import Any

from tandem.errors import TandemError
from tandem.judge.bottleneck import tags
from tandem.record.selftest import Outcome
from tandem.record.window import Window
from tandem.selftest.known_answer import KnownAnswer
from tandem.selftest.stage import BROKEN, FAST, TELLING, Running, Stage

WINDOW_S = 4
WANTED_SHARE = 0.95
"""Share of the weekly class's windows that must be named right."""


@dataclass(frozen=True)
class Limit:
    """One limit: how the stack is started, what the window is, and the tag that must come out."""

    name: str
    tag: str
    behaviour: str | None = None
    connections: int = 20
    address: str | None = None
    start: dict[str, Any] = field(default_factory=dict)
    """Arguments of `Stage.running`."""
    sql: str | None = None
    """Statements for the database, before the window."""
    hogs: int = 0
    """Number of sessions that disturb the database during the window."""
    hog: str = ""
    """SQL of each of them, which runs longer than the window."""
    says: str = ""
    """Words that the evidence must have, where a tag has several reasons."""


SLOW = """
alter table core_recipe enable row level security;
create policy slow on core_recipe for select using (pg_sleep(0.005)::text is not null);
"""
"""Each look at a recipe takes 5 ms more and no CPU."""
HOG = """
do $$ begin while clock_timestamp() < now() + interval '8 s' loop perform 1; end loop; end $$
"""
LOCK = """
do $$
declare ends timestamptz := clock_timestamp() + interval '8 s';
begin
    while clock_timestamp() < ends loop
        lock table core_note in share row exclusive mode;
        perform pg_sleep(0.08);
        commit;
        perform pg_sleep(0.02);
    end loop;
end $$
"""
"""Writers of notes have to wait. A lock on the author's row, which every note refers to, would not do: those who share it
let each other in past the one that waits to have it alone."""
POOL_OF_1 = {"implementation": FAST, "scenario": "recipe", "variables": {"PGBOUNCER_POOL_SIZE": "1"}}
OWN_POOL = {"implementation": TELLING, "scenario": "recipe", "settings": {"DB_POOL_MAX": "1", "WORKERS": "1"}}
TWO_THREADS = {"implementation": BROKEN, "scenario": "work", "settings": {"THREADS": "2"}}

LIMITS = [
    Limit("added latency", "latency-bound", "kind=constant&us=20000"),
    Limit("CPU of the application", "app-cpu", "kind=spin&us=1000"),
    # Parsing the headers costs the generator CPU time. Without them both are about as busy, and either may come first.
    Limit("generator on one thread", "generator", "kind=constant&headers=90", 50, "app:8080"),
    Limit(
        "one thread of the application", "app-thread", "kind=queue&us=1000&busy=1",
        start={"variables": {"APP_CPUSET": "0-1"}},
    ),
    Limit("two handler threads", "thread-pool", start=TWO_THREADS),
    Limit("database busy with others", "database", start=POOL_OF_1, hogs=2, hog=HOG),
    Limit("PgBouncer with one connection", "pool-wait", start=POOL_OF_1, sql=SLOW, says="in PgBouncer"),
    Limit(
        "HAProxy lets one request through", "proxy", "kind=constant&us=5000", start={"variables": {"APP_MAXCONN": "1"}}
    ),
    Limit(
        "a locked table", "database", start={"implementation": FAST, "scenario": "note-write"}, hogs=1, hog=LOCK,
        says="wait for a lock",
    ),
    Limit(
        "the application's pool with one connection", "pool-wait", start=OWN_POOL, sql=SLOW,
        says="the application's own pool",
    ),
]  # fmt: skip
"""Limits in their order: those with a pool of one stand like this because a slow statement stays slow until the next start. Neighbours
have different tags: each is the next one's negative control."""


def tried(stage: Stage) -> list[tuple[Limit, str, str]]:
    """The bottleneck that was named under each limit, and its evidence; neighbours that need the same start share it."""
    found = list[tuple[Limit, str, str]]()
    for start, limits in groupby(LIMITS, key=lambda limit: limit.start):
        with stage.running(**start) as running:
            for limit in limits:
                stage.view.note(f"  {limit.name}")
                found.append((limit, *_under(running, limit)))
    return found


def _under(running: Running, limit: Limit) -> tuple[str, str]:
    """The bottleneck of a window under the limit, and its evidence; the error where there was no window."""
    stack, hogs = running.app.stack, list[Thread]()

    def psql(text: str) -> None:
        stack.execute("db", ["psql", "-q", "-d", "tandem", "-c", text])

    def meanwhile() -> None:
        for _ in range(limit.hogs):
            hogs.append(Thread(target=psql, args=(limit.hog,), daemon=True))
            hogs[-1].start()

    how = {"connections": limit.connections, "address": limit.address, "meanwhile": meanwhile}
    try:
        if limit.sql is not None:
            psql(limit.sql)
        window = running.steady_window(WINDOW_S, limit.behaviour, **how).window
        return named(window, limit.says), f": {window.evidence[-1]}"
    except TandemError as error:
        return f"no window: {error}", ""
    finally:
        for hog in hogs:
            hog.join()


def named(window: Window, says: str = "") -> str:
    """The bottleneck that was named: the first, where several are as busy. With another reason than the one that must be
    said, it is another."""
    tag = tags(window.bottleneck)[0]
    return tag if says in window.evidence[-1] else f"{tag}, for another reason"


def run(stage: Stage) -> list[Outcome]:
    """One window of each limit. The negative control of each is another limit, which must be named differently."""

    def check(limit: Limit) -> KnownAnswer[tuple[str, str]]:
        return KnownAnswer(
            name=limit.name,
            expected=limit.tag,
            right=lambda one: one[0] == limit.tag,
            shown=lambda one: "".join(one)[:150],
            broken="another limit",
        )

    first, *others = found = tried(stage)
    return [
        check(limit).judged((tag, evidence), (other, ""))
        for (limit, tag, evidence), (_, other, _) in zip(found, [*others, first], strict=True)
    ]


def confusion(stage: Stage, repetitions: int = 12) -> Outcome:
    """The weekly class: each limit so often; the right tag in 95 %."""
    counts = {limit.name: Counter[str]() for limit in LIMITS}
    for _ in range(repetitions):
        for limit, tag, _ in tried(stage):
            counts[limit.name][tag] += 1
    rows = "; ".join(f"{name}: {dict(row)}" for name, row in counts.items())

    def right(wanted: list[Limit]) -> float:
        """Share of the windows that have the tags of these limits."""
        hits = sum(counts[limit.name][other.tag] for limit, other in zip(LIMITS, wanted, strict=True))
        return hits / (repetitions * len(LIMITS))

    return KnownAnswer[tuple[float, str]](
        name=f"confusion matrix, {repetitions} of each",
        expected="the injected limit is named",
        tolerance=f"at least {WANTED_SHARE:.0%}",
        right=lambda found: found[0] >= WANTED_SHARE,
        shown=lambda found: f"{found[0]:.1%} right{found[1]}",
        broken="compared with the tag of the next limit",
    ).judged((right(LIMITS), f" ({rows})"), (right([*LIMITS[1:], LIMITS[0]]), ""))
