"""Do answers need the database, and do they show what it holds now? Of requests that were sent while a table was locked
and after its data were changed. Pure.

Only a request counts that was sent after the lock was there, or after the change was committed, and that was answered
before its end: no answer can have been on its way. What was refused for want of a connection or of time is no lie.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from tandem.catalog.scenario import Scenario
from tandem.load.asking import TimedAnswer
from tandem.record.trial import Challenge
from tandem.record.window import Finding

NEW_BY_KNOWN_MOST = 1.5
HONEST_AT_ONCE, HONEST_MOST, CONFIDENCE, LOADS_LEAST = 1.03, 1.10, 0.98, 3
"""The first is enough after one load. CPU time of an answer about rows that changed, by that about known ones: a program is accused only where the interval of
this confidence over so many loads lies beyond the second. Hosts move for seconds, so the loads are what varies."""
DECIDED = (401, 404)
"""Statuses that say something of the data, beside the scenario's own."""


@dataclass(frozen=True)
class DataState:
    """The data between two changes, and so what is a right answer. Times: time.monotonic()."""

    since_s: float
    mark: str
    """Word in the names of all recipes that the user sees, and the text of the last note of each."""
    left: int
    """The team that the user has left."""
    hidden: frozenset[int] = field(default_factory=frozenset)
    """The recipes of that team."""
    session: bool = True
    """Whether the user's session is valid."""
    until_s: float = float("inf")


@dataclass(frozen=True)
class Lock:
    """A lock of the sessions' table, and of another table from before the first is free again."""

    table: str
    """The other table."""
    since_s: float
    until_s: float


@dataclass(frozen=True)
class Order:
    """Statements behind the session's, by PostgreSQL's own count. None: not known."""

    late: int | None = None
    """Statements that ended once all requests had been answered and nobody asked."""
    ahead: int | None = None
    """Statements that ended while the sessions' table was locked, and nothing else was."""


def wrong(told: TimedAnswer, state: DataState, scenario: Scenario) -> str | None:
    """Say what is wrong with an answer to these data, or None."""
    if not state.session:
        return None if told.status == 401 else f"status {told.status} for a session that has ended"
    if told.key in state.hidden:
        return None if told.status == 404 else f"status {told.status} for a recipe that is no longer visible"
    if told.status != scenario.status:
        return f"status {told.status} for visible data"
    try:
        return _stale(json.loads(told.body), state, scenario.answer.golden)
    except (ValueError, KeyError, TypeError):
        return f"{told.body[:60]!r} is not a valid answer"


def _stale(body: dict[str, object], state: DataState, kind: str | None) -> str | None:
    if kind == "recipes":
        notes = [part["text"] for part in body["timeline"] if part["kind"] == "note"]  # type: ignore[attr-defined]
        if body["id"] in state.hidden:
            return f"recipe {body['id']} is no longer visible"
        if body["name"] != f"{state.mark} {body['id']}":
            return f"recipe {body['id']} still has its old name"
        return None if notes[-1:] == [state.mark] else f"recipe {body['id']} has no new note"
    if kind == "dashboards":
        if any(team["id"] == state.left for team in body["teams"]):  # type: ignore[attr-defined]
            return "the dashboard still shows a team that the user has left"
        if any(recipe["name"] != f"{state.mark} {recipe['id']}" for recipe in body["recipes"]):  # type: ignore[attr-defined]
            return "the dashboard still shows old recipe names"
        if any(note["text"] != state.mark for note in body["notes"]):  # type: ignore[attr-defined]
            return "the dashboard still shows an old note"
    return None


def remembered(told: Sequence[TimedAnswer], new_by_known: float) -> tuple[Challenge, list[Finding]]:
    """The counts and findings where the work is in the body. new_by_known: CPU time of a new one by that of the load's."""
    found = []
    if new_by_known > NEW_BY_KNOWN_MOST:
        text = f"a new body takes {new_by_known:.1f} times the CPU time of one that the load has sent"
        found.append(Finding.of("work-remembered", "invalid", text))
    own = [one for one in told if one.right is not None and one.status]
    if wrong := sum(not one.right for one in own):
        text = f"{wrong} of {len(own)} answers are not the sum of what was sent"
        found.append(Finding.of("change-unseen", "invalid", text))
    return Challenge(compared=len(own), new_by_known=new_by_known), found


