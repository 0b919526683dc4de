"""A finished comparison as a session: the contrasts that it has in common with other sessions. Pure."""

import math
from collections.abc import Iterable, Sequence

from tandem.analysis import ratios
from tandem.analysis.ratios import t_interval
from tandem.catalog.catalog import Catalog
from tandem.engine.blocks import counting
from tandem.facts.session import SessionControl, SessionMachine, SessionProgram, SessionRecord, name_of
from tandem.record.conclusion import Contrast, Estimate
from tandem.record.request import Variant
from tandem.record.result import Environment, Result
from tandem.record.trial import Trial
from tandem.record.window import Verdict
from tandem.studies.compare.conclusions import (
    GOODPUT,
    METRICS,
    Compared,
    bottleneck_in,
    by_block,
    family_of,
    ln_ratios,
    rate_of_pair,
    second,
    unlike,
    unranked,
)

CACHES = "cpu_cache_"
"""What the keys of a host's caches begin with: `cpu_cache_l2_bytes`."""


def machine_of(environment: Environment) -> SessionMachine:
    """What a record says of the machine of the application. Null where it does not say."""
    host = environment.host

    def text(key: str) -> str | None:
        return None if host.get(key) is None else str(host[key])

    cpus, cgroups = host.get("cpus"), host.get("cgroup_version")
    return SessionMachine(
        cpu_vendor=text("cpu_vendor"),
        cpu_model=text("cpu_model"),
        cpu_family=text("cpu_family"),
        cpu_model_number=text("cpu_model_number"),
        cpu_stepping=text("cpu_stepping"),
        microcode=text("cpu_microcode"),
        caches_bytes={
            key.removeprefix(CACHES).removesuffix("_bytes"): int(size)
            for key, size in host.items()
            if key.startswith(CACHES)
            and key.endswith("_bytes")
            and key != CACHES + "bytes"
            and size is not None
        },
        cpus=int(cpus) if cpus is not None else None,
        smt=text("smt"),
        governor=text("governor"),
        hypervisor=text("hypervisor"),
        kernel=text("kernel"),
        cgroup_version=int(cgroups) if cgroups is not None else None,
        engine=environment.versions.get("docker"),
    )


def programs_of(catalog: Catalog, result: Result[Compared]) -> dict[str, SessionProgram]:
    """Label -> program, of the variants that are programs of this repository as it is: others have no version here."""
    request, found = result.request, {}
    for variant in request.variants:
        label, name = variant.label, variant.implementation
        # A program of another image, build or condition is another statement.
        if variant != Variant(label=label, implementation=name, settings=variant.settings):
            continue
        if name not in catalog.implementations:
            continue
        environment = result.environments.get(label)
        found[label] = SessionProgram(
            implementation=name,
            version=catalog.implementations[name].version,
            settings={**request.settings, **variant.settings},
            image=environment.images.get("app") if environment else None,
        )
    return found


def pairs_of(
    found: Compared, labels: Iterable[str], further: Iterable[tuple[str, str]]
) -> list[tuple[str, str]]:
    """(of, to): every variant by the baseline, and the further pairs whose both sides took part. Each pair once, in one
    direction: the other way round it would be a second draw of the same statement."""
    there = list(labels)
    own = [
        (label, found.reference) for label in there if label != found.reference and found.reference in there
    ]
    kept: dict[frozenset[str], tuple[str, str]] = {}
    for pair in [*own, *(pair for pair in further if {*pair} <= {*there})]:
        kept.setdefault(frozenset(pair), pair)
    return list(kept.values())


def widened_ln(found: Compared, metric: str) -> float:
    """By how much either end of an interval moves out, on the logarithm: what the failed control shows, or how far the
    baseline is from itself in a metric that a comparison does not publish."""
    if found.control is not None and found.control.widened_ln:
        return found.control.widened_ln.get(metric, 0.0)
    again = found.same_against_itself
    ratio = again[metric].ratio.ratio if metric in unlike(again) else None
    return abs(math.log(ratio)) if ratio else 0.0


