"""What each result measured: a line for each variant at each of its coordinates. Pure."""

from dataclasses import dataclass, field, replace

from tandem.catalog.catalog import Catalog
from tandem.facts.estimate import CLASS
from tandem.facts.metric import told_coordinates
from tandem.page.read import Run
from tandem.record.conclusion import Contrast, Coordinates, Estimate
from tandem.record.request import Variant
from tandem.record.window import Verdict


@dataclass(frozen=True)
class Kind:
    """What an implementation is."""

    language: str = "other"
    model: str = "other"
    stack: frozenset[str] = frozenset()
    """Framework, driver and server; empty: not known."""


def kind_of(implementation: str, catalog: Catalog) -> Kind:
    """What an implementation is; of one that is gone by now, what its name tells."""
    if found := catalog.implementations.get(implementation):
        return Kind(found.language, found.model, frozenset(found.stack))
    stem, _, model = implementation.rpartition("-")
    language = stem.partition("-")[0]
    languages = {one.language for one in catalog.implementations.values()}
    return Kind(language, model) if model in ("sync", "async") and language in languages else Kind()


@dataclass(frozen=True)
class Line:
    """One variant under one condition. Figures are empty unless the verdict is ok."""

    label: str
    implementation: str
    kind: Kind
    scenario: str
    condition: str
    """What differs from the usual, in words."""
    verdict: Verdict
    reasons: list[str] = field(default_factory=list)
    limited: str = ""
    """The tag of its bottleneck."""
    starts: int = 0
    figures: dict[str, Estimate] = field(default_factory=dict)
    """Metric -> estimate."""
    settings: dict[str, str] = field(default_factory=dict)
    variant: str = ""
    """What the request calls it."""
    coordinates: Coordinates = field(default_factory=dict)
    trial_label: str = ""
    """What trials call it."""


def against(one: Contrast) -> str:
    """The two sides of a contrast, and where both stand."""
    return ", ".join(filter(None, [f"{one.of} against {one.to}", told_coordinates(one.coordinates)]))


def condition(run: Run, variant: Variant) -> str:
    """The conditions that a variant ran under, in a few words."""
    under = run.result.request.conditions
    rtt = under.db_rtt_ms if variant.db_rtt_ms is None else variant.db_rtt_ms
    chosen = {**run.result.request.settings, **variant.settings}
    changed = {**chosen, **{name: str(value) for name, value in variant.scenario_changes.items()}}
    parts = [variant.topology or under.topology, variant.placement or under.placement]
    parts += [f"database {rtt} ms away"] if rtt is not None else []
    parts += [f"services of {under.services}"] if under.services else []
    parts += [f"{under.generators} generators"] if under.generators > 1 else []
    parts += [under.arrivals.told] if under.arrivals else []
    parts += [f"{name}={value}" for name, value in changed.items() if value]
    return ", ".join(dict.fromkeys(part for part in parts if part != "none"))


def lines(run: Run, catalog: Catalog) -> list[Line]:
    """All lines of a result; where a study has no estimates, its variants with the result's verdict."""
    result = run.result
    by_name = {one.label: one for one in result.request.variants}
    variants = {(one.asked, _key(one.coordinates)): one for one in [*by_name.values(), *result.variants]}
    grouped: dict[tuple[str, str], list[Estimate]] = {}
    for one in result.conclusions.estimates:
        # A class is a part of its variant's requests, which the report's own table tells.
        if CLASS not in one.coordinates and (not one.metric.startswith("capacity") or one.mean is not None):
            grouped.setdefault((one.variant, _key(one.coordinates)), []).append(one)
    if not grouped:
        return [replace(_empty(run, one, catalog), reasons=result.reasons) for one in result.request.variants]
    found = []
    for (name, at), estimates in grouped.items():
        first = estimates[0]
        variant = variants.get((name, at)) or by_name.get(name)
        is_control = first.coordinates == {"start": 2}  # the baseline once more
        if variant is None or variant.stand_in is not None or "image" in first.coordinates or is_control:
            continue
        empty = _empty(run, variant, catalog)
        found.append(
            replace(
                empty,
                label=", ".join(filter(None, [first.variant, told_coordinates(first.coordinates)])),
                variant=first.variant,
                coordinates=first.coordinates,
                verdict=empty.verdict if empty.verdict is Verdict.VOID else first.verdict,
                reasons=first.reasons,
                limited=first.limit or "",
                starts=max(one.n for one in estimates),
                figures={one.metric: one for one in estimates if one.mean is not None},
            )
        )
    return found


def _key(coordinates: Coordinates) -> str:
    return str(sorted(coordinates.items()))


def _empty(run: Run, variant: Variant, catalog: Catalog) -> Line:
    """What the request says of a variant, with the verdict of the result."""
    request = run.result.request
    environment = run.result.environments.get(variant.label)
    return Line(
        label=variant.label,
        implementation=variant.implementation,
        kind=kind_of(variant.implementation, catalog),
        scenario=variant.scenario or request.scenario,
        condition=condition(run, variant),
        verdict=run.result.verdict,
        settings=dict(environment.settings) if environment else dict(variant.settings),
        variant=variant.asked,
        coordinates=variant.coordinates,
        trial_label=variant.label,
    )
