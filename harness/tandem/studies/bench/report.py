"""The tables of a bench. Pure: a result in, renderables out."""

import math
from collections.abc import Iterator, Sequence
from itertools import product

from rich.console import Group, RenderableType
from rich.text import Text

from tandem.analysis.cost import APP, TOTAL
from tandem.analysis.ratios import BLOCKS_LEAST, detectable_ratio
from tandem.facts.metric import GOODPUT, LATENCY_BOUND, MEMORY, MEMORY_PER_CONNECTION, MEMORY_REST
from tandem.judge.bottleneck import nearest
from tandem.record.conclusion import Position
from tandem.record.request import Variant
from tandem.record.result import Result
from tandem.record.window import Verdict
from tandem.report.parts import STYLES, ceilings, conditions_line, findings, settings, spent
from tandem.report.table import Column, Table, classes, figure, figure_with_range, ratio_to, statements, table
from tandem.studies.bench.conclusions import (
    APP_BOUND,
    CONDITIONS,
    CONNECTIONS,
    COST,
    WAITING,
    Benched,
    Condition,
)
from tandem.wording import limited_by, number

COST_NOTE = (
    "core-s/million: core-seconds of CPU per million requests (the same number in µs per request), mean of fresh starts with the"
    " half-width of its 95 % interval. All roles: application, PgBouncer, database and HAProxy; beside it the application's own"
    " part. Ratio: geometric mean over the blocks, with its 95 % interval. Memory at rest: after the first answer; per"
    " connection: what the load adds to it."
)
RATE_NOTE = (
    "goodput: right answers per second, closed loop, mean of fresh starts. p50 p90 p99: response time in an open loop at a"
    " share of each start's own goodput (mean rate: column “at”), median over the starts (lowest–highest)."
)
FEW = f"fewer than {BLOCKS_LEAST} blocks can show that two variants are equivalent, but not that they differ"


def _verdict(found: Benched, position: Position) -> Text:
    """The verdict, with `void` beside `invalid` where the host disturbed a start as well."""
    one = found.estimate_of(GOODPUT, position)
    verdict = one.verdict if one is not None else Verdict.VOID
    both = verdict is Verdict.INVALID and found.context(position).disturbed
    return Text(f"{verdict}, {Verdict.VOID}" if both else str(verdict), style=STYLES[verdict])


def by_cost(found: Benched, positions: Sequence[Position]) -> list[Position]:
    """The cheapest over all roles first; behind them those without a cost, in their order."""

    def key(position: Position) -> float:
        ratio = found.contrast_of(TOTAL, position)
        if ratio is not None and ratio.ratio is not None:
            return ratio.ratio
        cost, first = (found.mean_of(TOTAL, at) for at in (position, positions[0]))
        return math.inf if cost is None else cost / first if first else 1.0

    return sorted(positions, key=key)


def memory(found: Benched, position: Position, between: str = " / ") -> str:
    """MiB at rest and under load."""
    rest, peak = (number(found.mean_of(metric, position)) for metric in (MEMORY_REST, MEMORY))
    return f"{rest}{between}{peak}"


def cost(result: Result[Benched]) -> Table:
    """What a request costs: the cheapest first."""
    found, positions = result.conclusions, [variant.position for variant in result.request.variants]
    first = positions[0]
    by = f"ratio to {first.variant}"
    return table(
        f"what a request costs: {conditions_line(result.request)}",
        by_cost(found, positions),
        Column("implementation", lambda position: position.variant, text=True, whole=True),
        Column("verdict", lambda position: _verdict(found, position), text=True),
        Column("all roles\ncore-s/million", lambda position: figure(found, TOTAL, position)),
        Column(by, lambda position: ratio_to(found, TOTAL, position, first)[0]),
        Column("", lambda position: ratio_to(found, TOTAL, position, first)[1], text=True),
        Column("application\ncore-s/million", lambda position: figure(found, APP, position)),
        Column(by, lambda position: ratio_to(found, APP, position, first)[0]),
        Column("memory MiB\nrest / load", lambda position: memory(found, position)),
        Column(
            "KiB per\nconnection", lambda position: number(found.mean_of(MEMORY_PER_CONNECTION, position))
        ),
    )


