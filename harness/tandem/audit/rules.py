"""The rules: which rows do not fit arithmetic, and what may be concluded from a row that a rule caught. Pure."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any

from tandem.audit.row import Row
from tandem.load.rows import SAMPLES_BEYOND
from tandem.wording import number


class Level(StrEnum):
    """How much a finding says."""

    CONTRADICTS = "contradicts"
    """No load can have these figures, if each is what its name says."""
    QUESTION = "question"
    """The figures look wrong, and may well be right."""
    LIMIT = "limit"
    """The figures may be right, and say less than they seem to."""


@dataclass(frozen=True)
class Caught:
    """A row that a rule caught. row: its place, from 0; told: what was found, in figures."""

    row: int
    name: str
    test: str
    told: str


@dataclass(frozen=True)
class Objection:
    """A rule and what it caught. may, may_not: what may and what may not be concluded from those rows, a sentence each.
    innocent: reasons for which a row may be right."""

    rule: str
    level: Level
    may: str
    may_not: str
    innocent: str
    caught: list[Caught] = field(default_factory=list)


@dataclass(frozen=True)
class Audit:
    """What the rules say of a table. contradicting: rows that contradict themselves; not_read: files left out, and why."""

    rows: int
    contradicting: int
    findings: list[Objection]
    not_read: list[str]


type Find = Callable[[Sequence[Row]], Iterator[tuple[int, str]]]
RULES: list[tuple[Objection, Find]] = []
"""Rules, each with what finds the indices of the rows that it catches, and what it found."""


def audit(rows: Sequence[Row], not_read: Sequence[str] = ()) -> Audit:
    """Hold rows to all rules."""
    findings, contradicting = [], set[int]()
    for rule, find in RULES:
        caught = [Caught(at, rows[at].name, rows[at].test, told) for at, told in find(rows)]
        findings += [replace(rule, caught=caught)] if caught else []
        contradicting |= {one.row for one in caught} if rule.level is Level.CONTRADICTS else set()
    return Audit(len(rows), len(contradicting), findings, [*not_read])


def of_table(rule: str, level: Level, may: str, may_not: str, innocent: str) -> Callable[[Find], Find]:
    """Add a rule that looks at all rows together."""

    def add(find: Find) -> Find:
        RULES.append((Objection(rule, level, may, may_not, innocent), find))
        return find

    return add


def of_row(*rule: Any) -> Callable[[Callable[[Row], str | None]], Find]:
    """Add a rule that looks at a row; it returns what it found, or None. rule: as in of_table."""

    def add(look: Callable[[Row], str | None]) -> Find:
        return of_table(*rule)(
            lambda rows: ((at, told) for at, row in enumerate(rows) if (told := look(row)))
        )

    return add


def _per_s(rate: float | None) -> str:
    return f"{number(rate, 0 if (rate or 0) >= 100 else 2)}/s"


# ---- Little's law ----

TOLERATED, IDLE = 1.03, 0.9
"""Shares of connections × depth. A load ends up to some percent later than it says."""


def at_once(row: Row) -> tuple[float, float, str] | None:
    """Requests in flight as a share of what is possible, by Little's law, L = λ W (https://doi.org/10.1287/opre.9.3.383): the
    least and the most that the digits of the mean allow, and all of it told. None where the row does not tell enough."""
    untold = row.loop == "open" or (row.several and not row.depth)
    if untold or not (row.rate_rps and row.mean and row.connections):
        return None
    possible = row.connections * (row.depth or 1)
    each = "" if (row.depth or 1) == 1 else f" × {row.depth:g}"
    found = f"{_per_s(row.rate_rps)} × {row.mean} = {number(row.rate_rps * row.mean.ms / 1e3)} at once"
    told = f"{found}, of {number(row.connections)}{each} that are possible"
    return row.rate_rps * row.mean.low / 1e3 / possible, row.rate_rps * row.mean.high / 1e3 / possible, told


@of_row(
    "little-above",
    Level.CONTRADICTS,
    "Rate, mean time and number of connections are not all of the same requests: at least one is something else.",
    "How long an answer took, nor that a row with another mean is slower or faster.",
    "Pipelining or streams that the file does not tell; a mean of wrk, which adds times of requests that it did not send;"
    " times from when a request was due; means over several tests.",
)
def _(row: Row) -> str | None:
    found = at_once(row)
    return found[2] if found and found[0] > TOLERATED and not row.loose else None


@of_row(
    "little-other",
    Level.QUESTION,
    "The mean is not that of the requests that the rate counts.",
    "How long an answer took, in the mean or in a percentile of the same origin.",
    "It is so by design of the source, as each row says.",
)
def _(row: Row) -> str | None:
    found = at_once(row)
    return f"{found[2]}; {row.loose}" if found and found[0] > TOLERATED and row.loose else None


@of_row(
    "little-below",
    Level.QUESTION,
    "Connections were without a request for a part of the time.",
    "That so many were busy, or that the server alone limited the rate.",
    "Clients that reconnect, think or wait for their own CPU wait outside; failed requests are not in the mean.",
)
def _(row: Row) -> str | None:
    found = at_once(row)
    return found[2] if found and found[1] < IDLE else None


# ---- times ----


@of_row(
    "order",
    Level.CONTRADICTS,
    "At least one of these times is not what its name says.",
    "Anything from the times of these rows.",
    "The times may be of different requests: the mean of all, percentiles of those that succeeded.",
)
def _(row: Row) -> str | None:
    """Times are above 0, so (1 − q) × percentile q is at most the mean: Markov's inequality."""
    between = [(f"p{q:g}", at) for q, at in row.percentiles.items()]
    known = [(name, at) for name, at in (("minimum", row.min), *between, ("maximum", row.max)) if at]
    pairs = [*pairwise(known)]
    if row.mean:
        pairs += [(known[0], ("the mean", row.mean))] if row.min else []
        pairs += [(("the mean", row.mean), known[-1])] if row.max else []
    for (name, at), (above, high) in pairs:
        if at.low > high.high * (1 + 1e-6) or at.ms < 0:
            return f"{name} is {at}, {above} is {high}"
    for q, at in row.percentiles.items():
        if row.mean and (1 - q / 100) * at.low > row.mean.high * TOLERATED:
            return f"p{q:g} is {at}: the mean is at least {(1 - q / 100) * at.ms:,.4g} ms, and given as {row.mean}"
    return None


