"""What a reader has to know beside the figures of a variant: what limited it, what was odd. Pure."""

from collections.abc import Sequence
from statistics import fmean, median

from pydantic import Field

from tandem.analysis.ceilings import nearness
from tandem.engine.findings import warnings
from tandem.facts.estimate import OfVariant, by_block, goodput, limit_of
from tandem.facts.fact import at_full_load
from tandem.judge.bottleneck import is_own, nearest, working
from tandem.judge.disturbance import host_speed
from tandem.record.conclusion import Coordinates, Estimate, Position, found_at
from tandem.record.part import Number, Part
from tandem.record.result import Baselines, Conclusions
from tandem.record.trial import Trial
from tandem.record.window import Finding, Resource, Window
from tandem.wording import limited_by, with_parts


class Context(Part):
    """What explains the figures of a variant."""

    variant: str
    coordinates: Coordinates = Field(default_factory=dict)
    bottleneck: str | None = None
    """Bottleneck of most windows of full load: of the good ones, if there are any."""
    evidence: list[str] = Field(default_factory=list)
    """Evidence of that bottleneck, from the first window that shows it."""
    resources: list[Resource] = Field(default_factory=list)
    """CPU sets and threads under full load, in the mean, the most used first."""
    findings: list[Finding] = Field(default_factory=list)
    disturbed: int = 0
    """Starts that the host disturbed, whatever else was found in them."""
    near_ceiling: str | None = None
    """The ceiling that cuts its goodput off, in words."""
    ceiling_shares: dict[str, Number] = Field(default_factory=dict)
    """Stand-in -> goodput by that of the stand-in in the same block, mean over the blocks."""
    db_rtt: str | None = None
    """How far the database was away, asked and measured."""

    @property
    def limit(self) -> str:
        """The exhausted resources with their parts, or else the bottleneck's name."""
        busy = nearest(self.resources)
        told = "; ".join(with_parts(one.name, one.utilisation, one.parts) for one in busy)
        return told or limited_by(self.bottleneck)

    @property
    def not_ranked(self) -> str | None:
        """Why its goodput is no property of the implementation: a limit that it shares with others, or a ceiling."""
        tag = "+".join(one.tag for one in nearest(self.resources)) or self.bottleneck
        return self.limit if tag is not None and not is_own(tag) else self.near_ceiling


class InContext(Conclusions):
    """Conclusions that say what explains the figures of each variant."""

    contexts: list[Context] = Field(default_factory=list)

    def context(self, position: Position) -> Context:
        """What explains a variant's figures."""
        return found_at(self.contexts, position) or Context(variant=position.variant)


def contexts(
    group: Sequence[OfVariant], trials: Sequence[Trial], estimates: Sequence[Estimate], baselines: Baselines
) -> list[Context]:
    """The contexts of variants that are compared with one another. trials: all, bad ones too. estimates: theirs."""
    rates = {one.variant.label: by_block(one.full_of_all_attempts, goodput) for one in group}
    near = nearness(rates, baselines)
    found = []
    for own in group:
        label, (variant, coordinates) = own.variant.label, own.variant.position
        made = [trial for trial in trials if trial.spec.variants == [label]]
        full = [one.window for one in own.full]
        loaded = own.full or at_full_load(own.every)
        tag = limit_of(loaded)
        metrics = {one.metric for one in estimates if (one.variant, one.coordinates) == own.variant.position}
        context = Context(
            variant=variant,
            coordinates=coordinates,
            bottleneck=tag,
            evidence=next((one.window.evidence for one in loaded if one.window.bottleneck == tag), []),
            resources=mean_resources(full),
            findings=_findings(own, made, metrics, full),
            disturbed=sum(any(f.severity == "void" for f in trial.all_findings()) for trial in made),
            near_ceiling=near[label].near,
            ceiling_shares=near[label].shares,
            db_rtt=round_trip([one.window for one in own.every]),
        )
        found.append(context)
    return found


def _findings(
    own: OfVariant, trials: Sequence[Trial], metrics: set[str], full: Sequence[Window]
) -> list[Finding]:
    """One warning for each code, and what the figures themselves call for. Reasons of a variant that is not ok are left out."""
    found = warnings(trials, graver=own.ok)
    times = [one.window.response_time_ms for one in own.good if one.role == "open"]
    samples = sum(one.samples for one in times if one)
    missing = [name for name in ("p50", "p90", "p99") if f"response_time_{name}_ms" not in metrics]
    if missing and samples and own.ok:
        text = f"{', '.join(missing)}: not published, {samples} samples are too few (p99 needs 10,000)"
        found.append(Finding.of("few-samples", "warning", text))
    changed = host_speed(full)
    return [*found, changed] if changed else found


def round_trip(windows: Sequence[Window]) -> str | None:
    """How far the database was away, asked and measured; None where the latency proxy was not in the path."""
    trips = [window.db_rtt_ms for window in windows if window.db_rtt_ms]
    if not trips:
        return None
    before, during, p90 = (
        median(getattr(trip, name) for trip in trips) for name in ("before_p50", "during_p50", "during_p90")
    )
    return (
        f"round trip to the database {during:.1f} ms during the load"
        f" (p90 {p90:.1f}; {before:.1f} before it; {trips[0].setting} requested; medians of {len(trips)} windows)"
    )


def mean_resources(windows: Sequence[Window]) -> list[Resource]:
    """CPU sets and threads in the mean over windows, the most used first."""
    seen: dict[str, list[Resource]] = {}
    for window in windows:
        for one in working(window):
            seen.setdefault(one.name, []).append(one)
    found = []
    for several in seen.values():
        parts = {role: fmean(one.parts.get(role, 0.0) for one in several) for role in several[0].parts}
        ordered = dict(sorted(parts.items(), key=lambda part: -part[1]))
        used = fmean(one.utilisation for one in several)
        found.append(several[0].model_copy(update={"utilisation": used, "parts": ordered}))
    return sorted(found, key=lambda one: -one.utilisation)
