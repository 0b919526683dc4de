"""Stand-ins: variants that replace the application to bound it. A study that wants it begins with one short look at each,
or has one in each of its blocks."""

import random
from collections.abc import Sequence
from statistics import fmean

from tandem.catalog.catalog import Catalog
from tandem.record.request import Request, StandIn, Variant
from tandem.record.trial import Trial, TrialSpec, WarmUp, WindowSpec
from tandem.record.window import Verdict

NULL_IMPLEMENTATION = "rust-hyper"
MEANINGS: dict[str, str] = {
    "proxy": "HAProxy answers by itself",
    "null": "a null application behind HAProxy",
    "database": "pgbench runs the scenario's statements through PgBouncer",
}
WINDOW = "closed"
LOOK = "look-"
"""So begin the names of the trials that are a session's look at its ceilings."""
LOOK_WARM_UP_S, LOOK_S = 2, 5
LOOK_TRIMS_S = (1.0, 0.5)


def fitting(catalog: Catalog, request: Request) -> list[StandIn]:
    """Those that stand in the path of the request. What does not is no ceiling: without HAProxy an application may be
    faster than it."""
    scenario = catalog.pick("scenario", request.scenario, catalog.scenarios)
    topology = catalog.pick("topology", request.conditions.topology, catalog.topologies).variables
    out: list[StandIn] = ["null"]
    if topology["LOAD_ADDRESS"].startswith("proxy"):
        out.append("proxy")
    if scenario.statements and topology["DATABASE_ADDRESS"].startswith("pgbouncer"):
        out.append("database")
    return out


def variant(stand_in: StandIn) -> Variant:
    """The stand-in as something that is measured. It keeps the request's settings as far as it can have them."""
    return Variant(label=f"ceiling {stand_in}", implementation=NULL_IMPLEMENTATION, stand_in=stand_in)


def variants(catalog: Catalog, request: Request) -> list[Variant]:
    """All that fit."""
    return [variant(stand_in) for stand_in in fitting(catalog, request)]


def trial(
    stand_in: StandIn,
    name: str,
    block: int,
    warm_up: WarmUp,
    seconds: int,
    trims_s: tuple[float, float],
    counts: bool = True,
) -> TrialSpec:
    """A fresh start of a stand-in with one closed window. seconds: of the window; trims_s: at its start and end. counts:
    whether a disturbed window voids its block."""
    label = variant(stand_in).label
    window = WindowSpec(
        name=WINDOW,
        variants=[label],
        seconds=seconds,
        generator="pgbench" if stand_in == "database" else "oha",
        trim_start_s=trims_s[0],
        trim_end_s=trims_s[1],
        counts=counts,
    )
    return TrialSpec(
        name=name,
        block=block,
        variants=[label],
        warm_up=warm_up,
        windows=[window],
    )


def specs(catalog: Catalog, request: Request) -> list[TrialSpec]:
    """One short look at each."""
    return [_look(stand_in, f"{LOOK}{stand_in}", 0) for stand_in in fitting(catalog, request)]


def in_each_block(
    catalog: Catalog, request: Request, blocks: Sequence[Sequence[TrialSpec]]
) -> list[list[TrialSpec]]:
    """The blocks with a short look at each stand-in in every one of them, at places that the seed draws. The very
    first trial is none: a figure of what was asked for comes first. A look that the host disturbs is left out of the ratios
    and voids no block."""
    chance = random.Random(request.seed)
    found: list[list[TrialSpec]] = []
    for block in blocks:
        mixed, number = list(block), block[0].block
        for stand_in in fitting(catalog, request):
            look = _look(stand_in, f"{LOOK}{number}-{stand_in}", number, counts=False)
            mixed.insert(chance.randint(0 if found else 1, len(mixed)), look)
        found.append(mixed)
    return found


def _look(stand_in: StandIn, name: str, block: int, counts: bool = True) -> TrialSpec:
    warm_up = WarmUp(least_s=LOOK_WARM_UP_S, cap_s=LOOK_WARM_UP_S)
    return trial(stand_in, name, block, warm_up, LOOK_S, LOOK_TRIMS_S, counts)


def is_look(spec: TrialSpec) -> bool:
    """Whether it is a look at a ceiling."""
    return spec.name.startswith(LOOK)


def kind_of(spec: TrialSpec) -> str:
    """The stand-in of a look."""
    return spec.variants[0].removeprefix("ceiling ")


def ceilings_rps(trials: Sequence[Trial]) -> dict[str, float | None]:
    """Stand-in -> what it reached, in the mean where it was looked at more than once; None where no look is ok."""
    reached: dict[str, list[float]] = {}
    for made in trials:
        own = reached.setdefault(kind_of(made.spec), [])
        window = made.window(WINDOW)
        if window is not None and Verdict.OK is made.verdict is window.verdict:
            own.append(window.goodput_rps)
    return {name: fmean(own) if own else None for name, own in reached.items()}
