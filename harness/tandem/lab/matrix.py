"""Which implementation serves which scenario: tried on running containers, without load."""

import shutil
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from rich.table import Table
from rich.text import Text

from tandem.catalog.catalog import Catalog
from tandem.catalog.scenario import Scenario
from tandem.errors import TandemError
from tandem.lab.application import Application
from tandem.lab.floor import ContainerFloor
from tandem.lab.laboratory import build, refuse_or_clean_up, services_of, start
from tandem.lab.live import View
from tandem.lab.prepare import DEFAULT_TOPOLOGY, VariantConditions, case_of, prepare
from tandem.lab.visit import Visit
from tandem.load.client import WITHOUT_LOAD
from tandem.record.request import Conditions, Request, Variant
from tandem.record.store import file_name
from tandem.record.trial import TrialSpec, WarmUp
from tandem.wording import counted


class SquareOutcome(StrEnum):
    """The outcome of a cell of the matrix."""

    OK = "ok"
    """Right answers with the contract's statements."""
    UNSUPPORTED = "unsupported"
    """Declared unsupported in bench.toml, and 404 in fact."""
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


def order(scenarios: dict[str, Scenario]) -> list[Scenario]:
    """The order in which scenarios are tried. Those that change the database come last: the golden bodies of the
    others would not hold any more. A mix is of what is tried by itself."""
    alone = (scenario for scenario in scenarios.values() if not scenario.beside)
    return sorted(alone, key=lambda scenario: (scenario.answer.created is not None, scenario.name))


def try_all(catalog: Catalog, results: Path, names: list[str], placement: str, view: View) -> list[Square]:
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
    refuse_or_clean_up(catalog.root, results, view.note)
    runs = [prepare(catalog, request, own, folder / file_name(own.label)) for own in request.variants]
    squares: list[Square] = []
    try:
        build(runs, services_of(runs), view.note)
        start(runs[0].stack, view.note)
        for prepared in runs:
            view.note(f"{prepared.variant.label} ...")
            conditions = VariantConditions(catalog, request, prepared.variant)
            squares += _row(conditions, Application(prepared, folder), scenarios, view)
    finally:
        runs[0].stack.down()
        shutil.rmtree(folder, ignore_errors=True)
    return squares


def _row(
    conditions: VariantConditions, app: Application, scenarios: list[Scenario], view: View
) -> list[Square]:
    """Every scenario on one visit without load."""
    variant, rest = app.prepared.variant, WarmUp(least_s=0, cap_s=0)
    spec = TrialSpec(name=variant.label, block=1, variants=[variant.label], warm_up=rest, verify=False)
    visit = Visit(ContainerFloor({variant.label: app}, view), spec, view)
    with visit.warm() as running:
        if running:
            return [square(conditions, app, scenario) for scenario in scenarios]
    why = "; ".join(finding.text for finding in visit.trial.all_findings())
    return [
        Square(variant.implementation, scenario.name, SquareOutcome.FAILED, why) for scenario in scenarios
    ]


def square(conditions: VariantConditions, app: Application, scenario: Scenario) -> Square:
    """Tries one scenario on a running application."""
    implementation = app.prepared.case.implementation
    own = conditions.catalog.topologies[scenario.topology or conditions.topology].variables["LOAD_ADDRESS"]
    reason = implementation.unsupported.scenarios.get(scenario.name)
    app.ask_for(replace(case_of(conditions, scenario), load_address=own))
    try:
        if reason is None:
            found = app.verify(WITHOUT_LOAD)
            text = "; ".join(finding.text for finding in found)
            outcome = SquareOutcome.WRONG if found else SquareOutcome.OK
        elif (status := app.client.status()) == 404:
            outcome, text = SquareOutcome.UNSUPPORTED, reason
        else:
            text = f"declared unsupported ({reason}), but the answer is {status}"
            outcome = SquareOutcome.UNDECLARED
    except TandemError as error:
        outcome, text = SquareOutcome.FAILED, str(error)
    finally:
        app.release_idle()
    return Square(implementation.name, scenario.name, outcome, text)


def sentence(squares: list[Square]) -> str:
    """The outcome in a sentence, with the first thing that is wrong."""
    served = sum(square.outcome is SquareOutcome.OK for square in squares)
    declined = sum(square.outcome is SquareOutcome.UNSUPPORTED for square in squares)
    of = len({square.implementation for square in squares})
    told = f"{len(squares)} cells of {counted(of, 'implementations')}: {served} served, {declined} declined with a reason"
    wrong = [square for square in squares if square.outcome not in GOOD]
    if not wrong:
        return told
    first = f"first {wrong[0].implementation} in {wrong[0].scenario}: {wrong[0].outcome}"
    return f"{told}, {len(wrong)} not right, {first}"


def table(squares: list[Square]) -> Table:
    """Implementations down, scenarios across."""
    scenarios = list(dict.fromkeys(square.scenario for square in squares))
    out = Table(title="implementation x scenario", title_justify="left")
    out.add_column("implementation", no_wrap=True)
    for scenario in scenarios:
        out.add_column(scenario)
    for name in dict.fromkeys(square.implementation for square in squares):
        own = [square for square in squares if square.implementation == name]
        cells = {square.scenario: square.outcome for square in own}
        told = (
            Text("–" if one is SquareOutcome.UNSUPPORTED else one, style=_STYLES.get(one, "red"))
            for one in map(cells.__getitem__, scenarios)
        )
        out.add_row(name, *told)
    return out


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
