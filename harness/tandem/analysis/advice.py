"""Which model, workers, threads and pool a service needs: a closed network, and what records say of both models. Pure."""

import math
import statistics
from collections.abc import Callable
from typing import Literal

from tandem.analysis.network import MOST_CUSTOMERS, Network, Span, Station, solve
from tandem.record.part import Number, Part

Model = Literal["sync", "async"]
Level = Literal["high", "medium", "low"]
SPARE = 0.80
"""The rate may be this share of what the model says is possible: the rest is for bursts and for the model's error."""
ALIKE = 1.10
"""CPU per request that differs by less than this decides nothing."""
GOOD, FAIR = 0.10, 0.25
"""Median error of the predictions in the records: high and medium confidence."""


class Ask(Part):
    """A service."""

    wait_ms: Number
    """Wait of a request, for its database or another service."""
    cpu_ms: Number
    """CPU time of a request, in the application, as a sync program."""
    pool: int | None
    """Database connections that it may have at most, each held for the wait and the computing; None: it needs none."""
    cores: int
    """Cores of the application."""
    rate_rps: Number


class Checked(Part):
    """A prediction beside what a record measured."""

    record: str
    label: str
    predicted_rps: Number
    measured_rps: Number
    off: Number
    elsewhere: bool
    """Whether its demands were counted in other cells than the one that it predicts."""


class Evidence(Part):
    """What the records say."""

    language: str
    pairs: dict[str, Number]
    """Record -> CPU per request of its async program by that of its sync one, of this language."""
    threads_most: int
    """The most handler threads that a sync program of this language had."""
    checked: list[Checked]


class Sized(Part):
    """What one model needs."""

    model: Model
    cpu_ms: Number
    workers: int
    threads: int | None
    """Threads of each worker; None: its requests hold none."""
    in_flight: int
    """Requests at once."""
    pool: int | None
    """The least pool that is enough."""
    possible_rps: Number
    """Rate that is possible with these numbers."""
    lacks: str | None
    """Why it does not reach the rate; None if it does."""


class Change(Part):
    """What another service would be told."""

    what: str
    then: str


class Advice(Part):
    """The answer, and what it rests on."""

    ask: Ask
    chosen: Sized
    why: str
    other: Sized
    changes: list[Change]
    """Doubling or halving that would change the model, or whether the rate is reached."""
    confidence: Level
    confidence_why: list[str]
    evidence: Evidence