COARSE = 0.005
"""Times with fewer digits are equal by rounding."""


@of_row(
    "percentile-is-mean",
    Level.QUESTION,
    "One of the two columns was probably filled from the other.",
    "Anything about slow answers.",
    "All answers took the same time, to the printed digit; or the few slowest happen to outweigh all others.",
)
def _(row: Row) -> str | None:
    if not row.mean or row.mean.ms <= 0 or row.mean.half_ms > COARSE * row.mean.ms:
        return None
    alike = row.min and math.isclose(row.min.ms, row.mean.ms, rel_tol=COARSE)
    same = [f"p{q:g}" for q, at in row.percentiles.items() if q >= 90 and math.isclose(at.ms, row.mean.ms)]
    return f"{', '.join(same)} and mean are both {row.mean}" if same and not alike else None


@of_row(
    "few-samples",
    Level.LIMIT,
    f"Percentiles with at least {SAMPLES_BEYOND} answers beyond them.",
    "That rows differ in this percentile, or that it would come out alike in another run.",
    f"{SAMPLES_BEYOND} answers beyond a percentile are a convention, ours.",
)
def _(row: Row) -> str | None:
    for q in row.percentiles if row.requests else ():
        beyond = (row.requests or 0) * (1 - q / 100)
        if beyond < SAMPLES_BEYOND * (1 - 1e-9):
            return f"p{q:g} of {number(row.requests)} answers: {beyond:,.1f} are beyond it"
    return None


@of_row(
    "coordinated-omission",
    Level.LIMIT,
    "How long those answers took that the generator waited for before it asked again.",
    "How long users wait who come whenever they like: while an answer is late, a closed generator does not ask.",
    "It is the right figure for a fixed number of clients that wait for each answer.",
)
def _(row: Row) -> str | None:
    high = [f"p{q:g}" for q in row.percentiles if q >= 90]
    how = "a closed loop" if row.loop == "closed" else "the file does not tell whether the loop is closed"
    return f"{', '.join(high)}: {how}" if high and row.loop != "open" else None


