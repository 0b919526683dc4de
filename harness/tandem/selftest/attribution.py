"""Limits injected on purpose, end to end: the bottleneck that the harness names must be that one."""

from collections import Counter
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

from tandem.errors import TandemError
from tandem.judge.bottleneck import tags
from tandem.record.selftest import Outcome
from tandem.selftest.known_answer import KnownAnswer
from tandem.selftest.stage import BROKEN, CALIBRATED, FAST, TELLING, Running, SeenFromBothEnds, Stage

GROUP = "attribution"
WINDOW_S = 4
WANTED_SHARE = 0.95
"""Share of the weekly class's windows that must be named right."""


@dataclass(frozen=True)
class Limit:
    """One limit: how the stack is started, what the window is, and the tag that must come out."""

    name: str
    tag: str
    behaviour: str | None
    connections: int = 20
    address: str | None = None
    implementation: str = CALIBRATED
    settings: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    scenario: str | None = None
    sql: str | None = None
    """Statements for the database, before the window."""
    hogs: int = 0
    """Number of sessions that disturb the database during the window."""
    hog: str = ""
    """SQL of each of them, which runs longer than the window."""
    says: str = ""
    """Words that the evidence must have, where a tag has several reasons."""

    @property
    def start(self) -> dict[str, Any]:
        """What `Stage.running` is told: limits with the same start share it."""
        names = ("implementation", "scenario", "settings", "variables")
        return {name: getattr(self, name) for name in names}


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
POOL = {"PGBOUNCER_POOL_SIZE": "1"}
RECIPE: dict[str, Any] = {"implementation": FAST, "scenario": "recipe"}

LIMITS = [
    Limit("added latency", "latency-bound", "kind=constant&us=20000"),
    Limit("CPU of the application", "app-cpu", "kind=spin&us=1000"),
    # Parsing the headers costs the generator CPU time. Without them both are about as busy, and either may come first.
    Limit("generator on one thread", "generator", "kind=constant&headers=90", 50, "app:8080"),
    Limit("one thread of the application", "app-thread", "kind=queue&us=1000&busy=1", variables={"APP_CPUSET": "0-1"}),
    Limit(
        "two handler threads", "thread-pool", None, implementation=BROKEN, settings={"THREADS": "2"}, scenario="work"
    ),
    Limit("database busy with others", "database", None, **RECIPE, variables=POOL, hogs=2, hog=HOG),
    Limit(
        "PgBouncer with one connection", "pool-wait", None, **RECIPE, variables=POOL, sql=SLOW, says="in PgBouncer"
    ),
    Limit("HAProxy lets one request through", "proxy", "kind=constant&us=5000", variables={"APP_MAXCONN": "1"}),
    Limit(
        "a locked table", "database", None, implementation=FAST, scenario="note-write", hogs=1, hog=LOCK,
        says="wait for a lock",
    ),
    Limit(
        "the application's pool with one connection", "pool-wait", None, implementation=TELLING, scenario="recipe",
        settings={"DB_POOL_MAX": "1", "WORKERS": "1"}, sql=SLOW, says="the application's own pool",
    ),
]  # fmt: skip
"""Limits in their order: those with a pool of one stand like this because a slow statement stays slow until the next start. Neighbours
have different tags: each is the next one's negative control."""


def tried(stage: Stage) -> list[tuple[Limit, SeenFromBothEnds | TandemError]]:
    """A window of each; limits that need the same start share it."""
    found, left = list[tuple[Limit, SeenFromBothEnds | TandemError]](), LIMITS
    while left:
        start = left[0].start
        with stage.running(**start) as running:
            for limit in [one for one in left if one.start == start]:
                stage.view.note(f"  {limit.name}")
                found.append((limit, _window(running, limit)))
        left = [limit for limit in left if limit.start != start]
    return found


def _window(running: Running, limit: Limit) -> SeenFromBothEnds | TandemError:
    """A window under the limit; the error where there was none."""
    stack, hogs = running.app.stack, list[Thread]()

    def psql(text: str) -> None:
        stack.execute("db", ["psql", "-q", "-d", "tandem", "-c", text])

    def meanwhile() -> None:
        for _ in range(limit.hogs):
            hogs.append(Thread(target=psql, args=(limit.hog,), daemon=True))
            hogs[-1].start()

    try:
        if limit.sql is not None:
            psql(limit.sql)
        return running.steady_window(
            "closed",
            WINDOW_S,
            limit.behaviour,
            connections=limit.connections,
            address=limit.address,
            meanwhile=meanwhile,
        )
    except TandemError as error:
        return error
    finally:
        for hog in hogs:
            hog.join()


def named(seen: SeenFromBothEnds | TandemError, says: str = "") -> str:
    """The bottleneck that was named: the first, where several are as busy. With another reason than the one that must be
    said, it is another."""
    if isinstance(seen, TandemError):
        return f"no window: {seen}"
    tag = tags(seen.window.bottleneck)[0]
    return tag if says in seen.window.evidence[-1] else f"{tag}, for another reason"


def run(stage: Stage) -> list[Outcome]:
    """One window of each limit. The negative control of each is another limit, which must be named differently."""
    found = [
        (
            limit,
            named(seen, limit.says),
            "" if isinstance(seen, TandemError) else f": {seen.window.evidence[-1]}",
        )
        for limit, seen in tried(stage)
    ]
    return [
        KnownAnswer[tuple[str, str]](
            name=limit.name,
            group=GROUP,
            expected=limit.tag,
            right=lambda one, wanted=limit.tag: one[0] == wanted,  # type: ignore[misc]
            shown=lambda one: "".join(one)[:150],
            broken="another limit",
        ).judged((tag, evidence), (other, ""))
        for (limit, tag, evidence), (_, other, _) in zip(found, [*found[1:], found[0]], strict=True)
    ]


def confusion(stage: Stage, repetitions: int = 12) -> list[Outcome]:
    """The weekly class: each limit so often; the right tag in 95 %."""
    counts = {limit.name: Counter[str]() for limit in LIMITS}
    for _ in range(repetitions):
        for limit, seen in tried(stage):
            counts[limit.name][named(seen, limit.says)] += 1
    rows = "; ".join(f"{name}: {dict(row)}" for name, row in counts.items())

    def right(wanted: list[Limit]) -> float:
        """Share of the windows that have the tags of these limits."""
        hits = sum(counts[limit.name][other.tag] for limit, other in zip(LIMITS, wanted, strict=True))
        return hits / (repetitions * len(LIMITS))

    return [
        KnownAnswer[tuple[float, str]](
            name=f"confusion matrix, {repetitions} of each",
            group=GROUP,
            expected="the injected limit is named",
            tolerance=f"at least {WANTED_SHARE:.0%}",
            right=lambda found: found[0] >= WANTED_SHARE,
            shown=lambda found: f"{found[0]:.1%} right{found[1]}",
            broken="compared with the tag of the next limit",
        ).judged((right(LIMITS), f" ({rows})"), (right([*LIMITS[1:], LIMITS[0]]), ""))
    ]
