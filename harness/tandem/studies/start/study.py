"""The study behind `start`: fresh starts that are loaded at once, without a warm-up."""

from collections.abc import Sequence

from tandem.catalog.catalog import Catalog
from tandem.engine.findings import together
from tandem.engine.grid import Grid
from tandem.engine.study import Options
from tandem.facts.estimate import of_variants
from tandem.record.request import Request
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial, TrialSpec, WarmUp
from tandem.studies.start import report as tables
from tandem.studies.start.conclusions import Started, against_first, estimates, mean_shares

NEEDED = 2
"""Good starts of a variant, else it has no figure."""


class StartOptions(Options):
    needs = "starts need their number and the length of the load"
    starts: int
    load_s: int


class Starting(Grid[Started]):
    """Each variant once in each block, loaded fully from its first second on."""

    name = "start"
    kind = Started
    report = staticmethod(tables.report)

    def __init__(self, catalog: Catalog, request: Request) -> None:
        super().__init__(catalog, request)
        self.asked = StartOptions.read(request)

    @property
    def rounds(self) -> int:
        return self.asked.starts

    def outline(self) -> list[list[TrialSpec]]:
        return [[self._cold(spec) for spec in block] for block in super().outline()]

    def _cold(self, spec: TrialSpec) -> TrialSpec:
        window = spec.windows[0].model_copy(update={"seconds": self.asked.load_s, "trim_start_s": 0.0})
        return spec.model_copy(update={"warm_up": WarmUp(least_s=0, cap_s=0), "windows": [window]})

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Started]:
        found = of_variants(trials, self.variants, NEEDED)
        reached = Started(
            estimates=[each for one in found for each in estimates(one)],
            contrasts=[*against_first(found)],
            rates={one.variant.label: mean_shares(one) for one in found if one.ok},
        )
        concluded = together(trials, all(one.ok for one in found), reached, tables.headline(reached))
        concluded.complete = True
        return concluded
