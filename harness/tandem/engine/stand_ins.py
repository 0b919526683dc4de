"""Stand-ins: variants that replace the application to bound it. Where the plan says so, each block of a study has a short look
at those that can bind."""

import random
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from tandem.catalog.catalog import Catalog
from tandem.engine.blocks import Blocks
from tandem.engine.study import Study, generators_of, scheduled
from tandem.load.generator import OHA
from tandem.record.request import Request, StandIn, Variant
from tandem.record.result import CeilingLook
from tandem.record.trial import Trial, TrialSpec, WarmUp, WindowSpec
from tandem.record.window import Verdict

NULL_IMPLEMENTATION = "rust-hyper"
WINDOW = "closed"
LOOK = "look-"
"""Beginning of the names of the trials that are looks at the ceilings."""
LOOK_WARM_UP_S, LOOK_S = 1, 4
LOOK_TRIMS_S = (0.5, 0.5)
FAR = 0.7
"""A ceiling that a whole block stayed below this share of is not looked at again: it cannot bind."""


def fitting(catalog: Catalog, request: Request) -> list[StandIn]:
    """The stand-ins that stand in the path of the request. What does not is no ceiling: without HAProxy an application may
    be faster than it."""
    scenario = catalog.scenario(request.scenario)
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


def looked_at(catalog: Catalog, request: Request) -> list[StandIn]:
    """Stand-ins that can bind. HAProxy by itself does less than before a null application, so it is never the lower one."""
    return [stand_in for stand_in in fitting(catalog, request) if stand_in != "proxy"]


def wanted(study: Study[Any]) -> list[Variant]:
    """Stand-ins looked at in each block of a study, where its plan says so. None where they bound nothing: what a study
    measures with a path or services of its own, of a mix, by another generator, or beside stand-ins."""
    catalog, request = study.catalog, study.request
    own = any(one.stand_in or one.topology or one.variables for one in study.variants)
    if (
        own
        or request.scenario not in catalog.scenarios
        or scheduled(study)
        or generators_of(study) != {OHA.name}
    ):
        return []
    return [variant(one) for one in looked_at(catalog, request)] if study.timing.ceilings else []


def trial(
    stand_in: StandIn, name: str, block: int, warm_up: WarmUp, seconds: int, trims_s: tuple[float, float]
) -> TrialSpec:
    """A fresh start of a stand-in with one closed window. seconds: of the window; trims_s: at its start and end."""
    label = variant(stand_in).label
    window = WindowSpec(
        name=WINDOW,
        variants=[label],
        seconds=seconds,
        generator="pgbench" if stand_in == "database" else "oha",
        trim_start_s=trims_s[0],
        trim_end_s=trims_s[1],
    )
    return TrialSpec(name=name, block=block, variants=[label], warm_up=warm_up, windows=[window])


def look(stand_in: StandIn, block: int, attempt: int = 1) -> TrialSpec:
    """A short look in a block."""
    warm_up = WarmUp(least_s=LOOK_WARM_UP_S, cap_s=LOOK_WARM_UP_S)
    spec = trial(stand_in, f"{LOOK}{block}-{stand_in}", block, warm_up, LOOK_S, LOOK_TRIMS_S)
    return spec.model_copy(update={"attempt": attempt})


def in_each_block(catalog: Catalog, request: Request, own: Blocks) -> Blocks:
    """The plan's blocks, each with a short look at every ceiling that can bind, at places that the seed draws. The very
    first trial is none: a figure of what was asked for comes first.

    The plan is told of its own trials only, so a look that the host disturbs voids no block.
    """
    near, first = looked_at(catalog, request), True
    block = next(own, None)
    while block is not None:
        number, attempt = block[0].block, block[0].attempt
        chance = random.Random(f"{request.seed} {number} {attempt}")
        mixed = list(block)
        for stand_in in near:
            mixed.insert(chance.randint(int(first), len(mixed)), look(stand_in, number, attempt))
        first = False
        made = yield mixed
        near = [stand_in for stand_in in near if can_bind(stand_in, made)]
        try:
            block = own.send([one for one in made if not is_look(one.spec)])
        except StopIteration:
            block = None


def can_bind(stand_in: StandIn, block: Sequence[Trial]) -> bool:
    """Whether anything in a block came near it, or it is not known."""
    rates = [one.goodput_rps for one in looks_of(block).get(stand_in, []) if one.goodput_rps]
    reached = [
        window.goodput_rps
        for made in block
        if not is_look(made.spec)
        for record in made.windows
        for window in record.windows.values()
        if window.verdict is Verdict.OK
    ]
    return not rates or not reached or max(reached) >= FAR * min(rates)


def expected(catalog: Catalog, request: Request, outline: Sequence[Sequence[TrialSpec]]) -> list[TrialSpec]:
    """The looks of a typical study: at all in the first block, at one of them in the others."""
    kinds = looked_at(catalog, request)
    found = [look(stand_in, block[0].block) for block in outline[:1] for stand_in in kinds]
    return found + [look(kinds[-1], block[0].block) for block in outline[1:]]


def is_look(spec: TrialSpec) -> bool:
    """Whether it is a look at a ceiling."""
    return spec.name.startswith(LOOK)


def kind_of(spec: TrialSpec) -> str:
    """The stand-in of a look."""
    return spec.variants[0].removeprefix("ceiling ")


def looks_of(trials: Sequence[Trial]) -> dict[str, list[CeilingLook]]:
    """Stand-in -> the looks at it, of trials among which they are."""
    found: dict[str, list[CeilingLook]] = {}
    for made in (one for one in trials if is_look(one.spec)):
        window = made.window(WINDOW)
        ok = window is not None and Verdict.OK is made.verdict is window.verdict
        rate = window.goodput_rps if ok and window is not None else None
        one = CeilingLook(block=made.spec.block, attempt=made.spec.attempt, goodput_rps=rate)
        found.setdefault(kind_of(made.spec), []).append(one)
    return found


def ceilings_rps(looks: dict[str, list[CeilingLook]]) -> dict[str, float | None]:
    """Stand-in -> what it reached, in the mean of the looks that are ok; None where there is none."""
    reached = {name: [one.goodput_rps for one in own if one.goodput_rps] for name, own in looks.items()}
    return {name: fmean(own) if own else None for name, own in reached.items()}
