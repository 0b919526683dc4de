"""Which implementation serves which scenario, found out on running containers, without load."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from rich.table import Table
from rich.text import Text

from tandem.catalog.catalog import Catalog
from tandem.catalog.scenario import Scenario
from tandem.errors import TandemError
from tandem.lab.application import Application
from tandem.lab.laboratory import build, refuse_or_clean_up, start
from tandem.lab.prepare import DEFAULT_TOPOLOGY, Ground, cell_of, prepare
from tandem.load.client import WITHOUT_LOAD
from tandem.record.request import Conditions, Request, Variant
from tandem.record.store import file_name


class SquareOutcome(StrEnum):
    """What a cell of the matrix came to."""

    OK = "ok"
    """Right answers with the contract's statements."""
    UNSUPPORTED = "unsupported"
    """Declared so in bench.toml, and 404 in fact."""
    UNDECLARED = "undeclared"
    """Declared unsupported, but it answers."""
    WRONG = "wrong"
    """Wrong answers or other statements."""
    FAILED = "failed"
    """No answers: it did not start, or it broke."""


GOOD = (SquareOutcome.OK, SquareOutcome.UNSUPPORTED)
_STYLES = {SquareOutcome.OK: "green", SquareOutcome.UNSUPPORTED: "dim"}


@dataclass(frozen=True)
class Square:
    """One implementation and one scenario. text: the reason where the outcome is not `ok`."""

    implementation: str
    scenario: str
    outcome: SquareOutcome
    text: str = ""
    tier: str = ""
    """How much of the contract the implementation promises; it is not looked at here."""


def order(scenarios: dict[str, Scenario]) -> list[Scenario]:
    """Those that change the database come last: the golden bodies of the others would not hold any more."""
    return sorted(
        scenarios.values(), key=lambda scenario: (scenario.answer.created is not None, scenario.name)
    )


def find_out(
    catalog: Catalog, results: Path, names: list[str], placement: str, note: Callable[[str], None]
) -> list[Square]:
    """Starts each implementation once and tries every scenario on it. Raises TandemError where nothing can start."""
    scenarios = order(catalog.scenarios)
    request = Request(
        study="matrix",
        variants=[Variant(label=name, implementation=name) for name in names],
        scenario=scenarios[0].name,
        conditions=Conditions(topology=DEFAULT_TOPOLOGY, placement=placement),
        plan="smoke",
        seed=0,
    )
    folder = results / ".matrix"
    refuse_or_clean_up(catalog.root, results, note)
    runs = [prepare(catalog, request, own, folder / file_name(own.label)) for own in request.variants]
    squares: list[Square] = []
    try:
        build(runs, note)
        start(runs[0].stack, note)
        for prepared in runs:
            note(f"{prepared.variant.label} ...")
            ground = Ground.of(catalog, request, prepared.variant)
            tier = prepared.cell.implementation.tier
            row = _row(ground, Application(prepared, folder), scenarios)
            squares += [replace(one, tier=tier) for one in row]
    finally:
        runs[0].stack.down()
        shutil.rmtree(folder, ignore_errors=True)
    return squares


def _row(ground: Ground, app: Application, scenarios: list[Scenario]) -> list[Square]:
    try:
        app.stack.stop("app", grace_s=1)
        app.stack.execute("db", ["reset"])
        app.launch()
        app.wait_ready()
        return [square(ground, app, scenario) for scenario in scenarios]
    except TandemError as error:
        name = app.prepared.variant.implementation
        return [Square(name, scenario.name, SquareOutcome.FAILED, str(error)) for scenario in scenarios]
    finally:
        try:
            app.collect()
        finally:
            app.stop()


def square(ground: Ground, app: Application, scenario: Scenario) -> Square:
    """Tries one scenario on a running application."""
    prepared = app.prepared
    implementation = prepared.cell.implementation
    own = ground.catalog.topologies[scenario.topology or ground.topology].variables["LOAD_ADDRESS"]
    reason = implementation.unsupported.scenarios.get(scenario.name)
    app.ask_for(replace(cell_of(ground, implementation, scenario, prepared.settings), load_address=own))
    try:
        if reason is not None:
            status = app.client.status()
            outcome = SquareOutcome.UNSUPPORTED if status == 404 else SquareOutcome.UNDECLARED
            told = reason if status == 404 else f"declared unsupported ({reason}), but the answer is {status}"
            return Square(implementation.name, scenario.name, outcome, told)
        found = app.verify(WITHOUT_LOAD)
    except TandemError as error:
        return Square(implementation.name, scenario.name, SquareOutcome.FAILED, str(error))
    finally:
        app.release_idle()
    outcome = SquareOutcome.WRONG if found else SquareOutcome.OK
    return Square(implementation.name, scenario.name, outcome, "; ".join(finding.text for finding in found))


def sentence(squares: list[Square]) -> str:
    """What it came to, and the first thing that is wrong."""
    served = sum(square.outcome is SquareOutcome.OK for square in squares)
    declined = sum(square.outcome is SquareOutcome.UNSUPPORTED for square in squares)
    of = len({square.implementation for square in squares})
    told = f"{len(squares)} cells of {of} implementation{'s' * (of > 1)}: {served} served, {declined} declined with a reason"
    wrong = [square for square in squares if square.outcome not in GOOD]
    if not wrong:
        return told
    first = wrong[0]
    return (
        f"{told}, {len(wrong)} not right, first {first.implementation} in {first.scenario}: {first.outcome}"
    )


def table(squares: list[Square]) -> Table:
    """Implementations down, scenarios across."""
    scenarios = list(dict.fromkeys(square.scenario for square in squares))
    out = Table(title="implementation x scenario", title_justify="left")
    out.add_column("implementation", no_wrap=True)
    out.add_column("tier")
    for scenario in scenarios:
        out.add_column(scenario)
    for name in dict.fromkeys(square.implementation for square in squares):
        own = [square for square in squares if square.implementation == name]
        cells = {square.scenario: square.outcome for square in own}
        out.add_row(name, own[0].tier, *(_cell(cells[scenario]) for scenario in scenarios))
    return out


def _cell(outcome: SquareOutcome) -> Text:
    return Text("–" if outcome is SquareOutcome.UNSUPPORTED else outcome, style=_STYLES.get(outcome, "red"))


def reasons(squares: list[Square]) -> list[Text]:
    """One line for each reason of what is not `ok`."""
    texts: dict[tuple[str, SquareOutcome, str], list[str]] = {}
    for square in squares:
        if square.outcome is not SquareOutcome.OK:
            texts.setdefault((square.implementation, square.outcome, square.text), []).append(square.scenario)
    return [
        Text(f"{name}: {', '.join(scenarios)}: {outcome}: {text}", style=_STYLES.get(outcome, "red"))
        for (name, outcome, text), scenarios in texts.items()
    ]
