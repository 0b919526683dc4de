"""A finished comparison as a session: the contrasts that it has in common with other sessions. Pure."""

from collections.abc import Iterable, Sequence

from tandem.analysis import ratios
from tandem.analysis.ratios import t_interval
from tandem.catalog.catalog import Catalog
from tandem.engine.blocks import counting
from tandem.facts.contrast import Contrast, Estimate
from tandem.facts.session import SessionControl, SessionMachine, SessionProgram, SessionRecord, name_of
from tandem.record.result import Environment, Result
from tandem.record.trial import Trial
from tandem.record.window import Verdict
from tandem.studies.compare.conclusions import (
    METRICS,
    Compared,
    by_block,
    ln_ratios,
    rate_of_pair,
    second,
    word,
)
from tandem.wording import limited_by

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
        if (
            variant.tag
            or variant.build
            or variant.stand_in
            or variant.implementation not in catalog.implementations
        ):
            continue
        environment = result.environments.get(variant.label)
        found[variant.label] = SessionProgram(
            implementation=variant.implementation,
            version=catalog.implementations[variant.implementation].version,
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


def contrast_of(found: Compared, blocks: Sequence[Trial], metric: str, of: str, to: str) -> Contrast:
    """A metric of one variant by that of another, within the blocks. Both starts of the baseline count. The interval is wider
    where the control failed."""
    reference = found.reference
    both = {reference: [reference, second(reference)]}
    if of == reference:
        logs = [-ln for ln in ln_ratios(blocks, to, both[reference], METRICS[metric])]
    else:
        logs = ln_ratios(blocks, of, both.get(to, [to]), METRICS[metric])
    widened_ln = found.control.widened_ln.get(metric, 0.0) if found.control else 0.0
    ratio = ratios.compare(logs, widened_ln=widened_ln)
    lines = {line.variant: line for line in found.entries}
    said = lines[of].against_reference.get(metric) if to == reference else None
    unranked = None
    if metric == "goodput_rps":
        against = {
            line.variant: word(found, line, metric) for line in found.entries if line.against_reference
        }
        limited = [limited_by(lines[one].bottleneck) for one in dict.fromkeys((of, to))]
        if "not ranked" in (against.get(of), against.get(to)):
            unranked = f"limited by {' and '.join(dict.fromkeys(limited))}"
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
        family="against the baseline" if said else None,
        not_ranked=unranked,
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
        failed=sorted(found.control.differing) if found.control else [],
    )


def may_be_appended(result: Result[Compared]) -> str | None:
    """Why a comparison is no session; None if it is one. One whose control failed is: it carries the mark."""
    void = result.conclusions.session is not Verdict.OK
    others = [reason for reason in result.reasons if "differs from itself" not in reason]
    if void and others:
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
    good = {line.variant for line in found.entries if line.verdict is Verdict.OK}
    programs = {label: one for label, one in programs_of(catalog, result).items() if label in good}
    environment = next(iter(result.environments.values()))
    machine = machine_of(environment)
    pairs = pairs_of(found, programs, further)
    spans = [
        window.measured_s
        for block in blocks
        for record in block.windows
        if record.spec.slices
        for window in record.windows.values()
    ]
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
        placement=request.conditions.placement,
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
                limit=next(line.bottleneck for line in found.entries if line.variant == label),
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
