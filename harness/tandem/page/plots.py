"""The pictures of the first page, with their words and controls. Pure."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Select:
    """A choice among the values of a column."""

    column: str
    label: str


@dataclass(frozen=True)
class Plot:
    """A picture. name: of its spec; set: its rows."""

    name: str
    set: str
    title: str
    says: str
    remedy: str
    """What to run where there are no rows."""
    selects: tuple[Select, ...] = ()
    logs: dict[str, bool] = field(default_factory=dict)
    """Axes that can be logarithmic -> whether they begin so."""
    read: str = ""
    """The page that says how to read it."""


RUN = Select("run", "Result")

HISTORY = Plot(
    name="history",
    set="history",
    title="Each night against the frozen image",
    says="Blue: today's image divided by the frozen one. Grey: the frozen image divided by itself, which should be 1. Below, from"
    " the 41st night on: the two sums (CUSUM), blue upwards and amber downwards. Where one passes the dashed line, it raises an"
    " alarm, in red. An alarm is not a finding: a comparison of fresh blocks confirms it or not.",
    remedy="just nightly",
    selects=(Select("run", "Machine"), Select("of", "Series")),
    read="reference/nightly",
)
UNTOLD = {
    "explain": ("The gap as a waterfall", "just explain python-sync python-async --db-rtt 4ms"),
    "crossover": (
        "Which one wins at which wait",
        "just crossover python-sync python-async --wait 0,1,5,15ms",
    ),
}
"""Study -> the picture that it would add to "Why", and what to run for it."""
WHY = (
    Plot(
        name="roles",
        set="roles",
        title="Where the CPU time of one request goes",
        says="Mean over the good closed windows of each variant, by role, without the load generator. At the right the whole and"
        " its ratio to the first variant, within blocks; the line is the 95 % interval of the whole. It does not show"
        " waiting: a request that waits uses no CPU.",
        remedy="just bench rust-async python-sync",
        selects=(RUN,),
        read="reference/bottleneck",
    ),
    Plot(
        name="percentiles",
        set="percentiles",
        title="Response time by percentile",
        says="Open loop, the good windows of all fresh starts together. Each variant is loaded at a share of its own"
        " goodput, so the rates differ. A percentile with fewer than 100 samples beyond it is left out.",
        remedy="just bench rust-async python-sync",
        selects=(RUN,),
        logs={"y": True},
        read="reference/load-and-windows",
    ),
    HISTORY,
)
EXPLORE = (
    Plot(
        name="forest",
        set="forest",
        title="Ratios with 95 % intervals",
        says="A point is the ratio of two variants within blocks of fresh starts. A hollow diamond is the published ratio."
        " Grey is not decided: an interval that contains 1 shows neither a difference nor that there is none.",
        remedy="just compare python-sync python-async",
        selects=(RUN, Select("figure", "Figure")),
        logs={"x": True},
        read="reference/comparing",
    ),
    Plot(
        name="sweep",
        set="sweep",
        title="Figures against a setting",
        says="Mean and 95 % interval over fresh starts at each value. Lines connect the measured values and say"
        " nothing about the values between them.",
        remedy="just sweep rust-async python-sync --over connections=1..512",
        selects=(RUN, Select("figure", "Figure")),
        logs={"x": True, "y": True},
        read="reference/capacity-and-sweeps",
    ),
    Plot(
        name="load",
        set="load",
        title="Response time and goodput against the offered load",
        says="Measured at shares of the capacity that the search found. Dashed: that capacity. Dotted: the objective."
        " Hollow points: the load was not held, and less came back than was offered.",
        remedy="just capacity rust-async --slo p99=50ms",
        selects=(RUN,),
        read="reference/capacity-and-sweeps",
    ),
    Plot(
        name="seconds",
        set="seconds",
        title="One window, second by second",
        says="Each second: CPU of each role, memory of the application, right answers, response times, and the CPU time that the"
        " hypervisor took (steal). Application dark blue, pooler light blue, database violet, proxy amber, generator and latency"
        " proxy grey. It shows bursts that a mean hides, but not their cause.",
        remedy="just bench rust-async",
        selects=(RUN, Select("window", "Window")),
        read="reference/load-and-windows",
    ),
)
COST = Plot(
    name="cost",
    set="roles",
    title="What a million requests cost at your prices",
    says="CPU time of each role for a million requests, at the price of a core of its machine that is busy all month. It"
    " leaves out idle hours, memory, traffic and storage, so it is a lower bound.",
    remedy="just bench rust-async python-sync",
    selects=(RUN,),
)
NAMED = {plot.name: plot for plot in (*WHY, *EXPLORE, COST)}