def contrast_of(found: Compared, blocks: Sequence[Trial], metric: str, of: str, to: str) -> Contrast:
    """A metric of one variant by that of another, or by both starts of the baseline, within the blocks. The interval is wider
    where the control failed (`widened_ln`)."""
    starts = [to, second(to)] if to == found.reference else [to]
    logs = ln_ratios(blocks, of, starts, METRICS[metric])
    ratio = ratios.compare(logs, widened_ln=widened_ln(found, metric))
    line = next(line for line in found.entries if line.variant == of)
    said = line.against_reference.get(metric) if to == found.reference else None
    return Contrast(
        metric=metric,
        of=of,
        to=to,
        ratio=ratio.ratio,
        interval=ratio.interval,
        n=ratio.n,
        sd_ln=ratio.sd_ln,
        p=said.p_adjusted if said else ratio.p_t,
        word=said.verdict if said else ratios.verdict(ratio, METRICS[metric].better),
        family=family_of(found, metric) if said else None,
        not_ranked=unranked(found, of, to) if metric == GOODPUT else None,
    )


def control_of(found: Compared) -> SessionControl:
    """The baseline's second start against its first, and the metrics in which that failed."""
    again = second(found.reference)
    return SessionControl(
        contrasts=[
            Contrast(
                metric=name,
                of=again,
                to=found.reference,
                ratio=one.ratio.ratio,
                interval=one.ratio.interval,
                n=one.ratio.n,
                sd_ln=one.ratio.sd_ln,
                p=one.ratio.p_t,
            )
            for name, one in found.same_against_itself.items()
            if one.ratio.ratio is not None
        ],
        failed=sorted(
            {*(found.control.differing if found.control else ()), *unlike(found.same_against_itself)}
        ),
    )


def may_be_appended(result: Result[Compared]) -> str | None:
    """Why a comparison is no session; None if it is one. One that is void because its baseline differs from itself is: it
    carries the mark."""
    marked = set(unlike(result.conclusions.same_against_itself).values())
    others = [reason for reason in result.reasons if reason not in marked]
    if result.conclusions.session is not Verdict.OK and others:
        return others[0]
    good = [line for line in result.conclusions.entries if line.verdict is Verdict.OK]
    return None if len(good) > 1 else "no two variants are ok"


def session_of(
    catalog: Catalog,
    result: Result[Compared],
    trials: Sequence[Trial],
    further: Iterable[tuple[str, str]] = (),
    source: str = "just compare",
) -> SessionRecord:
    """A comparison as a session. trials: all of them. further: pairs to compare besides those with the baseline, by
    implementation. Variants that are no programs of this repository, or are not ok, are left out."""
    found, request, blocks = result.conclusions, result.request, counting(trials)
    lines = {line.variant: line for line in found.entries}
    programs = {
        label: one
        for label, one in programs_of(catalog, result).items()
        if lines[label].verdict is Verdict.OK
    }
    environment = next(iter(result.environments.values()))
    machine = machine_of(environment)
    pairs = pairs_of(found, programs, further)
    spans = [
        window.measured_s
        for block in blocks
        for record in block.windows
        if record.spec.slices
        for window in record.windows.values()
        if window.verdict is Verdict.OK
    ]
    lab = request.conditions.lab
    return SessionRecord(
        id=name_of(result.started_at, machine),
        started_at=result.started_at,
        finished_at=result.finished_at,
        commit=environment.git_commit,
        dirty=environment.git_dirty,
        selftest=result.baselines.selftest,
        source=source,
        machine=machine,
        scenario=request.scenario,
        scenario_version=catalog.scenarios[request.scenario].version,
        topology=request.conditions.topology,
        placement=request.conditions.placement if lab is None else f"lab:{lab}",
        db_rtt_ms=request.conditions.db_rtt_ms,
        plan=request.plan,
        blocks=len(blocks),
        measured_s=min(spans, default=None),
        programs=programs,
        stack={name: environment.versions[name] for name in sorted(environment.versions)},
        estimates=[
            Estimate(
                metric=name,
                variant=label,
                mean=sum(values) / len(values),
                interval=t_interval(values),
                n=len(values),
                limit=bottleneck_in(lines[label], name),
            )
            for label in programs
            for name, metric in METRICS.items()
            if (values := list(by_block(blocks, label, metric).values()))
        ],
        contrasts=[
            one
            for of, to in pairs
            for name in METRICS
            if rate_of_pair(blocks, of, to, METRICS[name])
            and (one := contrast_of(found, blocks, name, of, to)).ratio is not None
        ],
        control=control_of(found),
    )
