"""What other sessions say, beside what was measured here. Pure."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from tandem.analysis.prediction import outside_by_chance
from tandem.facts.session import SessionRecord
from tandem.facts.statement import Beside, Key, Known, Statements, draws, every_key, known
from tandem.report.parts import table
from tandem.wording import times

METRICS = {
    "total_cpu_us_per_request": "CPU per request, all roles",
    "app_cpu_us_per_request": "application's CPU per request",
    "goodput_rps": "requests answered",
}
"""How a metric is named in a sentence; others by their key."""
PRIMARY = ("total_cpu_us_per_request", "app_cpu_us_per_request")
"""Of which each contrast has a line of its own. The others have one where they are outside."""
CHANCE = 0.05


def metric_name(metric: str) -> str:
    """A metric for people: `CPU per request, all roles, at 60 % load`. The load is the same rate for all: so many percent of
    what the slowest of them can do."""
    plain, at, share = metric.partition("_at_")
    told = METRICS.get(plain, plain)
    return f"{told}, at {share} % load" if at else told


def expected(found: Known) -> str:
    """`1.24 to 1.60`; a dash where fewer than two sessions expect nothing."""
    return f"{found.expected[0]:.2f} to {found.expected[1]:.2f}" if found.expected else "–"


def line_of(one: Beside) -> Text:
    """`falcon-async by falcon-sync, … : × 1.38 here; × 1.41 in 9 sessions, expected 1.24 to 1.60: as expected`."""
    contrast, others = one.contrast, one.known
    told = (
        f"{contrast.of} by {contrast.to}, {metric_name(contrast.metric)}: {times(contrast.ratio)} here;"
        f" {times(others.ratio)} in {others.basis}, expected {expected(others)}: {one.outcome}"
    )
    if one.outcome == "outside":
        told += ". Look at the control, the conditions and the versions of this session before you believe it"
    return Text(told, style="bold yellow" if one.outcome == "outside" else "")


def beside_lines(found: Sequence[Beside]) -> list[RenderableType]:
    """The lines at the end of a comparison: the costs each, of the rest what is outside, and how many are."""
    if not found:
        return []
    shown = [one for one in found if one.contrast.metric.startswith(PRIMARY) or one.outcome == "outside"]
    alone = sum(one.outside_alone for one in found)
    chance = outside_by_chance(alone, len(found))
    word = "as expected" if alone == 0 or chance > CHANCE else "more than chance explains"
    return [
        Text("beside other sessions", style="bold"),
        *map(line_of, shown),
        Text(
            f"{alone} of {len(found)} contrasts lie outside at 95 %: {word}."
            " `outside` above is judged by one limit for all of them",
            style="dim",
        ),
    ]


def known_lines(implementations: Sequence[str], sessions: Sequence[SessionRecord]) -> list[RenderableType]:
    """What sessions know of implementations that were measured without a counterpart, and how to compare them here."""
    lines: list[RenderableType] = []
    for name in implementations:
        keys = [key for key in every_key(sessions) if name in (key.of, key.to) and key.metric in PRIMARY]
        told = [_sentence(key if key.of == name else key.turned, sessions) for key in keys if _plain(key)]
        if not told:
            lines.append(Text(f"{name}: no session knows it yet. just session measures the main statements"))
            continue
        counterpart = next(key.to if key.of == name else key.of for key in keys if _plain(key))
        lines += [Text(f"{name}: {one}") for one in told]
        lines.append(Text(f"compare it here: just compare {counterpart} {name}", style="dim"))
    return [Text("known from sessions", style="bold"), *lines]


def _plain(key: Key) -> bool:
    """Whether both sides have their defaults and their present work."""
    return not (key.of_settings or key.to_settings) and 0 not in (key.of_version, key.to_version)


def _sentence(key: Key, sessions: Sequence[SessionRecord]) -> str:
    found = known(draws(sessions, key))
    assert found is not None
    return (
        f"{metric_name(key.metric)} on {key.scenario} {times(found.ratio)} of {key.to}'s in {found.basis};"
        f" {found.next_one} is expected in {expected(found)}"
    )


def statements_table(statements: Statements, sessions: Sequence[SessionRecord], keys: Sequence[Key]) -> Table:
    """What all sessions say of the main statements. keys: of each statement, in their order."""
    columns = ("pair", "metric", "ratio", "next session", "rests on", "by CPU model")
    title = f"main statements: {statements.scenario}, {statements.topology}, {statements.placement}"
    rows = table(title, *columns, left=("pair", "metric", "rests on", "by CPU model"))
    for one, key in zip(statements.statement, keys, strict=True):
        found = known(draws(sessions, key))
        names = f"{one.of} by {one.to}", metric_name(one.metric)
        if found is None:
            rows.add_row(*names, "–", "–", "no session", "")
            continue
        models = "\n".join(f"{each.model} {times(each.ratio)} ({each.sessions})" for each in found.models)
        told = found.basis if found.finding else f"{found.basis}: no finding"
        rows.add_row(*names, times(found.ratio), expected(found), told, models)
    return rows
