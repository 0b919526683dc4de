"""The rows behind the pictures: what single windows show, and what a result has against load or against a setting. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from tandem.analysis.cost import ROLES as CHARGED
from tandem.analysis.cost import cpu_us_per_request_by_role
from tandem.analysis.histogram import curve
from tandem.engine.blocks import counting
from tandem.page.data import PageRow
from tandem.page.measured import Line
from tandem.page.read import Run
from tandem.record.trial import Trial
from tandem.record.window import Verdict, Window
from tandem.studies.bench.conclusions import TOTAL, Benched
from tandem.studies.capacity.conclusions import CapacityFound
from tandem.studies.compare.report import COLUMNS
from tandem.studies.explain.conclusions import Explained
from tandem.studies.questions.conclusions import Answered
from tandem.studies.questions.conditions import COST
from tandem.studies.reproduce.conclusions import Reproduced
from tandem.studies.reproduce.figures import FIGURES
from tandem.studies.sweep.conclusions import Swept
from tandem.wording import times

ROLES = {
    "app": "application",
    "pgbouncer": "pooler",
    "db": "database",
    "faults": "latency proxy",
    "proxy": "proxy",
    "loadgen": "generator",
}
ROLE_HUES = {
    "application": "--role-app",
    "pooler": "--role-pooler",
    "database": "--role-db",
    "latency proxy": "--role-faults",
    "proxy": "--role-proxy",
    "generator": "--role-loadgen",
}
CPU, MEMORY, RESPONSES = "CPU by role, cores", "application memory, MiB", "response time p50 and p99, ms"
QUANTILES = (
    *(0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.965, 0.975, 0.98),
    *(0.985, 0.99, 0.9925, 0.995, 0.9975, 0.998, 0.999, 0.9995, 0.9999),
)
SATURATED = 0.98
"""Below this share of what was offered, a rate was not held."""
SWEPT = (
    *("goodput_rps", "mean_ms", "p50_ms", "p90_ms", "p99_ms"),
    *("app_cpu_us_per_request", "cpu_percent", "anonymous_memory_mib", "memory_per_idle_kib"),
)


def _good(run: Run) -> list[Trial]:
    return counting([trial for trial in run.trials if trial.verdict is Verdict.OK])


def _labels(run: Run) -> list[str]:
    return [variant.label for variant in run.result.request.variants]


def percentiles(run: Run) -> Iterator[PageRow]:
    """Response times of the good open windows of each variant, pooled."""
    good = _good(run)
    for label in _labels(run):
        windows = [window for trial in good for window in trial.of(label, "open") if window.response_time_hdr]
        rates = [window.offered_rps for window in windows if window.offered_rps]
        for quantile, ms in curve([w.response_time_hdr for w in windows if w.response_time_hdr], QUANTILES):
            yield {
                "run": run.slug,
                "variant": label,
                "percentile": round(quantile * 100, 4),
                "beyond": 1 / (1 - quantile),
                "ms": ms,
                "offered_rps": fmean(rates) if rates else None,
            }


@dataclass(frozen=True)
class Cost:
    """CPU for one request of a variant, in µs."""

    by_role: Mapping[str, float]
    interval: tuple[float, float] | None = None
    """95 % interval of all roles together."""
    ratio: float | None = None
    """Ratio of the whole to the first variant's, within blocks."""


def roles(run: Run) -> Iterator[PageRow]:
    """CPU of each role for one request; the first row of a variant has its whole, with interval and ratio."""
    for label, cost in _costs(run).items():
        told = [(place, role) for place, role in enumerate(ROLES) if role in cost.by_role]
        for place, role in told:
            name, first = ROLES[role], place == told[0][0]
            low, high = (cost.interval if first else None) or (None, None)
            whole = f"{sum(cost.by_role.values()):,.0f} µs" + (f", {times(cost.ratio)}" if cost.ratio else "")
            yield {
                "run": run.slug,
                "variant": label,
                "role": name,
                "us": cost.by_role[role],
                "low": low,
                "high": high,
                "place": place,
                "text": whole if first else None,
                "hue": ROLE_HUES[name],
            }


def _costs(run: Run) -> dict[str, Cost]:
    """Variant -> what its request costs. Of the questions: under the condition that asks for it."""
    found = run.result.conclusions
    if isinstance(found, Explained):
        return {
            cell.label: Cost({role: us for role, us in cell.demands_us.items() if role in CHARGED})
            for cell in found.cells
        }
    if isinstance(found, Answered):
        return {label.partition(" @ ")[0]: cost for label, cost in _benched(found.conditions[COST]).items()}
    if isinstance(found, Benched):
        return _benched(found)
    good, out = _good(run), {}
    for label in _labels(run):
        own: dict[str, list[float]] = defaultdict(list)
        for window in (window for trial in good for window in trial.of(label, "closed")):
            for role, us in cpu_us_per_request_by_role(window).items():
                own[role].append(us)
        out[label] = Cost({role: fmean(values) for role, values in own.items()})
    return out