def rates(result: Result[Benched]) -> Table:
    """Rates, what they are limited by, and response times. Those that are not the implementation's have no rank."""
    found, positions = result.conclusions, [variant.position for variant in result.request.variants]
    first = positions[0]

    def word(position: Position) -> str:
        if position == first and found.context(position).not_ranked and len(positions) > 1:
            return "not ranked"
        return ratio_to(found, GOODPUT, position, first)[1]

    def limits(position: Position) -> str:
        context = found.context(position)
        return "; ".join(dict.fromkeys(filter(None, (context.limit, context.not_ranked))))

    def time(name: str) -> Column[Position]:
        key = f"response_time_{name}_ms"
        return Column(f"{name}\nms", lambda position: figure_with_range(found, key, position))

    return table(
        "rates and response times",
        positions,
        Column("implementation", lambda position: position.variant, text=True, whole=True),
        Column("goodput\n1/s", lambda position: figure(found, GOODPUT, position)),
        Column(f"ratio to {first.variant}", lambda position: ratio_to(found, GOODPUT, position, first)[0]),
        Column("", word, text=True),
        Column("limited by", limits, text=True),
        *map(time, ("p50", "p90", "p99")),
        Column("at\n1/s", lambda position: number(found.mean_of("offered_rps", position))),
    )


def words(result: Result[Benched], variant: Variant) -> Iterator[Text]:
    """The bottleneck, the reasons and the warnings of a variant, in sentences."""
    found, label, position = result.conclusions, variant.label, variant.position
    context, one = found.context(position), found.estimate_of(GOODPUT, position)
    if context.bottleneck:
        yield Text(f"{label}: limited by {limited_by(context.bottleneck)}: {'; '.join(context.evidence)}")
    for reason in one.reasons if one is not None else []:
        yield Text(f"{label}: {_verdict(found, position)}: {reason}", style="red")
    repeated = result.made_again.get(label, 0)
    if context.disturbed or repeated:
        again = f"{repeated} {'was' if repeated == 1 else 'were'} repeated"
        yield Text(f"{label}: the host disturbed {context.disturbed} of its starts, and {again}")
    for finding in context.findings:
        yield Text(f"{label}: {finding.text} [{finding.code}]", style="yellow")


def decided(found: Benched) -> list[Text]:
    """What the blocks can tell apart."""
    ratios = [one for one in found.contrasts if one.metric == TOTAL]
    n = ratios[0].n if ratios else BLOCKS_LEAST
    lines = [FEW] if n < BLOCKS_LEAST else []
    scatter = [(one.sd_ln, one.n) for one in ratios if one.sd_ln is not None and one.n >= BLOCKS_LEAST]
    if known := list(filter(None, (detectable_ratio(*one) for one in scatter))):
        percent = (max(known) - 1) * 100
        lines.append(f"{n} blocks can detect a cost difference of {percent:.1f} % (t test, 80 % power)")
    return [Text("; ".join(lines), style="dim")] if lines else []


def report(result: Result[Benched]) -> RenderableType:
    """All that a bench says at its end."""
    found = result.conclusions
    reached = max((one.mean or 0.0 for one in found.estimates if one.metric == GOODPUT), default=0.0)
    return Group(
        cost(result),
        Text(COST_NOTE, style="dim"),
        *decided(found),
        rates(result),
        Text(RATE_NOTE, style="dim"),
        *statements(found),
        *classes(found),
        *ceilings(result.baselines, [one.ceiling_shares for one in found.contexts], reached),
        settings(result),
        *(Text(f"{one.variant}: {one.db_rtt}", style="dim") for one in found.contexts if one.db_rtt),
        *(line for variant in result.request.variants for line in words(result, variant)),
        *findings(result),
        spent(result),
    )


