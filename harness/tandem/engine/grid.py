"""The design that most studies share: variants at coordinates, each a fresh start in every one of its blocks. Pure."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from tandem.catalog.catalog import Plan
from tandem.catalog.scenario import Scenario
from tandem.engine.blocks import rounds_of_blocks
from tandem.engine.study import Study
from tandem.record.conclusion import Coordinates
from tandem.record.request import Variant
from tandem.record.result import Conclusions
from tandem.record.trial import TrialSpec, WarmUp, WindowSpec

CLOSED, OPEN = "closed", "open"
LONGEST_DISTANCE_MS = 250
"""Longest distance of a database: drivers give up connecting after two seconds."""
LONGEST_WAIT_MS = 1000
"""Longest wait of a request: windows last only seconds."""
SETTINGS = {"threads": "THREADS", "pool": "DB_POOL_MAX"}
"""Coordinate -> the setting that it is a value of."""


def placed(
    variant: Variant,
    label: str,
    coordinates: Coordinates,
    settings: Mapping[str, str] | None = None,
    scenario: Mapping[str, object] | None = None,
    **changes: object,
) -> Variant:
    """The variant at its coordinates in a design. settings, scenario: laid over its own; changes: of further fields."""
    own = {
        "label": label,
        "base": variant.label,
        "coordinates": coordinates,
        "settings": {**variant.settings, **(settings or {})},
        "scenario_changes": {**variant.scenario_changes, **(scenario or {})},
    }
    return variant.model_copy(update={**own, **changes})


def waiting(scenario: Scenario, wait_ms: int | float | str) -> dict[str, object]:
    """What makes each request of a scenario wait for so long."""
    return {"path": f"{scenario.path.partition('?')[0]}?delay_ms={wait_ms}"}


def warm_up_of(plan: Plan) -> WarmUp:
    """The plan's warm-up."""
    return WarmUp(
        least_s=plan.warm_up_s,
        requests_per_worker=plan.warm_up_requests_per_worker,
        steady_buckets=plan.steady_buckets,
        cap_s=plan.warm_up_cap_s,
    )


def windows_of(plan: Plan, label: str) -> list[WindowSpec]:
    """A closed window, then an open one at a share of what it reached."""
    closed = WindowSpec(
        name=CLOSED,
        variants=[label],
        seconds=plan.closed_s,
        trim_start_s=plan.trim_start_s,
        trim_end_s=plan.trim_end_s,
    )
    how = {"name": OPEN, "load": "open", "share": plan.open_load_fraction, "share_of": CLOSED}
    return [closed, closed.model_copy(update={**how, "seconds": plan.open_s})]


def fresh_start(
    plan: Plan, block: int, label: str, name: str | None = None, opened: bool = False
) -> TrialSpec:
    """A fresh start with a closed window. name: where the label does not tell the starts of a block apart. opened: with an
    open window behind it."""
    return TrialSpec(
        name=f"{block}-{name or label}",
        block=block,
        variants=[label],
        warm_up=warm_up_of(plan),
        windows=windows_of(plan, label)[: 1 + opened],
    )


class Grid[C: Conclusions](Study[C]):
    """Every variant once in each round, in randomised complete blocks of those that are compared with one another."""

    opened: ClassVar[bool] = False
    """Whether each start has an open window, too."""

    @property
    def rounds(self) -> int:
        """Fresh starts of each variant; default: what the plan says."""
        return self.timing.trials

    @property
    def groups(self) -> Sequence[Sequence[str]]:
        """Labels of variants that are compared with one another, which share a block; default: all."""
        return [[variant.label for variant in self.variants]]

    def outline(self) -> list[list[TrialSpec]]:
        orders = rounds_of_blocks(self.groups, self.rounds, self.request.seed)
        return [
            [fresh_start(self.timing, number, label, opened=self.opened) for label in order]
            for number, order in enumerate(orders, start=1)
        ]
