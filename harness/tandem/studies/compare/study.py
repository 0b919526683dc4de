"""The study behind `compare`: blocks of fresh starts, all up and warm, short windows in turn while the others are frozen,
then one of all at once.

That last one is a duet (Bulej et al., ICPE 2020): what the host does to one it does to the others in the same moment, so
the ratio of their costs is far steadier than that of windows taken one after the other. It tells costs and not rates: the
variants share their CPUs. HAProxy is not in the path.
"""

from collections.abc import Sequence
from statistics import fmean

from pydantic import JsonValue

from tandem.analysis.alternation import AlternatingBlock, alternation
from tandem.analysis.looks import PlannedLook
from tandem.analysis.ratios import BLOCKS_LEAST
from tandem.catalog.catalog import Catalog, Pairing
from tandem.engine.blocks import Blocks, in_blocks
from tandem.engine.study import Study, Windows
from tandem.errors import UsageError, unknown
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial, TrialSpec, WarmUp, WindowRecord, WindowSpec
from tandem.record.window import Verdict
from tandem.studies.compare import report as tables
from tandem.studies.compare.conclusions import (
    DUET,
    METRICS,
    Compared,
    conclude,
    decided,
    second,
    turn_name,
)

DIRECT = "app:8080"
SHARE = 0.6
"""Of what the slowest reaches alone: all rates of a duet together."""


def duet_rates(goodputs_rps: Sequence[float]) -> list[int]:
    """At which rate each is asked, per second. goodputs_rps: of each, alone.

    One rate, but that each next one is asked once a second more often: with equal rates the one that is always asked
    just behind another finds its caches warm or cold, and two starts of one program differed by 1.7 % in seven blocks.
    """
    least = max(1, int(SHARE * min(goodputs_rps) / len(goodputs_rps)))
    return [least + number for number in range(len(goodputs_rps))]


def duet_of(spec: WindowSpec, made: Sequence[WindowRecord]) -> WindowSpec | None:
    """The duet that follows from the windows in turn; None where somebody reached nothing alone.

    Who takes part has had windows, and none invalid: statements are counted for all together.
    """
    windows = {
        label: [r.windows.get(label) for r in made if label in r.spec.variants] for label in spec.variants
    }
    honest = {
        label: [window for window in own if window is not None]
        for label, own in windows.items()
        if own and all(window is not None and window.verdict is not Verdict.INVALID for window in own)
    }
    alone = {
        label: [window.goodput_rps for window in own if window.verdict is Verdict.OK]
        for label, own in honest.items()
    }
    if not alone or not all(alone.values()):
        return None
    rates = duet_rates([fmean(found) for found in alone.values()])
    return spec.model_copy(
        update={"variants": list(alone), "rates_rps": dict(zip(alone, rates, strict=True))}
    )


class Compare(Study[Compared]):
    """Every variant, and the first a second time, in each block."""

    name = "compare"
    kind = Compared
    report = staticmethod(tables.report)
    markdown = staticmethod(tables.markdown)

    def __init__(self, catalog: Catalog, request: Request) -> None:
        super().__init__(catalog, request)
        if self.timing.compare is None:
            having = ", ".join(name for name, plan in catalog.plans.items() if plan.compare)
            raise UsageError(f"the plan {self.timing.name} has no [compare]; these have: {having}")
        self.pairing: Pairing = self.timing.compare
        default = "duet_cpu_us_per_request" if self.pairing.duet_s else "app_cpu_us_per_request"
        self.primary = str(request.options.get("primary") or default)
        if self.primary not in METRICS:
            raise unknown("metric", self.primary, METRICS)
        self.looks = self._looks(request.options.get("looks"))

    def _looks(self, asked: JsonValue) -> tuple[int, ...]:
        """The blocks at which it is looked: those asked for, else the plan's; empty: once, at the end."""
        found = self.pairing.looks if asked is None else asked
        if not isinstance(found, list | tuple) or not all(isinstance(one, int) for one in found):
            raise UsageError(f"looks are numbers of blocks, not {asked}")
        looks = tuple(int(str(one)) for one in found)
        if len(looks) == 1 or looks != tuple(sorted(set(looks))) or (looks and looks[0] < BLOCKS_LEAST):
            raise UsageError(
                f"looks are two or more rising numbers of blocks from {BLOCKS_LEAST} on, which decide at the least: not"
                f" {', '.join(map(str, looks))}"
            )
        return looks

    @property
    def beforehand(self) -> str:
        named = f"the primary metric is {self.primary}: it has 5 % of its own, all others together have another 5 %"
        if not self.looks:
            return named
        *before, last = self.looks
        return (
            f"{named}; looks after {', '.join(map(str, before))} and {last} blocks: it ends at the first that decides the"
            f" primary metric. The estimate is that of all {last}"
        )

    @property
    def variants(self) -> list[Variant]:
        first = self.request.variants[0]
        return [*self.request.variants, first.model_copy(update={"label": second(first.label)})]

    def outline(self) -> list[list[TrialSpec]]:
        labels, pairing = [variant.label for variant in self.variants], self.pairing
        number = self.looks[-1] if self.looks else pairing.blocks
        blocks = alternation(labels, pairing.rounds, number, self.request.seed)
        return [[self._trial(block)] for block in blocks]

    def plan(self) -> Blocks:
        """Up to each look, void blocks once more before it. It ends at the first that decides."""
        blocks, made = self.outline(), list[Trial]()
        labels = [variant.label for variant in self.request.variants]
        for number, due in enumerate(self.looks or (len(blocks),), start=1):
            before = self.looks[number - 2] if number > 1 else 0
            part = in_blocks(blocks[before:due])
            block = next(part, None)
            while block is not None:
                trials = yield block
                made += trials
                try:
                    block = part.send(trials)
                except StopIteration:
                    block = None
            look = PlannedLook(self.looks, number)
            if not look.last and decided(made, labels[0], labels[1:], self.primary, look):
                return

    def _trial(self, block: AlternatingBlock) -> TrialSpec:
        windows = [
            self._window(turn_name(number, label), [label], self.pairing.window_s)
            for number, order in enumerate(block.rounds, start=1)
            for label in order
        ]
        if self.pairing.duet_s:
            duet = self._window(DUET, block.starts, self.pairing.duet_s)
            windows.append(duet.model_copy(update={"load": "open", "address": DIRECT}))
        return TrialSpec(
            name=f"block-{block.number}",
            block=block.number,
            variants=block.starts,
            warm_up=WarmUp(
                least_s=self.pairing.warm_up_s,
                steady_buckets=self.pairing.steady_buckets,
                cap_s=max(self.pairing.warm_up_s, self.pairing.warm_up_cap_s),
            ),
            windows=windows,
        )

    def _window(self, name: str, labels: list[str], seconds: int) -> WindowSpec:
        return WindowSpec(
            name=name,
            variants=labels,
            seconds=seconds,
            trim_start_s=self.pairing.trim_start_s,
            trim_end_s=self.pairing.trim_end_s,
            settled=False,
        )

    def windows(self, spec: TrialSpec) -> Windows:
        """Those in turn, then the duet at rates that follow from them."""
        made: list[WindowRecord] = []
        absent: set[str] = set()
        for window in spec.windows:
            if window.name == DUET:
                duet = duet_of(window, made)
                if duet is not None:
                    yield duet
            elif absent.isdisjoint(window.variants):
                record = yield window
                made.append(record)
                if not record.spec.variants:  # it did not start: that is told once
                    absent.update(window.variants)

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Compared]:
        labels = [variant.label for variant in self.request.variants]
        return conclude(trials, labels, baselines.ceilings_rps, self.primary, self.looks)