QUESTIONS_NOTE = (
    "1, cost: core-seconds per million requests of application, PgBouncer, database and HAProxy together, and the application's own"
    " part; memory at rest, under load, and what each connection adds. 2, rate: directly against PostgreSQL with a pool of 4, to make the"
    " application the limit; not ranked where its windows do not show that. 3, waiting: the share of connections / (round"
    f" trips × idle round trip) reached with {CONNECTIONS} clients, and the memory per waiting request. Ratios are"
    " geometric means over the blocks with their 95 % interval."
)
OF_THE_APPLICATION = {"app-cpu", "app-thread"}


def application_bound(found: Benched, position: Position) -> bool:
    """Whether the shares of its windows show that the application was the limit, and nothing else as near."""
    busy = nearest(found.context(position).resources)
    return bool(busy) and OF_THE_APPLICATION.issuperset(one.tag for one in busy)


def questions_table(result: Result[Benched]) -> Table:
    """A row for each implementation, the cheapest first."""
    found, names = result.conclusions, [variant.label for variant in result.request.variants]
    by = f"ratio to {names[0]}"

    def under(condition: Condition, name: str) -> Position:
        return Position(name, condition.coordinates)

    def ratio(metric: str, condition: Condition, word: bool = True) -> Column[str]:
        def told(name: str) -> str:
            found_ratio, said = ratio_to(found, metric, under(condition, name), under(condition, names[0]))
            return f"{found_ratio} {said}".strip() if word else found_ratio

        return Column(by, told)

    def each_memory(name: str) -> str:
        position = under(COST, name)
        return f"{memory(found, position, '/')}, {number(found.mean_of(MEMORY_PER_CONNECTION, position))}"

    def waiting(condition: Condition) -> Column[str]:
        def told(name: str) -> str:
            share = figure(found, LATENCY_BOUND, under(condition, name))
            return share if share == number(None) else f"{share} %"

        return Column(f"3: {condition.distance_ms} ms,\npool of {condition.pool}", told)

    def waiting_memory(name: str) -> str:
        known = [found.mean_of(MEMORY_PER_CONNECTION, under(one, name)) for one in WAITING]
        return number(max((mean for mean in known if mean is not None), default=None))

    return table(
        f"three questions: {conditions_line(result.request)}",
        [position.variant for position in by_cost(found, [under(COST, name) for name in names])],
        Column("implementation", str, text=True),
        Column("1: all roles\ncore-s/million", lambda name: figure(found, TOTAL, under(COST, name))),
        ratio(TOTAL, COST),
        Column("application\ncore-s/million", lambda name: figure(found, APP, under(COST, name))),
        ratio(APP, COST, word=False),
        Column("MiB rest/load,\nKiB/connection", each_memory),
        Column("2: goodput\n1/s", lambda name: figure(found, GOODPUT, under(APP_BOUND, name))),
        ratio(GOODPUT, APP_BOUND),
        Column("limit", lambda name: found.context(under(APP_BOUND, name)).limit, text=True),
        *map(waiting, WAITING),
        Column("KiB per\nwaiting request", waiting_memory),
    )


def questions_words(result: Result[Benched]) -> Iterator[Text]:
    """Sentences on where the second question has no answer, the limit under each condition, and what was not ok."""
    found = result.conclusions
    for condition, variant in product(CONDITIONS, result.request.variants):
        position, label = Position(variant.label, condition.coordinates), condition.label(variant)
        one, context = found.estimate_of(GOODPUT, position), found.context(position)
        if one is None:
            continue
        unanswered = condition is APP_BOUND and not application_bound(found, position)
        if unanswered and one.verdict is Verdict.OK:
            text = f"{label}: the application was not the limit ({context.limit}), so its rate does not answer question 2"
            yield Text(text, style="yellow")
        if context.bottleneck:
            yield Text(f"{label}: limited by {context.limit}", style="dim")
        for reason in one.reasons:
            yield Text(f"{label}: {one.verdict}: {reason}", style="red")
        for finding in context.findings:
            yield Text(f"{label}: {finding.text} [{finding.code}]", style="yellow")


def questions_report(result: Result[Benched]) -> RenderableType:
    """All that a person reads."""
    return Group(
        questions_table(result),
        Text(QUESTIONS_NOTE, style="dim"),
        settings(result),
        *questions_words(result),
        *findings(result),
        spent(result),
    )