@dataclass(frozen=True)
class CostRatio:
    """CPU time of an answer once rows keep changing, by that before."""

    ratio: float
    low: float | None
    """Lower end of its interval; None: too few loads."""
    loads: int

    @classmethod
    def of(cls, each: Sequence[float]) -> "CostRatio":
        """each: the ratio of each load. Student's interval, on logarithms."""
        ln = np.log(each)
        if len(ln) < LOADS_LEAST:
            return cls(float(np.exp(ln.mean())), None, len(ln))
        low = stats.ttest_1samp(ln, 0).confidence_interval(CONFIDENCE).low
        return cls(float(np.exp(ln.mean())), float(np.exp(low)), len(ln))

    @property
    def remembers(self) -> bool:
        return self.low is not None and self.low > HONEST_MOST

    @property
    def honest(self) -> bool:
        return self.ratio <= (HONEST_MOST if self.loads > 1 else HONEST_AT_ONCE)


def rows_remembered(cost: CostRatio) -> list[Finding]:
    """Does an answer cost more when the rows that it shows have changed since the load?"""
    if cost.honest:
        return []
    text = f"an answer takes {cost.ratio:.2f} times the CPU time once the rows that it shows keep changing"
    if cost.remembers:
        return [Finding.of("rows-remembered", "invalid", f"{text}, at least {cost.low:.2f}")]
    text = f"{text}, but {cost.loads} loads scatter too much to tell"
    return [Finding.of("not-challenged", "warning", text)]


def unseen(stale: Sequence[str], compared: int) -> list[Finding]:
    """Do answers show the data as they are? stale: what is wrong with those that do not."""
    if not stale:
        return []
    text = f"{len(stale)} of {compared} answers after a data change do not show it: {stale[0]}"
    return [Finding.of("change-unseen", "invalid", text)]


def spoken(right: Sequence[bool]) -> tuple[Challenge, list[Finding]]:
    """The counts and findings of silent connections that asked again. right: of each, whether its answers were."""
    found = []
    if wrong := right.count(False):
        text = f"{wrong} of {len(right)} silent connections that asked again got no right answer"
        found.append(Finding.of("idle-unanswered", "invalid", text))
    return Challenge(compared=len(right)), found


def judged(
    told: Sequence[TimedAnswer], lock: Lock, states: Sequence[DataState], scenario: Scenario, order: Order
) -> tuple[Challenge, list[Finding]]:
    """The counts of a challenge, and its findings."""
    found = []
    # A request that was given up goes on, and is answered to nobody.
    if order.late and all(one.status == scenario.status for one in told if one.began_s < lock.since_s):
        text = f"{order.late} statements ended only after all requests had been answered"
        found.append(Finding.of("answered-first", "invalid", text))
    if order.ahead:
        text = f"{order.ahead} statements did not wait for the session: they ended while its table was locked"
        found.append(Finding.of("session-not-awaited", "invalid", text))
    met = [one for one in told if lock.since_s <= one.began_s < lock.until_s]
    early = [one for one in met if one.ended_s < lock.until_s and one.status == scenario.status]
    if early:
        text = f"{len(early)} of {len(met)} requests were answered while the sessions and then {lock.table} were locked, although a right answer needs both"
        found.append(Finding.of("answered-locked", "invalid", text))
    compared, stale = [0] * len(states), list[str]()
    for number, state in enumerate(states):
        for one in told:
            inside = state.since_s <= one.began_s and one.ended_s <= state.until_s
            if inside and one.status in (scenario.status, *DECIDED):
                compared[number] += 1
                if problem := wrong(one, state, scenario):
                    stale.append(problem)
    found += unseen(stale, sum(compared))
    looked_for = [one.stored for one in told if one.stored is not None]
    if lost := looked_for.count(False):
        text = f"{lost} of {len(looked_for)} acknowledged rows could not be read on another connection immediately afterwards"
        found.append(Finding.of("not-readable", "invalid", text))
    if not met or not all(compared) or order.ahead is None:
        text = "too few answers to tell whether the application waits for a locked table and shows a change"
        found.append(Finding.of("not-challenged", "warning", text))
    return Challenge(
        locked=lock.table, met_lock=len(met), compared=sum(compared), looked_for=len(looked_for)
    ), found
