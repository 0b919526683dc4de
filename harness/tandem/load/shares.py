"""Deals a load out to several generators, and puts together what each of them left. Pure.

Rows are merged, never percentiles: a percentile of all requests does not follow from those of parts.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from tandem.errors import UsageError
from tandem.load.generator import Generator, Load, Report
from tandem.load.rows import Rows, no_rows

FIRST = "loadgen"


def role(number: int) -> str:
    """The service that generator `number` runs in; they are counted from 1."""
    return FIRST if number == 1 else f"{FIRST}-{number}"


def number(role: str) -> int:
    """Which of the generators a role is: the inverse of `role`."""
    return 1 if role == FIRST else int(role.removeprefix(f"{FIRST}-"))


def roles(generators: int) -> list[str]:
    """Roles of this number of generators."""
    return [role(number) for number in range(1, generators + 1)]


def is_generator(name: str) -> bool:
    """Whether a role is that of a generator."""
    return name == FIRST or name.startswith(f"{FIRST}-")


@dataclass(frozen=True)
class Share:
    """One generator's share of a load."""

    role: str
    load: Load
    after_s: float = 0.0
    """Delay of its beginning after the first generator's."""


def split(total: int, parts: int) -> list[int]:
    """A whole number in parts as even as they can be, the larger ones first; their sum is exact."""
    each, over = divmod(total, parts)
    return [each + (number < over) for number in range(parts)]


def deal(load: Load, by: Generator, generators: int) -> list[Share]:
    """The shares of a load, the same one where there is one generator. Connections and rate are split; in an open loop
    generator k of n begins k / rate later than the first, so that together they are paced as one would be; one that is told a
    schedule sends every n-th of its arrivals.

    Raises UsageError where a generator would have nothing to do, and for a program that leaves no rows to merge.
    """
    if generators > 1 and not by.suffixes:
        raise UsageError(f"{by.name} leaves no rows, so the results of several could not be merged")
    rate_rps = load.rate_rps
    for whole, what, remedy in (
        (load.connections, "connections", "a scenario with more connections"),
        (rate_rps, "requests per second", "a higher rate"),
    ):
        if whole is not None and whole < generators:
            raise UsageError(
                f"{whole} {what} cannot be dealt out to {generators} generators: each needs one."
                f" Use fewer generators, or {remedy}"
            )
    connections = split(load.connections, generators)
    rates = [None] * generators if rate_rps is None else split(rate_rps, generators)
    shares = []
    for number, (own, rate) in enumerate(zip(connections, rates, strict=True)):
        part = replace(load, connections=own, rate_rps=rate, share=(number, generators), whole_rps=rate_rps)
        after_s = number / rate_rps if rate_rps and not by.scheduled else 0.0
        shares.append(Share(role(number + 1), part, after_s))
    return shares


@dataclass(frozen=True)
class Dealt:
    """The rows of one generator. began_s: since the first of them began. rate_rps: its share; None: closed loop."""

    rows: Rows
    began_s: float
    rate_rps: int | None


def merged(parts: Iterable[Dealt]) -> Rows:
    """The rows of all in the order in which they were due, as one generator would have left them; in an open loop each
    says when it was due. parts: one is taken at a time; memory holds the columns of each row once (48 bytes), the part
    that is read, and two columns more while all are put in order.
    """
    every = []
    for part in parts:
        rows, began_s = part.rows, part.began_s
        own = rows.start_s + began_s, rows.paced_s + began_s, rows.end_s + began_s
        # By its own clock, since the first generator began.
        due_s = None if part.rate_rps is None else rows.due(part.rate_rps) + began_s
        every.append(Rows(*own, rows.status, rows.length_bytes, due_s, rows.classes))
    if not every:
        return no_rows()
    # Each part is in order: a stable sort of such runs is a merge.
    due = np.concatenate([one.start_s if one.due_s is None else one.due_s for one in every])
    order = np.argsort(due, kind="stable")
    known = [name for name, column in vars(every[0]).items() if column is not None]
    columns = {name: np.concatenate([vars(one)[name] for one in every])[order] for name in known}
    return replace(every[0], **columns)


def summed(reports: Iterable[Report]) -> Report:
    """The counts of all."""
    answers, errors, errors_of = Counter[str](), Counter[str](), Counter[int]()
    retried: int | None = None
    for report in reports:
        answers.update(report.statusCodeDistribution)
        errors.update(report.errorDistribution)
        errors_of.update(report.errors_of)
        retried = retried if report.retried is None else (retried or 0) + report.retried
    return Report(
        statusCodeDistribution=dict(answers),
        errorDistribution=dict(errors),
        errors_of=dict(errors_of),
        retried=retried,
    )
