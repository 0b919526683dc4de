"""Other sessions' figures beside what was measured here. Pure."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from tandem.analysis.cost import APP, TOTAL
from tandem.analysis.prediction import outside_by_chance
from tandem.analysis.ratios import ALPHA
from tandem.catalog.catalog import Catalog
from tandem.facts.session import SessionRecord
from tandem.facts.statement import (
    Beside,
    Key,
    Statements,
    defaults_now,
    draws,
    every_statement,
    kept_apart,
    known,
)
from tandem.report.table import texts
from tandem.wording import basis_told, expected_range, known_told, metric_told, times

COSTS = (TOTAL, APP)
"""Metrics of which each contrast has a line of its own. The others have one where they are outside."""


def line_of(one: Beside) -> Text:
    """`the application's CPU per request, falcon-async by falcon-sync: × 1.38 here; × 1.41 in 9 sessions, 2 CPU models,
    expected 1.24 to 1.60: as expected`."""
    contrast, others = one.contrast, one.known
    told = (
        f"{metric_told(contrast.metric)}, {contrast.of} by {contrast.to}: {times(contrast.ratio)} here;"
        f" {times(others.ratio)} in {others.basis}, expected {expected_range(others)}: {one.outcome}"
    )
    if one.outcome == "outside":
        told += ". Look at the control, the conditions and the versions of this session before you believe it"
    return Text(told, style="bold yellow" if one.outcome == "outside" else "")


def beside_lines(found: Sequence[Beside]) -> list[RenderableType]:
    """The lines at the end of a comparison: the costs each, of the rest what is outside, and how many are."""
    if not found:
        return []
    shown = [one for one in found if one.contrast.metric.startswith(COSTS) or one.outcome == "outside"]
    alone = sum(one.outside_alone for one in found)
    by_chance = outside_by_chance(alone, len(found)) > ALPHA
    return [
        Text("beside other sessions", style="bold"),
        *map(line_of, shown),
        Text(
            f"{alone} of {len(found)} contrasts lie outside at 95 %:"
            f" {'as expected' if by_chance else 'more than chance explains'}."
            " `outside` above is judged by one limit for all of them",
            style="dim",
        ),
    ]


def known_lines(
    implementations: Sequence[str],
    scenario: str,
    sessions: Sequence[SessionRecord],
    catalog: Catalog,
    counterparts: Sequence[str],
) -> list[RenderableType]:
    """The sessions' figures for implementations that were measured without a counterpart, each beside the one that most sessions
    have compared it with, and the command that compares it here. counterparts: whom to compare with what no session knows."""
    every = every_statement(sessions)
    keys = [key for key in every if key.metric in COSTS and _is_present(key, scenario, catalog)]
    where = "" if scenario == "recipes" else f" --scenario {scenario}"
    lines: list[RenderableType] = [Text("known from sessions", style="bold")]
    for name in implementations:
        sided = (key if key.of.implementation == name else key.turned for key in keys)
        found = [(key, draws(sessions, key)) for key in sided if key.of.implementation == name]
        if not found:
            other = next(one for one in counterparts if one != name)
            lines.append(Text(f"{name}: no session has it on {scenario} yet"))
        else:
            most, _ = max(found, key=lambda one: len(one[1]))
            other = most.to.implementation
            lines += [
                Text(
                    f"{metric_told(key.metric)}, {name} by {other}, {scenario}, {key.topology}, {key.placement}:"
                    f" {known_told(known(of_key))}"
                )
                for key, of_key in found
                if key._replace(metric=most.metric) == most
            ]
        lines.append(Text(f"compare it here: just compare {other} {name}{where}", style="dim"))
    return lines


def _is_present(key: Key, scenario: str, catalog: Catalog) -> bool:
    """Say whether a contrast is of this scenario, with both sides at their defaults and their present version."""
    programs = catalog.implementations
    return (key.scenario, key.scenario_version) == (scenario, catalog.scenarios[scenario].version) and all(
        name in programs
        and version == programs[name].version
        and defaults_now(catalog, name, key.placement).items() <= dict(settings).items()
        for name, version, settings in (key.of, key.to)
    )


def statements_table(statements: Statements, sessions: Sequence[SessionRecord], keys: Sequence[Key]) -> Table:
    """The table of what all sessions say of the main statements. keys: of each statement, in their order."""
    columns = ("pair", "metric", "ratio", "next session", "rests on", "by CPU model")
    title = f"main statements: {statements.scenario}, {statements.topology}, {statements.placement}"
    rows = list[tuple[str, ...]]()
    for key in keys:
        found = known(draws(sessions, key))
        names = f"{key.of.implementation} by {key.to.implementation}", metric_told(key.metric)
        apart = [f"apart: {number} of {what}" for what, number in kept_apart(sessions, key).items()]
        if found is None:
            rows.append((*names, "–", "–", "\n".join(["no session", *apart]), ""))
            continue
        models = "\n".join(f"{each.model} {times(each.ratio)} ({each.sessions})" for each in found.models)
        rests = "\n".join([basis_told(found), *apart])
        rows.append((*names, times(found.ratio), expected_range(found), rests, models))
    return texts(title, rows, *columns, left=("pair", "metric", "rests on", "by CPU model"))
