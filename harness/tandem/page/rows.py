"""The rows behind the pictures, of one result: what single windows show, and what it has against load or a setting. Pure."""

from collections.abc import Iterator, Sequence
from statistics import fmean

from tandem.analysis.cost import ROLES as CHARGED
from tandem.analysis.cost import TOTAL
from tandem.analysis.histogram import curve
from tandem.facts.fact import by_label, counting, facts
from tandem.facts.metric import GOODPUT, metric, told_coordinates
from tandem.page.data import PageRow
from tandem.page.lines import Kind, Line, against
from tandem.page.read import Run
from tandem.record.window import Verdict, Window
from tandem.wording import times

HUES = {
    "python": "--lang-python",
    "rust": "--lang-rust",
    "cpp": "--lang-cpp",
    "javascript": "--lang-node",
    "typescript": "--lang-node",
    "go": "--lang-go",
    "java": "--lang-java",
}
"""Language -> colour; others share one."""
UNDECIDED = "--undecided"
ROLES = {
    "app": ("application", "--role-app"),
    "pgbouncer": ("pooler", "--role-pooler"),
    "db": ("database", "--role-db"),
    "faults": ("latency proxy", "--role-faults"),
    "proxy": ("proxy", "--role-proxy"),
    "loadgen": ("generator", "--role-loadgen"),
}
"""A role -> how a picture names and colours it."""
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


def hue(language: str) -> str:
    """The colour of a language."""
    return HUES.get(language, "--lang-other")


def _looks(kind: Kind) -> PageRow:
    """What a picture makes hue, dash and marker of."""
    return {"language": kind.language, "model": kind.model, "hue": hue(kind.language)}


def _named_at_end(rows: list[PageRow], x: str) -> Iterator[PageRow]:
    """Rows of lines, of which the last point of each has its name."""
    ordered = sorted(rows, key=lambda row: float(row[x]))
    last = {(row["variant"], row.get("figure")): id(row) for row in ordered}.values()
    return ({**row, "label": row["variant"] if id(row) in last else None} for row in rows)


def ratios(run: Run, lines: Sequence[Line]) -> Iterator[PageRow]:
    """Every contrast of a result."""
    language = {line.variant: line.kind.language for line in lines}
    for one in run.result.conclusions.contrasts:
        if one.ratio is not None and one.interval is not None:
            low, high = one.interval
            undecided = one.word in ("inconclusive", "not decided", "too few")
            yield {
                "figure": metric(one.metric).heading,
                "name": one.text or against(one),
                "of": one.of,
                "to": one.to,
                "ratio": one.ratio,
                "low": low,
                "high": high,
                "word": one.word or "",
                "published": one.published,
                "end": max(high, one.published or 0),
                "n": one.n,
                "hue": UNDECIDED if undecided else hue(language.get(one.of, "")),
            }


def percentiles(run: Run, lines: Sequence[Line]) -> Iterator[PageRow]:
    """Response times of the good open windows of each line, pooled."""
    table = by_label(counting(facts(run.trials, run.result.variants)))
    rows: list[PageRow] = []
    for line in lines:
        windows = [one.window for one in table.get(line.trial_label, []) if one.role == "open"]
        histograms = [window.response_time_hdr for window in windows if window.response_time_hdr]
        rates = [w.offered_rps for w in windows if w.response_time_hdr and w.offered_rps]
        rows += [
            {
                "variant": line.label,
                "percentile": round(quantile * 100, 4),
                "beyond": 1 / (1 - quantile),
                "ms": ms,
                "offered_rps": fmean(rates) if rates else None,
                **_looks(line.kind),
            }
            for quantile, ms in curve(histograms, QUANTILES)
        ]
    return _named_at_end(rows, "beyond")


