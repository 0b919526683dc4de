"""A finished comparison as a session: the contrasts that it has in common with other sessions. Pure."""

import math
import re
from collections.abc import Sequence
from statistics import fmean

from tandem.analysis.ceilings import Made
from tandem.analysis.cost import AT
from tandem.catalog.catalog import Catalog
from tandem.catalog.pins import pins_of
from tandem.engine.side_by_side import second
from tandem.facts.estimate import CLASS, by_block, estimates
from tandem.facts.fact import at_full_load
from tandem.facts.metric import GOODPUT
from tandem.facts.paired import Good, good_facts, reading, saying
from tandem.facts.session import SessionControl, SessionMachine, SessionProgram, SessionRecord, name_of
from tandem.record.conclusion import Contrast
from tandem.record.request import Variant
from tandem.record.result import Environment, Result
from tandem.record.trial import Trial
from tandem.record.window import Verdict
from tandem.studies.compare.conclusions import METRICS, Compared, unlike

SAME_RATE = 0.95
"""A rate that is no further below its pair's own is the pair's own: both starts of the baseline, and whole requests a second,
set it."""
TOLD = (
    *("cpu_vendor", "cpu_model", "cpu_family", "cpu_model_number", "cpu_stepping"),
    *("smt", "governor", "hypervisor", "kernel"),
)
"""What a host's record and a session call the same."""
CACHE = re.compile("cpu_cache_(.+)_bytes")
"""The keys of a host's caches; the name of the level is between them."""


def machine_of(environment: Environment) -> SessionMachine:
    """What a record says of the machine of the application. Null where it does not say."""
    host = {key: value for key, value in environment.host.items() if value is not None}
    return SessionMachine.model_validate(
        {
            **{key: str(host[key]) for key in TOLD if key in host},
            **{key: int(host[key]) for key in ("cpus", "cgroup_version") if key in host},
            "microcode": str(host["cpu_microcode"]) if "cpu_microcode" in host else None,
            "caches_bytes": {
                level[1]: int(size) for key, size in host.items() if (level := CACHE.fullmatch(key))
            },
            "engine": environment.versions.get("docker"),
        }
    )


def programs_of(catalog: Catalog, result: Result[Compared]) -> dict[str, SessionProgram]:
    """Label -> program, of the variants that are programs of this repository as it is: others have no version here."""
    request, found = result.request, {}
    for variant in request.variants:
        label, name = variant.label, variant.implementation
        # A program of another image, build or condition is another statement.
        as_it_is = variant == Variant(label=label, implementation=name, settings=variant.settings)
        if not as_it_is or name not in catalog.implementations:
            continue
        environment = result.environments.get(label)
        found[label] = SessionProgram(
            implementation=name,
            version=catalog.implementations[name].version,
            settings={**request.settings, **variant.settings},
            # SQL of its own follows from the version, and no default has it.
            effective={k: v for k, v in environment.settings.items() if k != "SQL"} if environment else None,
            image=environment.images.get("app") if environment else None,
            pins=pins_of(catalog.root, name),
        )
    return found


def rate_of_pair(good: Good, of: str, to: str, metric: str) -> bool:
    """Whether the slower of the two set the rate of this metric, as it does where they are compared alone. The cost at the
    rate of a slower third one is another statement."""
    if AT not in metric:
        return True
    alone = [by_block(at_full_load(good.get(label, ())), reading(GOODPUT)) for label in (of, to)]
    equal = [one for label in (of, to) for one in saying(good.get(label, ()), metric)]
    rates: dict[Made, float] = {}
    for one in equal:
        if one.window.offered_rps is not None:
            rates[one.made] = min(rates.get(one.made, math.inf), one.window.offered_rps / (one.share or 1))
    told = [
        rate / min(own[made] for own in alone)
        for made, rate in rates.items()
        if all(made in own for own in alone)
    ]
    return bool(told) and fmean(told) >= SAME_RATE


def may_be_appended(result: Result[Compared]) -> str | None:
    """Why a comparison is no session; None if it is one. One that is void because its baseline differs from itself is: it
    carries the mark."""
    found = result.conclusions
    marked = set(unlike(control_of(found)).values())
    others = [reason for reason in result.reasons if reason not in marked]
    if found.session is not Verdict.OK and others:
        return others[0]
    good = [label for label in found.variants if found.verdict(label)[0] is Verdict.OK]
    return None if len(good) > 1 else "no two variants are ok"


def control_of(found: Compared) -> list[Contrast]:
    """The baseline's second start against its first."""
    return [one for one in found.contrasts if one.of == second(found.reference)]


def session_of(
    catalog: Catalog, result: Result[Compared], trials: Sequence[Trial], source: str = "just compare"
) -> SessionRecord:
    """A comparison as a session: its estimates and contrasts as they are, also those that it does not publish. trials: all of them.
    Variants that are no programs of this repository, or are not ok, are left out, and so is a cost at a rate that a slower third
    variant set."""
    found, request, good = result.conclusions, result.request, good_facts(trials)
    programs = {
        label: one
        for label, one in programs_of(catalog, result).items()
        if found.verdict(label)[0] is Verdict.OK
    }
    environment = next(iter(result.environments.values()))
    machine = machine_of(environment)
    spans = [one.window.measured_s for own in good.values() for one in own if one.role == "sliced"]
    again, lab, arrivals = control_of(found), request.conditions.lab, request.conditions.arrivals
    arriving = [arrivals.told if arrivals else None, *sorted({one.clients or "" for one in request.variants})]
    differing = found.control.differing if found.control else {}
    return SessionRecord(
        id=name_of(result.started_at, machine, lab),
        started_at=result.started_at,
        finished_at=result.finished_at,
        commit=environment.git_commit,
        dirty=environment.git_dirty,
        selftest=result.baselines.selftest,
        source=source,
        machine=machine,
        scenario=request.scenario,
        scenario_version=catalog.scenario(request.scenario).version,
        topology=request.conditions.topology,
        placement=request.conditions.placement if lab is None else f"lab:{lab}",
        db_rtt_ms=request.conditions.db_rtt_ms,
        arrivals=", ".join(filter(None, arriving)) or None,
        services=request.conditions.services,
        plan=request.plan,
        blocks=found.blocks,
        measured_s=min(spans, default=None),
        programs=programs,
        stack={name: environment.versions[name] for name in sorted(environment.versions)},
        estimates=[
            one
            for one in estimates(trials, request.variants)
            if one.variant in programs and one.metric in METRICS and CLASS not in one.coordinates
        ],
        contrasts=[
            one
            for one in (*found.contrasts, *found.withheld)
            if {one.of, one.to} <= {*programs}
            and one.ratio is not None
            and rate_of_pair(good, one.of, one.to, one.metric)
        ],
        control=SessionControl(contrasts=again, failed=sorted({*differing, *unlike(again)})),
    )
