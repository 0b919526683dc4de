"""The rows behind the pictures: what single windows show, and what a result has against load or against a setting. Pure."""

from collections.abc import Iterator, Sequence
from statistics import fmean

from tandem.analysis.cost import ROLES as CHARGED
from tandem.analysis.cost import TOTAL
from tandem.analysis.histogram import curve
from tandem.facts.fact import by_label, counting, facts
from tandem.facts.metric import GOODPUT, metric, told_coordinates
from tandem.page.data import PageRow
from tandem.page.lines import Line
from tandem.page.read import Run
from tandem.record.window import Verdict, Window
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
ROLES_MOST, SWEPT_LEAST = 24, 3
"""Bars in one picture of the roles; values that make an axis."""
SWEPT = (
    *("goodput_rps", "service_time_mean_ms", "mean_ms", "p50_ms", "p90_ms", "p99_ms"),
    *("app_cpu_us_per_request", "cpu_percent", "anonymous_memory_mib", "memory_per_idle_kib"),
)


def percentiles(run: Run, lines: Sequence[Line]) -> Iterator[PageRow]:
    """Response times of the good open windows of each line, pooled."""
    table = by_label(counting(facts(run.trials, run.result.variants)))
    for line in lines:
        windows = [
            one.window
            for one in table.get(line.trial_label, [])
            if one.role == "open" and one.window.response_time_hdr
        ]
        rates = [window.offered_rps for window in windows if window.offered_rps]
        for quantile, ms in curve([w.response_time_hdr for w in windows if w.response_time_hdr], QUANTILES):
            yield {
                "run": run.slug,
                "variant": line.label,
                "percentile": round(quantile * 100, 4),
                "beyond": 1 / (1 - quantile),
                "ms": ms,
                "offered_rps": fmean(rates) if rates else None,
            }


def roles(run: Run, lines: Sequence[Line]) -> Iterator[PageRow]:
    """CPU of each role for one request; the first row of a line has its whole, with interval and ratio to the first variant."""
    ratios = {
        (one.of, told_coordinates(one.coordinates)): one.ratio
        for one in run.result.conclusions.contrasts
        if one.metric == TOTAL
    }
    asked = [line for line in lines if line.coordinates.get("question", "cost") == "cost"]
    for line in asked if len(asked) <= ROLES_MOST else []:
        by_role = {role: line.figures.get(f"{role}_cpu_us_per_request") for role in CHARGED}
        known = [(ROLES[role], one.mean) for role in ROLES if (one := by_role.get(role)) and one.mean]
        total = line.figures.get(TOTAL)
        if total is None or total.mean is None:
            continue
        ratio = ratios.get((line.variant, told_coordinates(line.coordinates)))
        low, high = total.interval or (None, None)
        for place, (name, us) in enumerate(known):
            first = place == 0
            yield {
                "run": run.slug,
                "variant": line.variant if "question" in line.coordinates else line.label,
                "role": name,
                "us": us,
                "low": low if first else None,
                "high": high if first else None,
                "place": list(ROLE_HUES).index(name),
                "text": f"{total.mean:,.0f} µs" + (f", {times(ratio)}" if ratio else "") if first else None,
                "hue": ROLE_HUES[name],
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
    every = run.result.conclusions.estimates
    capacity = next((one for one in every if one.metric == "capacity_rps"), None)
    for one in every:
        offered = one.coordinates.get("offered_rps")
        if not isinstance(offered, int) or one.mean is None or capacity is None:
            continue
        goodput = next(
            e.mean for e in every if e.metric == GOODPUT and e.coordinates == one.coordinates and e.mean
        )
        held = goodput >= SATURATED * offered and one.verdict is Verdict.OK
        yield {
            "run": run.slug,
            "variant": one.variant,
            "offered_rps": offered,
            "series": metric(one.metric).heading,
            "value": one.mean,
            "state": "held" if held else "saturated",
            "capacity_rps": capacity.mean,
            "objective_ms": capacity.coordinates.get(one.metric),
        }


def sweep(run: Run, lines: Sequence[Line]) -> Iterator[PageRow]:
    """Figures against a coordinate that takes several values."""
    for axis in dict.fromkeys(name for line in lines for name in line.coordinates):
        found = (line.coordinates.get(axis) for line in lines)
        values = {value for value in found if isinstance(value, int | float)}
        if len(values) < SWEPT_LEAST or axis == "offered_rps":
            continue
        for line in lines:
            at = line.coordinates.get(axis)
            if isinstance(at, int | float):
                others = {name: value for name, value in line.coordinates.items() if name != axis}
                variant = ", ".join(filter(None, [line.variant, told_coordinates(others)]))
                yield from _points(run, line, variant, axis.removesuffix("_ms"), at)


def _points(run: Run, line: Line, variant: str, axis: str, at: float) -> Iterator[PageRow]:
    for name in SWEPT:
        value = line.figures.get(name)
        if value is not None and value.mean is not None:
            low, high = value.interval or (None, None)
            yield {
                "run": run.slug,
                "variant": variant,
                "language": line.kind.language,
                "model": line.kind.model,
                "axis": axis,
                "at": at,
                "figure": metric(name).heading,
                "mean": value.mean,
                "low": None if low is None else max(low, 0.0),
                "high": high,
            }
