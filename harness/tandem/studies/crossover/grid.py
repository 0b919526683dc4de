"""Which cells a crossover measures: waits x threads x pools. Pure."""

import math
import re
from itertools import product

from tandem.catalog.catalog import Implementation
from tandem.catalog.scenario import Scenario
from tandem.engine.grid import LONGEST_DISTANCE_MS, LONGEST_WAIT_MS, SETTINGS, placed, waiting
from tandem.engine.study import Options
from tandem.errors import UsageError
from tandem.record.conclusion import Coordinates
from tandem.record.request import Variant

PATIENCE_S, ROOM = 1.5, 0.8
"""The contract lets a request wait so long for a database connection, then it is refused; some of it is left for bursts."""


class CrossoverOptions(Options):
    needs = "a crossover needs waits, threads, pools and rounds"
    waits_ms: list[int]
    threads: list[int]
    """Of each worker, for sync models; empty: as the variant has it."""
    pools: list[int]
    rounds: int
    """Number of fresh starts of each cell."""
    app_cpus: int | None = None
    """Those of the application in a lab; None: as the placement has them."""

    @property
    def points(self) -> list[Coordinates]:
        """The cells, by threads and pool, then by wait; without what a variant keeps as it has it."""
        axes = {"threads": self.threads, "pool": self.pools}
        given = {name: values for name, values in axes.items() if values}
        groups = [dict(zip(given, values, strict=True)) for values in product(*given.values())]
        return [{"wait_ms": wait, **group} for group in groups for wait in self.waits_ms]


def whole_numbers(option: str, text: str | None, least: int, unit: str = "") -> list[int]:
    """`0,1,5` as ascending numbers, the unit allowed behind each; none where nothing is given. Raises UsageError."""
    if text is None:
        return []
    found = set()
    for part in text.split(","):
        match = re.fullmatch(rf"\s*(\d{{1,5}})(?:{unit})?\s*", part, re.ASCII)
        if not match or int(match[1]) < least:
            raise UsageError(f"{option} takes whole numbers from {least}, such as 1,5,20{unit}, not '{part}'")
        found.add(int(match[1]))
    return sorted(found)


def waits_by_itself(scenario: Scenario) -> bool:
    """Whether a request asks for its wait; else the wait is the distance of the database."""
    return "delay_ms=" in scenario.path


def refuse(asked: CrossoverOptions, scenario: Scenario, both: list[Implementation]) -> None:
    """Raises UsageError for a grid that means nothing."""
    if len(both) != 2:
        raise UsageError(f"a crossover takes two variants, not {len(both)}")
    own = waits_by_itself(scenario)
    if not own and not scenario.statements:
        raise UsageError(f"{scenario.name} neither waits nor asks the database, so there is no wait to vary")
    most = LONGEST_WAIT_MS if own else LONGEST_DISTANCE_MS
    if max(asked.waits_ms) > most:
        raise UsageError(f"--wait: {most} ms is the maximum for {scenario.name}")
    if len(asked.waits_ms) < 2:
        raise UsageError("--wait needs at least two values, such as 0,1,5,15,50ms")
    if asked.pools and not scenario.statements:
        raise UsageError(f"--pool: {scenario.name} never asks the database")
    if asked.threads and all(one.model != "sync" for one in both):
        raise UsageError("--threads is for sync models, and neither of the two is sync")


def refuse_impatient(label: str, scenario: Scenario, wait_ms: int, inside: int, pool: int) -> None:
    """Raises UsageError, with what fits, where requests would wait for a database connection for longer than they may: a
    window of refusals measures nothing. scenario: as the cell asks. inside: requests in the application at once."""
    span_s = scenario.in_turn * wait_ms / 1e3
    if span_s <= 0 or (inside / pool - 1) * span_s <= ROOM * PATIENCE_S:
        return
    most = math.floor((ROOM * PATIENCE_S / span_s + 1) * pool)
    raise UsageError(
        f"{label}: {inside} requests share {pool} database connections, each for {span_s * 1e3:.0f} ms: they would wait longer than"
        f" the {PATIENCE_S} s after which they are refused. --connections {most} fits, or a larger --pool"
    )


def variant_at(variant: Variant, model: str, point: Coordinates, scenario: Scenario) -> Variant:
    """The variant in a cell. Threads are not varied where handlers hold none: such a variant has one start for them all."""
    own = {name: value for name, value in point.items() if model == "sync" or name != "threads"}
    chosen = {SETTINGS[name]: str(value) for name, value in own.items() if name in SETTINGS}
    twice = sorted({*chosen} & {*variant.settings})
    if twice:
        raise UsageError(f"{variant.label}: {twice[0]} is varied here, so it cannot be given as well")
    wait_ms = own["wait_ms"]
    told = [f"wait={wait_ms}ms", *(f"{name}={value}" for name, value in own.items() if name in SETTINGS)]
    label = " ".join([variant.label, *told])
    if waits_by_itself(scenario):
        return placed(variant, label, own, chosen, waiting(scenario, wait_ms))
    return placed(variant, label, own, chosen, db_rtt_ms=wait_ms)
