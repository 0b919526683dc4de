"""The pictures of the page, each with its words, its controls and its rows. Pure."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tandem.page import rows, specs
from tandem.page.data import PageRow
from tandem.page.lines import Line
from tandem.page.read import Run
from tandem.report.chart import Spec

RATIOS_MOST, DETAILED_MOST, SECONDS_MOST = 40, 12, 3
"""Results in the picture of the ratios; with percentiles, roles, loads and settings; with single seconds."""


@dataclass(frozen=True)
class Select:
    """A choice among the values of a column."""

    column: str
    label: str


@dataclass(frozen=True)
class Plot:
    """A picture."""

    name: str
    title: str
    says: str
    """What it shows, and what it does not."""
    remedy: str
    """What to run where there are no rows."""
    section: Literal["why", "explore", "prices"]
    """Of the first page."""
    spec: Callable[[], Spec]
    rows: Callable[[Run, Sequence[Line]], Iterator[PageRow]] | None = None
    """Those of one result; None: its rows are of something else."""
    most: int = 0
    """So many of the newest results that have rows are in the picture of the first page."""
    rows_of: str = ""
    """The picture whose rows it draws; empty: its own."""
    selects: tuple[Select, ...] = ()
    logs: dict[str, bool] = field(default_factory=dict)
    """Axes that can be logarithmic -> whether they begin so."""
    read: str = ""
    """The page that says how to read it."""

    @property
    def set(self) -> str:
        """The name of its rows."""
        return self.rows_of or self.name


RUN = Select("run", "Result")
PLOTS = (
    Plot(
        name="forest",
        title="Ratios with 95 % intervals",
        says="A point is the ratio of two variants within blocks of fresh starts. A hollow diamond is the published ratio."
        " Grey is not decided: an interval that contains 1 shows neither a difference nor that there is none.",
        remedy="just compare python-sync python-async",
        selects=(RUN, Select("figure", "Figure")),
        logs={"x": True},
        read="reference/comparing",
        section="explore",
        spec=specs.forest,
        rows=rows.ratios,
        most=RATIOS_MOST,
    ),
    Plot(
        name="sweep",
        title="Figures against a setting",
        says="Mean and 95 % interval over fresh starts at each value. Lines connect the measured values and say"
        " nothing about the values between them.",
        remedy="just sweep rust-async python-sync --over connections=1..512",
        selects=(RUN, Select("figure", "Figure")),
        logs={"x": True, "y": True},
        read="reference/capacity-and-sweeps",
        section="explore",
        spec=specs.sweep,
        rows=rows.sweep,
        most=DETAILED_MOST,
    ),
    Plot(
        name="load",
        title="Response time and goodput against the offered load",
        says="Measured at shares of the capacity that the search found. Dashed: that capacity. Dotted: the objective."
        " Hollow points: the load was not held, and less came back than was offered.",
        remedy="just capacity rust-async --slo p99=50ms",
        selects=(RUN,),
        read="reference/capacity-and-sweeps",
        section="explore",
        spec=specs.load,
        rows=rows.loads,
        most=DETAILED_MOST,
    ),
    Plot(
        name="roles",
        title="Where the CPU time of one request goes",
        says="Mean over the good closed windows of each variant, by role, without the load generator. At the right the whole and"
        " its ratio to the first variant, within blocks; the line is the 95 % interval of the whole. It does not show"
        " waiting: a request that waits uses no CPU.",
        remedy="just bench rust-async python-sync",
        selects=(RUN,),
        read="reference/bottleneck",
        section="why",
        spec=specs.roles,
        rows=rows.roles,
        most=DETAILED_MOST,
    ),
    Plot(
        name="percentiles",
        title="Response time by percentile",
        says="Open loop, the good windows of all fresh starts together. Each variant is loaded at a share of its own"
        " goodput, so the rates differ. A percentile with fewer than 100 samples beyond it is left out.",
        remedy="just bench rust-async python-sync",
        selects=(RUN,),
        logs={"y": True},
        read="reference/load-and-windows",
        section="why",
        spec=specs.percentiles,
        rows=rows.percentiles,
        most=DETAILED_MOST,
    ),
    Plot(
        name="history",
        title="Each night against the frozen image",
        says="Blue: today's image divided by the frozen one. Grey: the frozen image divided by itself, which should be 1. The third"
        " line, once another image was frozen: today's image divided by the first one. Below, from the 41st night on: the two sums"
        " (CUSUM), blue upwards and amber downwards. Where one passes the dashed line, the limit for all series of a night, it raises an"
        " alarm, in red. A vertical line: something new came under the programs, such as a kernel. An alarm is not a finding: a comparison of fresh blocks confirms it or not.",
        remedy="just nightly",
        selects=(Select("run", "Machine"), Select("of", "Series")),
        read="reference/nightly",
        section="why",
        spec=specs.history,
    ),
    Plot(
        name="seconds",
        title="One window, second by second",
        says="Each second: CPU of each role, memory of the application, right answers, response times, and the CPU time that the"
        " hypervisor took (steal). Application dark blue, pooler light blue, database violet, proxy amber, generator and latency"
        " proxy grey. It shows bursts that a mean hides, but not their cause.",
        remedy="just bench rust-async",
        selects=(RUN, Select("window", "Window")),
        read="reference/load-and-windows",
        section="explore",
        spec=specs.seconds,
        rows=rows.seconds,
        most=SECONDS_MOST,
    ),
    Plot(
        name="cost",
        rows_of="roles",
        title="What a million requests cost at your prices",
        says="CPU time of each role for a million requests, at the price of a core of its machine that is busy all month. It"
        " leaves out idle hours, memory, traffic and storage, so it is a lower bound.",
        remedy="just bench rust-async python-sync",
        selects=(RUN,),
        section="prices",
        spec=specs.cost,
    ),
)
"""In the order in which the page of a result has them."""
OF_RESULTS = tuple(plot for plot in PLOTS if plot.rows)
WHY, EXPLORE, PRICES = (
    tuple(plot for plot in PLOTS if plot.section == section) for section in ("why", "explore", "prices")
)


def specs_of(sets: Collection[str]) -> dict[str, Spec]:
    """The Vega-Lite of the pictures that can be drawn from these rows."""
    found = {plot.name: plot.spec() for plot in PLOTS if plot.set in sets}
    return found | ({"hero": specs.hero()} if "hero" in sets else {})
