"""Which implementation serves which scenario, found out on running containers, without load."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rich.table import Table
from rich.text import Text

from tandem.catalog.catalog import Catalog, Implementation
from tandem.catalog.scenario import Scenario
from tandem.errors import TandemError
from tandem.load.client import WITHOUT_LOAD
from tandem.old.lab import BenchLab
from tandem.old.prepare import DEFAULT_TOPOLOGY, Conditions, Prepared, build, refuse_or_clean_up, start


class Outcome(StrEnum):
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


GOOD = (Outcome.OK, Outcome.UNSUPPORTED)
_STYLES = {Outcome.OK: "green", Outcome.UNSUPPORTED: "dim"}


@dataclass(frozen=True)
class Square:
    """One implementation and one scenario. text: the reason where the outcome is not `ok`."""

    implementation: str
    scenario: str
    outcome: Outcome
    text: str = ""


def order(scenarios: dict[str, Scenario]) -> list[Scenario]:
    """Those that change the database come last: the golden bodies of the others would not hold any more."""
    return sorted(
        scenarios.values(), key=lambda scenario: (scenario.answer.created is not None, scenario.name)
    )


def find_out(
    catalog: Catalog, results: Path, names: list[str], placement: str, note: Callable[[str], None]
) -> list[Square]:
    """Starts each implementation once and tries every scenario on it. Raises TandemError where nothing can start."""
    under = Conditions(catalog, DEFAULT_TOPOLOGY, placement, catalog.plans["smoke"], {})
    scenarios = order(catalog.scenarios)
    folder = results / ".matrix"
    refuse_or_clean_up(catalog.root, results, note)
    runs = [
        under.prepare(catalog.implementation(n), scenarios[0], folder / n.replace("/", "-")) for n in names
    ]
    squares: list[Square] = []
    try:
        build(runs, note)
        start(runs[0].stack, note)
        for prepared in runs:
            note(f"{prepared.cell.implementation.name} ...")
            squares += _row(under, prepared, scenarios, folder)
    finally:
        runs[0].stack.down()
        shutil.rmtree(folder, ignore_errors=True)
    return squares


def _row(under: Conditions, prepared: Prepared, scenarios: list[Scenario], folder: Path) -> list[Square]:
    name = prepared.cell.implementation.name
    lab = BenchLab(prepared.stack, prepared.cell, folder, lambda *_: None, lambda _: None)
    try:
        lab.start()
        lab.wait_ready()
        return [_square(under, prepared, lab, scenario) for scenario in scenarios]
    except TandemError as error:
        return [Square(name, scenario.name, Outcome.FAILED, str(error)) for scenario in scenarios]
    finally:
        lab.collect()
        lab.stop()


def _square(under: Conditions, prepared: Prepared, lab: BenchLab, scenario: Scenario) -> Square:
    implementation: Implementation = prepared.cell.implementation
    own = under.catalog.topologies[scenario.topology or under.topology].variables["LOAD_ADDRESS"]
    reason = implementation.unsupported.scenarios.get(scenario.name)
    lab.ask_for(under.cell(implementation, scenario, prepared.knobs), own)
    try:
        if reason is not None:
            status = lab.bare_status()
            outcome = Outcome.UNSUPPORTED if status == 404 else Outcome.UNDECLARED
            told = reason if status == 404 else f"declared unsupported ({reason}), but the answer is {status}"
            return Square(implementation.name, scenario.name, outcome, told)
        found = lab.verify(WITHOUT_LOAD)
    except TandemError as error:
        return Square(implementation.name, scenario.name, Outcome.FAILED, str(error))
    finally:
        lab.release_idle()
    outcome = Outcome.WRONG if found else Outcome.OK
    return Square(implementation.name, scenario.name, outcome, "; ".join(finding.text for finding in found))


def table(squares: list[Square]) -> Table:
    """Implementations down, scenarios across."""
    scenarios = list(dict.fromkeys(square.scenario for square in squares))
    out = Table(title="implementation x scenario", title_justify="left")
    out.add_column("implementation", no_wrap=True)
    for scenario in scenarios:
        out.add_column(scenario)
    for name in dict.fromkeys(square.implementation for square in squares):
        cells = {square.scenario: square.outcome for square in squares if square.implementation == name}
        out.add_row(name, *(_cell(cells[scenario]) for scenario in scenarios))
    return out


def _cell(outcome: Outcome) -> Text:
    return Text("–" if outcome is Outcome.UNSUPPORTED else outcome, style=_STYLES.get(outcome, "red"))


def reasons(squares: list[Square]) -> list[Text]:
    """One line for each reason of what is not `ok`."""
    texts: dict[tuple[str, Outcome, str], list[str]] = {}
    for square in squares:
        if square.outcome is not Outcome.OK:
            texts.setdefault((square.implementation, square.outcome, square.text), []).append(square.scenario)
    return [
        Text(f"{name}: {', '.join(scenarios)}: {outcome}: {text}", style=_STYLES.get(outcome, "red"))
        for (name, outcome, text), scenarios in texts.items()
    ]