def roles(run: Run, lines: Sequence[Line]) -> Iterator[PageRow]:
    """CPU of each role for one request; the first row of a line has its whole, with interval and ratio to the first variant."""
    ratios = {
        (one.of, told_coordinates(one.coordinates)): one.ratio
        for one in run.result.conclusions.contrasts
        if one.metric == TOTAL
    }
    asked = [line for line in lines if line.coordinates.get("question", "cost") == "cost"]
    for line in asked if len(asked) <= ROLES_MOST else []:
        total = line.figures.get(TOTAL)
        if total is None or total.mean is None:
            continue
        ratio = ratios.get((line.variant, told_coordinates(line.coordinates)))
        low, high = total.interval or (None, None)
        text = f"{total.mean:,.0f} µs" + (f", {times(ratio)}" if ratio else "")
        whole: PageRow = {"low": low, "high": high, "text": text}
        for place, (key, (role, colour)) in enumerate(ROLES.items()):
            found = line.figures.get(f"{key}_cpu_us_per_request") if key in CHARGED else None
            if found is not None and found.mean:
                variant = line.variant if "question" in line.coordinates else line.label
                bar = {"variant": variant, "role": role, "us": found.mean, "place": place, "hue": colour}
                yield bar | whole
                whole = dict.fromkeys(whole)


def seconds(run: Run, lines: Sequence[Line]) -> Iterator[PageRow]:
    """Every window second by second."""
    for trial in run.trials:
        for record in trial.windows:
            for label, window in record.windows.items():
                of = "" if label in trial.spec.key else f", {label}"
                name = f"{trial.spec.key}, {record.spec.name}{of}"
                for series, line, colour, values in _series(window):
                    looks = {"window": name, "series": series, "line": line, "hue": colour}
                    yield from ({**looks, "second": second, "value": value} for second, value in values)


def _series(window: Window) -> Iterator[tuple[str, str, str, Iterator[tuple[int, float | None]]]]:
    """Panel, line, colour, and the value of each second."""
    if seen := window.per_second:
        cpu = seen.role_cpu_s or {"app": seen.app_cpu_s}
        lines: list[tuple[str, str, str, Sequence[float]]] = [
            *((CPU, *ROLES[key], cpu[key]) for key in ROLES if key in cpu),
            ("right answers, 1/s", "", "--ok", seen.good),
            (MEMORY, *ROLES["app"], [at / 2**20 for at in seen.app_memory_bytes]),
            ("steal, % of all CPUs", "", "--bad", [100 * share for share in seen.steal_share]),
        ]
        for panel, line, colour, values in lines:
            yield panel, line, colour, zip(seen.second, values, strict=False)  # older records have no memory
    if took := window.responses_per_second:
        yield RESPONSES, "p50", "--lang-other", enumerate(took.p50_ms)
        yield RESPONSES, "p99", "--role-db", enumerate(took.p99_ms)


def loads(run: Run, lines: Sequence[Line]) -> Iterator[PageRow]:
    """Response time and goodput against the offered load, around a capacity."""
    every = run.result.conclusions.estimates
    capacity = next((one for one in every if one.metric == "capacity_rps"), None)
    kinds = {line.variant: line.kind for line in lines}
    for one in every:
        offered = one.coordinates.get("offered_rps")
        if not isinstance(offered, int) or one.mean is None or capacity is None:
            continue
        goodput = next(
            e.mean for e in every if e.metric == GOODPUT and e.coordinates == one.coordinates and e.mean
        )
        held = goodput >= SATURATED * offered and one.verdict is Verdict.OK
        yield {
            "variant": one.variant,
            "offered_rps": offered,
            "series": metric(one.metric).heading,
            "value": one.mean,
            "state": "held" if held else "saturated",
            "capacity_rps": capacity.mean,
            "objective_ms": capacity.coordinates.get(one.metric),
            **_looks(kinds.get(one.variant, Kind())),
        }


def sweep(run: Run, lines: Sequence[Line]) -> Iterator[PageRow]:
    """Figures against a coordinate that takes several values."""
    rows: list[PageRow] = []
    for axis in dict.fromkeys(name for line in lines for name in line.coordinates):
        at = {line.label: line.coordinates.get(axis) for line in lines}
        if len({value for value in at.values() if isinstance(value, int | float)}) < SWEPT_LEAST:
            continue
        for line in lines if axis != "offered_rps" else []:
            others = {name: value for name, value in line.coordinates.items() if name != axis}
            rows += [
                {
                    "variant": ", ".join(filter(None, [line.variant, told_coordinates(others)])),
                    "axis": axis.removesuffix("_ms"),
                    "at": at[line.label],
                    "figure": metric(name).heading,
                    "mean": value.mean,
                    "low": value.interval and max(value.interval[0], 0.0),
                    "high": value.interval and value.interval[1],
                    **_looks(line.kind),
                }
                for name in SWEPT
                if (value := line.figures.get(name)) and isinstance(at[line.label], int | float)
            ]
    return _named_at_end(rows, "at")
