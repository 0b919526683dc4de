"""What each result measured: a line for each variant at each of its coordinates. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tandem.catalog.catalog import Catalog
from tandem.facts.metric import told_coordinates
from tandem.page.read import Run
from tandem.record.conclusion import Coordinates, Estimate
from tandem.record.request import Variant
from tandem.record.window import Verdict
from tandem.wording import limited_by

type Interval = tuple[float, float] | None


@dataclass(frozen=True)
class Kind:
    """What an implementation is."""

    language: str = "other"
    model: str = "other"
    stack: frozenset[str] = frozenset()
    """Its framework, driver and server; empty: not known."""


type Kinds = Mapping[str, Kind]


def kinds(catalog: Catalog) -> dict[str, Kind]:
    """Implementation -> what it is, of all that there are."""
    return {
        name: Kind(found.language, found.model, frozenset(found.stack))
        for name, found in catalog.implementations.items()
    }


def kind_of(implementation: str, known: Kinds) -> Kind:
    """What an implementation is; of one that is gone by now, what its name tells."""
    if implementation in known:
        return known[implementation]
    stem, _, model = implementation.rpartition("-")
    language = stem.partition("-")[0]
    languages = {kind.language for kind in known.values()}
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

    @property
    def limit(self) -> str:
        return limited_by(self.limited)


def condition(run: Run, variant: Variant) -> str:
    """Under what a variant ran, in a few words."""
    under = run.result.request.conditions
    rtt = under.db_rtt_ms if variant.db_rtt_ms is None else variant.db_rtt_ms
    chosen = {**run.result.request.settings, **variant.settings}
    changed = {**chosen, **{name: str(value) for name, value in variant.scenario_changes.items()}}
    parts = [variant.topology or under.topology, variant.placement or under.placement]
    parts += [f"database {rtt} ms away"] if rtt is not None else []
    parts += [f"{under.generators} generators"] if under.generators > 1 else []
    parts += [f"{name}={value}" for name, value in changed.items() if value]
    return ", ".join(dict.fromkeys(part for part in parts if part != "none"))


def lines(run: Run, known: Kinds) -> list[Line]:
    """All lines of a result; where a study has no estimates, its variants with the result's verdict."""
    result = run.result
    variants = {_key(one.asked, one.coordinates): one for one in [*result.request.variants, *result.variants]}
    grouped: dict[str, list[Estimate]] = {}
    for one in result.conclusions.estimates:
        if not one.metric.startswith("capacity") or one.mean is not None:
            grouped.setdefault(_key(one.variant, one.coordinates), []).append(one)
    if not grouped:
        empty = [_line(run, variant, known) for variant in result.request.variants]
        return [Line(**{**vars(line), "reasons": result.reasons}) for line in empty]
    return list(_filled(run, grouped, variants, known))


def _key(variant: str, coordinates: Coordinates) -> str:
    return f"{variant} {sorted(coordinates.items())}"


def _filled(
    run: Run, grouped: Mapping[str, list[Estimate]], variants: Mapping[str, Variant], known: Kinds
) -> Iterator[Line]:
    by_name = {one.label: one for one in run.result.request.variants}
    for key, own in grouped.items():
        first = own[0]
        variant = variants.get(key) or by_name.get(first.variant)
        if variant is None or variant.stand_in is not None or "image" in first.coordinates:
            continue
        if first.coordinates == {"start": 2}:
            continue  # the control, which is the baseline once more
        base = _line(run, variant, known)
        yield Line(
            **{
                **vars(base),
                "label": ", ".join(filter(None, [first.variant, told_coordinates(first.coordinates)])),
                "variant": first.variant,
                "coordinates": first.coordinates,
                "verdict": first.verdict if run.result.verdict is not Verdict.VOID else run.result.verdict,
                "reasons": first.reasons,
                "limited": first.limit or "",
                "starts": max(one.n for one in own),
                "figures": {one.metric: one for one in own if one.mean is not None},
            }
        )


def _line(run: Run, variant: Variant, known: Kinds) -> Line:
    """What the request says of a variant."""
    request = run.result.request
    environment = run.result.environments.get(variant.label)
    return Line(
        label=variant.label,
        implementation=variant.implementation,
        kind=kind_of(variant.implementation, known),
        scenario=variant.scenario or request.scenario,
        condition=condition(run, variant),
        verdict=run.result.verdict,
        settings=dict(environment.settings) if environment else dict(variant.settings),
        variant=variant.asked,
        coordinates=variant.coordinates,
        trial_label=variant.label,
    )
