"""The study behind `sweep`: each variant at each value of one setting, fresh starts in randomised complete blocks."""

from collections.abc import Iterator, Sequence
from itertools import batched, count

from pydantic import Field

from tandem.analysis.curves import loss_in_scatters
from tandem.catalog.catalog import Catalog
from tandem.engine.blocks import Blocks
from tandem.engine.context import contexts
from tandem.engine.findings import together
from tandem.engine.grid import SETTINGS, Grid, placed, waiting
from tandem.engine.study import Options, warn_of_too_few
from tandem.errors import UsageError
from tandem.facts.estimate import of_variants
from tandem.record.conclusion import Coordinates
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial
from tandem.record.window import Finding
from tandem.studies.sweep import report as tables
from tandem.studies.sweep.conclusions import NEEDED, WAIT_SCENARIO, Swept, coordinate, curve
from tandem.wording import counted

SCATTERS_MOST = 3.0
"""Loss in scatters of a start: a sweep that would miss larger losses is too short."""


class SweepOptions(Options):
    needs = "a sweep needs an axis, values and rounds"
    axis: str
    values: list[int]
    rounds: int
    """Number of fresh starts at each value."""
    cpusets: dict[int, str] = Field(default_factory=dict)
    """Value of `cores` -> the CPU set of the application."""
    own_cores: int = 0
    """Cores that the placement gives the application alone, if `cores` is swept; further ones it shares."""
    tags: dict[str, dict[int, str]] = Field(default_factory=dict)
    """Variant -> value of a variable of a reader's own service -> the tag of its image with it."""


class Sweep(Grid[Swept]):
    """Each variant at each value once in each block. The plan's warm-up and closed window are those of every trial."""

    name = "sweep"
    kind = Swept
    report = staticmethod(tables.report)

    def __init__(self, catalog: Catalog, request: Request) -> None:
        super().__init__(catalog, request)
        self.asked = SweepOptions.read(request)
        axis = self.asked.axis
        if axis == "wait" and any(
            (v.scenario or request.scenario) != WAIT_SCENARIO for v in request.variants
        ):
            raise UsageError(f"--over wait needs the scenario {WAIT_SCENARIO}, not {request.scenario}")
        for variant in request.variants:
            if SETTINGS.get(axis) in {**request.settings, **variant.settings}:
                raise UsageError(
                    f"{SETTINGS[axis]} is the setting that is swept: --setting cannot fix it as well"
                )

    def at(self, variant: Variant, value: int) -> Variant:
        """The variant with the axis at a value."""
        axis = self.asked.axis
        label = f"{variant.label} {axis}={value}"
        place: Coordinates = {coordinate(axis): value}
        if own := self.asked.tags.get(variant.label):
            return placed(variant, label, place, tag=own[value])
        if axis == "cores":
            own_cpus = {**variant.variables, "APP_CPUSET": self.asked.cpusets[value]}
            return placed(variant, label, place, variables=own_cpus)
        if axis in SETTINGS:
            return placed(variant, label, place, {SETTINGS[axis]: str(value)})
        name = variant.scenario or self.request.scenario
        scenario = self.catalog.scenario(name)
        change = waiting(scenario, value) if axis == "wait" else {"connections": value}
        return placed(variant, label, place, scenario=change)

    @property
    def variants(self) -> list[Variant]:
        return [self.at(variant, value) for variant in self.request.variants for value in self.asked.values]

    @property
    def rounds(self) -> int:
        return self.asked.rounds

    def plan(self) -> Blocks:
        rounds, values = self.asked.rounds, len(self.asked.values)
        least = next(n for n in count(2) if loss_in_scatters(n, values) <= SCATTERS_MOST)
        times = loss_in_scatters(rounds, values)
        cannot = f"show a loss unless it is {times:.0f} times the scatter of a start"
        warn_of_too_few(self.tell, rounds, least, "rounds", cannot, f"--rounds {least}")
        yield from super().plan()

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Swept]:
        asked, found = self.asked, of_variants(trials, self.variants, NEEDED)
        of_each = zip(self.request.variants, batched(found, len(asked.values), strict=True), strict=True)
        curves = [
            curve(variant.label, asked.axis, dict(zip(asked.values, own, strict=True)))
            for variant, own in of_each
        ]
        estimates = [each for one in found for each in one.standard()]
        swept = Swept(
            estimates=estimates,
            contexts=contexts(found, trials, estimates, baselines),
            axis=asked.axis,
            values=asked.values,
            rounds=asked.rounds,
            curves=curves,
        )
        concluded = together(trials, all(one.ok for one in found), swept, tables.headline(swept))
        concluded.findings = [*self._warnings(), *concluded.findings]
        return concluded

    def _warnings(self) -> Iterator[Finding]:
        """What is known of the axis without any trial."""
        axis, own = self.asked.axis, self.asked.own_cores
        under = self.catalog.pick("topology", self.request.conditions.topology, self.catalog.topologies)
        if axis == "pool" and under.variables["DATABASE_ADDRESS"].startswith("pgbouncer"):
            text = "PgBouncer has its own pool (PGBOUNCER_POOL_SIZE): a larger pool in the application only waits there"
            yield Finding.of("pooled", "warning", text)
        if axis == "cores" and max(self.asked.values) > own:
            text = f"on more than {counted(own, 'cores')} the application shares them with database, proxy and generator: less than it would do alone"
            yield Finding.of("cores-shared", "warning", text)
