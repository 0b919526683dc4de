"""The table of the three questions. Pure."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tandem.analysis.cost import APP, TOTAL
from tandem.facts.metric import GOODPUT, LATENCY_BOUND, MEMORY_PER_CONNECTION
from tandem.judge.bottleneck import nearest
from tandem.record.conclusion import Position
from tandem.record.result import Result
from tandem.record.window import Verdict
from tandem.report.parts import conditions_line, findings, settings, spent
from tandem.report.table import Column, figure, ratio_to, table
from tandem.studies.bench.conclusions import Benched
from tandem.studies.bench.conditions import APP_BOUND, CONDITIONS, CONNECTIONS, COST, WAITING, Condition
from tandem.studies.bench.report import by_cost, figure_mean, memory
from tandem.wording import number

NOTE = (
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
        return f"{memory(found, position, '/')}, {figure_mean(found, MEMORY_PER_CONNECTION, position)}"

    def waiting(condition: Condition) -> Column[str]:
        def told(name: str) -> str:
            share = figure(found, LATENCY_BOUND, under(condition, name))
            return share if share == number(None) else f"{share} %"

        return Column(f"3: {condition.distance_ms} ms,\npool of {condition.pool}", told)

    def waiting_memory(name: str) -> str:
        known = [found.estimate_of(MEMORY_PER_CONNECTION, under(one, name)) for one in WAITING]
        return number(max((one.mean for one in known if one and one.mean is not None), default=None))

    ordered = by_cost(found, [under(COST, name) for name in names])
    return table(
        f"three questions: {conditions_line(result.request)}",
        [position.variant for position in ordered],
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


def words(result: Result[Benched]) -> list[Text]:
    """Where the second question has no answer, what was the limit under each condition, and what was not ok."""
    found, lines = result.conclusions, list[Text]()
    for condition in CONDITIONS:
        for variant in result.request.variants:
            position, label = Position(variant.label, condition.coordinates), condition.label(variant)
            one, context = found.estimate_of(GOODPUT, position), found.context(position)
            if one is None:
                continue
            unanswered = condition is APP_BOUND and not application_bound(found, position)
            if unanswered and one.verdict is Verdict.OK:
                text = f"{label}: the application was not the limit ({context.limit}), so its rate does not answer question 2"
                lines.append(Text(text, style="yellow"))
            if context.bottleneck:
                lines.append(Text(f"{label}: limited by {context.limit}", style="dim"))
            lines += [Text(f"{label}: {one.verdict}: {reason}", style="red") for reason in one.reasons]
            lines += [
                Text(f"{label}: {each.text} [{each.code}]", style="yellow") for each in context.findings
            ]
    return lines


def report(result: Result[Benched]) -> RenderableType:
    """All that a person reads."""
    return Group(
        questions_table(result),
        Text(NOTE, style="dim"),
        settings(result),
        *words(result),
        *findings(result),
        spent(result),
    )