def least(enough: Callable[[int], bool], most: int) -> int | None:
    """The smallest number from 1 that is enough, if `most` is. enough: once it is, it stays."""
    if not enough(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _rate(ask: Ask, cpu_ms: float, in_flight: int, pool: int | None) -> float:
    """Requests per second that are answered with so many in flight."""
    spans = (Span("pool", pool, (Station("app", cpu_ms, ask.cores),), ask.wait_ms), Span("client", None))
    return solve(Network(in_flight, spans)).throughput_rps


def size(ask: Ask, model: Model, cpu_ms: float, one_core: bool) -> Sized:
    """What a model needs. one_core: a worker uses one core at most, so there are as many as cores."""
    wanted = ask.rate_rps / SPARE
    workers = ask.cores if one_core or model == "async" else 1
    little = wanted * (ask.wait_ms + cpu_ms) / 1e3
    # Beyond a few times what Little's law asks for, more requests at once only wait for cores.
    most = min(4 * math.ceil(little) + 16 * ask.cores, MOST_CUSTOMERS)
    pool, lacks, number = ask.pool, None, most
    cpu_bound = ask.cores / cpu_ms * 1e3
    if cpu_bound <= wanted:
        lacks = _lacking("cores", ask.cores, cpu_bound, math.floor(wanted * cpu_ms / 1e3) + 1)
    else:
        in_flight = least(lambda n: _rate(ask, cpu_ms, n, ask.pool) >= wanted, most)
        enough = pool and least(lambda n: _rate(ask, cpu_ms, most, n) >= wanted, most)
        if in_flight is not None:
            number, pool = in_flight, enough
        elif pool is None:
            lacks = f"more than {most} requests would have to be in flight at once"
        else:
            number = min(most, pool)
            lacks = _lacking("database connections", pool, _rate(ask, cpu_ms, most, pool), enough)
    return Sized(
        model=model,
        cpu_ms=cpu_ms,
        workers=workers,
        threads=math.ceil(number / workers) if model == "sync" else None,
        in_flight=number,
        pool=pool,
        possible_rps=_rate(ask, cpu_ms, number, pool),
        lacks=lacks,
    )


def _lacking(what: str, given: int, possible_rps: float, needed: int | None) -> str:
    enough = f"{needed} are needed" if needed else "no number is enough"
    return f"{what}: {given} answer {SPARE * possible_rps:,.0f}/s with a fifth to spare; {enough}"


def choose(ask: Ask, evidence: Evidence) -> tuple[Sized, Sized, str]:
    """The model to take, the other, and why."""
    factor = statistics.median(evidence.pairs.values()) if evidence.pairs else 1.0
    one_core = evidence.language in ("python", "javascript")
    sync = size(ask, "sync", ask.cpu_ms, one_core)
    other = size(ask, "async", ask.cpu_ms * factor, one_core)
    if (sync.lacks is None) != (other.lacks is None):
        able, unable = (sync, other) if sync.lacks is None else (other, sync)
        return able, unable, f"{unable.model} does not reach the rate: {unable.lacks}"
    cheaper, dearer = (other, sync) if factor < 1 else (sync, other)
    if max(factor, 1 / factor) > ALIKE:
        times = dearer.cpu_ms / cheaper.cpu_ms
        programs = f"the {dearer.model} program of {evidence.language} takes {times:.2f} times the CPU time of the {cheaper.model} one"
        return cheaper, dearer, f"in the records {programs}, framework and driver included"
    if sync.in_flight > evidence.threads_most:
        told = f"sync would need {sync.in_flight} threads, and no record of {evidence.language} has more than {evidence.threads_most}"
        return other, sync, told
    told = (
        "both reach the rate at about the same cost, and the records have that many threads: the simpler one"
    )
    return sync, other, told


def _told(sized: Sized) -> str:
    threads = f", {sized.workers} x {sized.threads} threads" if sized.threads is not None else ""
    pool = f", pool {sized.pool}" if sized.pool is not None else ""
    return f"{sized.model}{threads}{pool}" + (f", which is not enough: {sized.lacks}" if sized.lacks else "")


def changes(ask: Ask, evidence: Evidence, chosen: Sized) -> list[Change]:
    """What doubling and halving would change."""
    others: dict[str, dict[str, float]] = {
        "twice the wait": {"wait_ms": 2 * ask.wait_ms},
        "half the wait": {"wait_ms": ask.wait_ms / 2},
        "twice the CPU time": {"cpu_ms": 2 * ask.cpu_ms},
        "half the CPU time": {"cpu_ms": ask.cpu_ms / 2},
        "twice the rate": {"rate_rps": 2 * ask.rate_rps},
        "half the rate": {"rate_rps": ask.rate_rps / 2},
        "twice the cores": {"cores": 2 * ask.cores},
    }
    if ask.pool is not None:
        others["half the connections"] = {"pool": max(1, ask.pool // 2)}
        others["twice the connections"] = {"pool": 2 * ask.pool}
    then = {what: choose(ask.model_copy(update=change), evidence)[0] for what, change in others.items()}
    return [
        Change(what=what, then=_told(one))
        for what, one in then.items()
        if (one.model, one.lacks is None) != (chosen.model, chosen.lacks is None)
    ]


def confidence(evidence: Evidence, chosen: Sized) -> tuple[Level, list[str]]:
    """How sure the advice is: how far predictions were off in the records, those from other cells before others."""
    counted = [one for one in evidence.checked if one.elsewhere] or evidence.checked
    if not counted:
        return "low", ["no record shows how far predictions are off"]
    errors = sorted(abs(one.off) for one in counted)
    middle = statistics.median(errors)
    kind = "from other cells" if counted[0].elsewhere else "from their own CPU times"
    hits = sum(one <= GOOD for one in errors)
    off = f"{middle:.0%} off in the median, {errors[-1]:.0%} at worst, {hits} within {GOOD:.0%}"
    level: Level = "high" if middle <= GOOD else "medium" if middle <= FAIR else "low"
    language, most = evidence.language, evidence.threads_most
    beyond = []
    if not evidence.pairs:
        beyond.append(f"no record has both models in {language}: the same CPU time is assumed for both")
    if chosen.threads is not None and chosen.in_flight > most:
        beyond.append(f"no record of {language} has more than {most} threads")
    if not counted[0].elsewhere:
        beyond.append("no record predicts a cell from another one: just crossover makes such a record")
    if beyond:
        level = "medium" if level == "high" else "low"
    return level, [f"{len(errors)} predictions {kind} were {off}", *beyond]


def advise(ask: Ask, evidence: Evidence) -> Advice:
    """The answer."""
    chosen, other, why = choose(ask, evidence)
    level, reasons = confidence(evidence, chosen)
    return Advice(
        ask=ask,
        chosen=chosen,
        why=why,
        other=other,
        changes=changes(ask, evidence, chosen),
        confidence=level,
        confidence_why=reasons,
        evidence=evidence,
    )