# ---- counts ----

SOME = 0.001
"""A share of the answers that matters."""


@of_row(
    "errors-counted",
    Level.QUESTION,
    "How many responses came, right or wrong.",
    "How many right answers the server gives: an error is often cheaper than an answer.",
    "Errors may be what the test asks for; the file may count them apart from its rate without saying so.",
)
def _(row: Row) -> str | None:
    if not (row.errors and row.requests and row.rate_rps) or row.errors < SOME * row.requests:
        return None
    told = f"{number(row.errors)} of {number(row.requests)} responses are errors"
    if not row.duration_s:
        return f"{told}; it is not told whether the rate counts them"
    good, every = (row.requests - row.errors) / row.duration_s, row.requests / row.duration_s
    counted = good * (1 + SOME / 2) < row.rate_rps <= every * TOLERATED
    return f"{told}: {_per_s(row.rate_rps)}, of which {_per_s(good)} are right" if counted else None


@of_row(
    "cpu-beyond",
    Level.CONTRADICTS,
    "CPU time or number of CPUs is not what its name says.",
    "What an answer costs in CPU time.",
    "The limit may hold for a part of what was measured; samplers divide by a time that is a little short.",
)
def _(row: Row) -> str | None:
    beyond = row.cpu_percent and row.cpus and row.cpu_percent > 105 * row.cpus
    return f"{number(row.cpu_percent)} % of a CPU, of {row.cpus:g} CPUs" if beyond else None


@of_row(
    "last-second",
    Level.QUESTION,
    "What the server did before the last second.",
    "Rate and slowest times with the end: there the load stops, or requests are dropped that take long.",
    "A load of a fixed number of requests ends unevenly by design.",
)
def _(row: Row) -> str | None:
    if row.cut_off and row.cut_off >= SOME * (row.requests or 0):
        return (
            f"{number(row.cut_off)} requests were dropped at the end, beside {number(row.requests)} answers"
        )
    last, usual = row.last_second or (0, 0.0)
    told = f"{number(last)} answers in the last second, {number(usual)} in the median second before"
    return told if last < min(IDLE * usual, usual - 3 * math.sqrt(usual)) else None


# ---- the table ----

NEAR, LEAST, LANGUAGES = 0.015, 4, 3


@of_table(
    "common-ceiling",
    Level.QUESTION,
    "These rows reached at least this rate, and may have met one limit: generator, network, database, kernel.",
    "Which of them is faster, or how fast any of them could be.",
    "Neighbours in any sorted table are close by chance; servers of one design may end at one rate.",
)
def _(rows: Sequence[Row]) -> Iterator[tuple[int, str]]:
    groups: dict[object, list[tuple[int, float, str]]] = defaultdict(list)
    for at, row in enumerate(rows):
        groups[row.test, row.connections, row.depth].append((at, row.rate_rps or 0.0, row.language.lower()))
    for group in groups.values():
        top = max(rate for _, rate, _ in group)
        near = [one for one in group if one[1] >= top * (1 - NEAR) and top]
        languages = len({language for _, _, language in near} - {""})
        if len(near) >= LEAST and languages >= LANGUAGES:
            told = f"{len(near)} rows of {languages} languages are within {NEAR * 100:g} % of {_per_s(top)}"
            yield from ((at, told) for at, _, _ in near)


@of_table(
    "single-run",
    Level.LIMIT,
    "That this rate was reached once.",
    "That a row is ahead of another by a few percent: nothing says how far two runs of one program differ.",
    "The table may show the best or the mean of several runs without saying so.",
)
def _(rows: Sequence[Row]) -> Iterator[tuple[int, str]]:
    keys = [(row.name, row.test, row.connections, row.depth) for row in rows]
    seen = Counter(keys)
    for at, row in enumerate(rows):
        if (row.runs or 0) <= 1 and seen[keys[at]] == 1:
            yield at, "one run" if row.runs else "the number of runs is not told"