def _benched(found: Benched) -> dict[str, Cost]:
    return {
        row.label: Cost(
            row.summary.cpu_us_per_request_by_role,
            row.summary.total_cpu_us_per_request_interval,
            row.against_first[TOTAL].ratio.ratio if TOTAL in row.against_first else None,
        )
        for row in found.rows
    }


def seconds(run: Run) -> Iterator[PageRow]:
    """Every window second by second."""
    for trial in run.trials:
        for record in trial.windows:
            for label, window in record.windows.items():
                name = f"{trial.spec.key}, {record.spec.name}" + (
                    "" if label in trial.spec.key else f", {label}"
                )
                for row in _seconds(window):
                    yield {"run": run.slug, "window": name, **row}


def _seconds(window: Window) -> Iterator[PageRow]:
    """series: of a panel; line: within it."""
    if told := window.per_second:
        cpu = told.role_cpu_s or {"app": told.app_cpu_s}
        series: list[tuple[str, str, str, Sequence[float]]] = [
            *((CPU, role, "", cpu[role]) for role in ROLES if role in cpu),
            ("right answers, 1/s", "", "--ok", told.good),
            (MEMORY, "app", "", [at / 2**20 for at in told.app_memory_bytes]),
            ("steal, % of all CPUs", "", "--bad", [100 * share for share in told.steal_share]),
        ]
        for name, role, hue, values in series:
            for at, value in zip(told.second, values, strict=False):  # older records have no memory
                line = ROLES.get(role, "")
                yield {
                    "second": at,
                    "series": name,
                    "line": line,
                    "value": value,
                    "hue": hue or ROLE_HUES[line],
                }
    if times := window.responses_per_second:
        for at, both in enumerate(zip(times.p50_ms, times.p99_ms, strict=True)):
            for ms, line, hue in zip(both, ("p50", "p99"), ("--lang-other", "--role-db"), strict=True):
                yield {"second": at, "series": RESPONSES, "line": line, "value": ms, "hue": hue}


def loads(run: Run) -> Iterator[PageRow]:
    """Response time and goodput against the offered load, around a capacity."""
    found = run.result.conclusions
    if not isinstance(found, CapacityFound):
        return
    label = _labels(run)[0]
    for step in found.behaviour:
        held = step.goodput_rps >= SATURATED * step.offered_rps and step.verdict is Verdict.OK
        times = step.response_time_ms
        told: dict[str, float | None] = {"goodput, 1/s": step.goodput_rps}
        if times:
            told |= {"response time p50, ms": times.p50, "response time p99, ms": times.p99}
        for series, value in told.items():
            if value is not None:
                yield {
                    "run": run.slug,
                    "variant": label,
                    "offered_rps": step.offered_rps,
                    "series": series,
                    "value": value,
                    "state": "held" if held else "saturated",
                    "capacity_rps": found.capacity_rps,
                    "objective_ms": found.slo.limit_ms if found.slo.percentile in series else None,
                }


def sweep(run: Run, lines: Sequence[Line]) -> Iterator[PageRow]:
    """Figures against a setting."""
    found = run.result.conclusions
    if isinstance(found, Swept):
        for line in lines:
            value = int(line.condition.rpartition(" ")[2])
            yield from _points(run, line, line.label, found.axis, value)
    elif isinstance(found, Reproduced):
        for row, line in zip(found.rows, lines, strict=True):
            # "cpp-sync, 1,000" with 1000 connections, but no row that differs in anything else.
            at = row.settings.get("connections", "")
            if at.isdecimal() and row.label.endswith((f", {int(at):,}", f", {int(at):,} idle")):
                yield from _points(run, line, row.label.partition(",")[0], "connections", int(at))


def _points(run: Run, line: Line, variant: str, axis: str, at: int) -> Iterator[PageRow]:
    for figure in SWEPT:
        if value := line.figures.get(figure):
            low, high = value.interval or (None, None)
            yield {
                "run": run.slug,
                "variant": variant,
                "language": line.kind.language,
                "model": line.kind.model,
                "axis": axis,
                "at": at,
                "figure": title(figure),
                "mean": value.mean,
                "low": None if low is None else max(low, 0.0),
                "high": high,
            }


def title(figure: str) -> str:
    """A figure's name with its unit."""
    if figure == "duet_cpu_us_per_request":
        return "app CPU side by side, µs/request"
    if figure == TOTAL:
        return "CPU of all roles, µs/request"
    known = FIGURES.get(figure)
    if known is None:
        return ", ".join(COLUMNS[figure]) if figure in COLUMNS else figure
    return f"{known.title}, {known.unit}" if known.unit else known.title
