"""What each result measured, in one form for all studies: a line for each variant under each condition. Pure."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tandem.catalog.catalog import Catalog
from tandem.page.read import Run
from tandem.record.request import Variant
from tandem.record.window import Verdict
from tandem.studies.bench.conclusions import Benched
from tandem.studies.capacity.conclusions import CapacityFound
from tandem.studies.ceiling.conclusions import Ceilings
from tandem.studies.compare.conclusions import METRICS, Compared
from tandem.studies.crossover.conclusions import Crossed
from tandem.studies.questions.conclusions import Answered
from tandem.studies.reproduce.conclusions import Mean, Reproduced
from tandem.studies.sweep.conclusions import MeanOfRounds, Swept
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
    """Of the implementations that there are."""
    return {
        name: Kind(found.language, found.model, frozenset(found.stack))
        for name, found in catalog.implementations.items()
    }


def kind_of(implementation: str, known: Kinds) -> Kind:
    """Of one that is gone by now, what its name tells."""
    if implementation in known:
        return known[implementation]
    stem, _, model = implementation.rpartition("-")
    language = stem.partition("-")[0]
    languages = {kind.language for kind in known.values()}
    return Kind(language, model) if model in ("sync", "async") and language in languages else Kind()


@dataclass(frozen=True)
class Value:
    """A mean and its 95 % interval over fresh starts, where there is one."""

    mean: float
    interval: Interval = None


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
    figures: dict[str, Value] = field(default_factory=dict)
    """By the names of tandem.studies.reproduce.figures, and the cost over all roles."""
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def limit(self) -> str:
        return limited_by(self.limited)


def _value(mean: float | None, interval: Interval = None) -> Value | None:
    return None if mean is None else Value(mean, interval)


def _known(**figures: Value | None) -> dict[str, Value]:
    return {name: value for name, value in figures.items() if value is not None}


def _of_variants(run: Run, known: Kinds) -> dict[str, Line]:
    """Label -> what the request says of it."""
    request, out = run.result.request, {}
    for variant in request.variants:
        environment = run.result.environments.get(variant.label)
        out[variant.label] = Line(
            label=variant.label,
            implementation=variant.implementation,
            kind=kind_of(variant.implementation, known),
            scenario=variant.scenario or request.scenario,
            condition=condition(run, variant),
            verdict=run.result.verdict,
            settings=dict(environment.settings) if environment else dict(variant.settings),
        )
    return out


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


def _benched(found: Benched, of: dict[str, Line]) -> Iterator[Line]:
    for row in found.rows:
        s = row.summary
        times = {f"{name}_ms": _value(getattr(s.response_time_ms, name)) for name in ("p50", "p90", "p99")}
        yield replace(
            of[row.label],
            verdict=row.verdict,
            reasons=row.reasons,
            limited=row.bottleneck or "",
            starts=s.trials_ok,
            figures=_known(
                goodput_rps=_value(s.goodput_rps, s.goodput_rps_interval),
                total_cpu_us_per_request=_value(
                    s.total_cpu_us_per_request, s.total_cpu_us_per_request_interval
                ),
                app_cpu_us_per_request=_value(s.app_cpu_us_per_request, s.app_cpu_us_per_request_interval),
                anonymous_memory_mib=_value(s.app_memory_peak_bytes and s.app_memory_peak_bytes / 2**20),
                **times,
            ),
        )


def _answered(found: Answered, of: dict[str, Line]) -> Iterator[Line]:
    for name, bench in found.conditions.items():
        under = {}
        for row in bench.rows:
            base = of[row.label.removesuffix(f" @ {name}")]
            under[row.label] = replace(base, label=row.label, condition=f"{base.condition}, {name}")
        yield from _benched(bench, under)


def _crossed(found: Crossed, of: dict[str, Line]) -> Iterator[Line]:
    """Of each cell the first, then the second."""
    for cell in found.cells:
        for label, side in zip((found.first, found.second), cell.sides, strict=True):
            rate = _rounds(side.goodput_rps)
            yield replace(
                of[label],
                label=side.label,
                condition=f"{of[label].condition}, {cell.at.text}",
                verdict=Verdict.VOID if rate is None else Verdict.OK,
                limited=side.bottleneck or "",
                starts=cell.blocks,
                figures=_known(goodput_rps=rate),
            )


def _compared(found: Compared, of: dict[str, Line]) -> Iterator[Line]:
    for entry in found.entries:
        turns = {name for name, metric in METRICS.items() if metric.of == "turns"}
        means = {name: _value(mean) for name, mean in entry.means.items() if name in turns}
        yield replace(
            of[entry.variant],
            verdict=entry.verdict if found.session is Verdict.OK else found.session,
            reasons=entry.reasons,
            limited=entry.bottleneck or "",
            starts=found.blocks,
            figures=_known(**means),
        )


def _capacity(found: CapacityFound, of: dict[str, Line]) -> Iterator[Line]:
    for line in of.values():
        rate = _value(found.capacity_rps)
        yield replace(
            line,
            condition=f"{line.condition}, capacity for {found.slo}",
            limited=found.limited_by or "",
            starts=found.confirmed,
            figures=_known(capacity_rps=rate),
        )


def _swept(found: Swept, of: dict[str, Line]) -> Iterator[Line]:
    for curve in found.curves:
        base = of.get(curve.label) or next(iter(of.values()))
        for level in curve.levels:
            figures = {
                "goodput_rps": _rounds(level.goodput_rps),
                "app_cpu_us_per_request": _rounds(level.app_cpu_us_per_request),
                "mean_ms": _rounds(level.service_time_mean_ms),
            }
            yield replace(
                base,
                condition=f"{base.condition}, {found.axis} {level.value}",
                verdict=Verdict.OK if level.goodput_rps.mean is not None else Verdict.VOID,
                reasons=[] if level.goodput_rps.mean is not None else ["fewer than two good rounds"],
                limited=level.bottleneck or "",
                starts=level.rounds,
                figures=_known(**figures),
            )


def _rounds(found: MeanOfRounds) -> Value | None:
    return _value(found.mean, found.interval)


def _ceilings(found: Ceilings, of: dict[str, Line]) -> Iterator[Line]:
    for label, reached in found.variants.items():
        ok = reached.goodput_rps is not None
        yield replace(
            of[label],
            verdict=Verdict.OK if ok else Verdict.VOID,
            reasons=reached.refused,
            limited=reached.bottleneck or "",
            starts=len(reached.values),
            figures=_known(
                goodput_rps=_value(reached.goodput_rps, reached.interval),
                app_cpu_us_per_request=_value(reached.app_cpu_us_per_request, reached.app_cpu_us_interval),
            ),
        )


def _reproduced(found: Reproduced, of: dict[str, Line]) -> Iterator[Line]:
    for row in found.rows:
        # A row's variant has its label, or is the implementation that its settings or its label name.
        base = of.get(row.label) or of.get(row.settings.get("implementation", ""))
        base = base or next((line for name, line in of.items() if row.label.startswith(f"{name},")), None)
        base = base or next(iter(of.values()))
        bad = [trial for trial in row.trials if trial.verdict is not Verdict.OK]
        worst = Verdict.OK if row.figures else bad[0].verdict if bad else Verdict.VOID
        yield replace(
            base,
            label=row.label,
            condition=base.condition,
            verdict=worst,
            reasons=[trial.reason for trial in bad if trial.reason][:3],
            limited=row.bottleneck or "",
            starts=max((mean.n for mean in row.figures.values()), default=0),
            figures={name: of_mean(mean) for name, mean in row.figures.items()},
            settings=row.settings,
        )


def of_mean(found: Mean) -> Value:
    return Value(found.mean, found.interval)


READERS: dict[type, Callable[[Any, dict[str, Line]], Iterator[Line]]] = {
    Benched: _benched,
    Answered: _answered,
    Crossed: _crossed,
    Compared: _compared,
    CapacityFound: _capacity,
    Swept: _swept,
    Ceilings: _ceilings,
    Reproduced: _reproduced,
}


def lines(run: Run, known: Kinds) -> list[Line]:
    """All lines of a result. Of a study that is not known here: its variants with the result's verdict."""
    of = _of_variants(run, known)
    reader = READERS.get(type(run.result.conclusions))
    if reader is None or not of:
        return [replace(line, reasons=run.result.reasons) for line in of.values()]
    return list(reader(run.result.conclusions, of))
