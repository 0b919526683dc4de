"""How figures and limits are told, the same in every report. Pure."""

from collections.abc import Mapping

from tandem.analysis.cost import APP, AT, TOTAL
from tandem.analysis.ratios import no_width
from tandem.facts.statement import HitRate, Known

BOTTLENECKS = {
    "generator": "the load generator",
    "generator-thread": "one thread of the load generator",
    "proxy": "HAProxy",
    "pooler": "PgBouncer's CPU",
    "faults": "the latency proxy",
    "database": "the database",
    "beside": "a service beside the application",
    "app-cpu": "the application's CPU",
    "app-thread": "one thread of the application",
    "pool-wait": "waiting for a database connection",
    "thread-pool": "waiting for a handler thread",
    "distance": "the distance to the database",
    "latency-bound": "waiting for answers; nothing was exhausted",
    "offered-load": "the offered rate",
    "disk": "the disk",
    "unknown": "unknown",
}


def percent(share: float | None) -> str:
    """A share for people: `3 %`, `2.5 %`."""
    return "–" if share is None else f"{share * 100:.3g} %"


def limited_by(bottleneck: str | None) -> str:
    """What limited, for people; several that were as busy are told as one. A dash: it is not known whether anything did."""
    if not bottleneck:
        return "–"
    told = [BOTTLENECKS.get(tag, tag) for tag in bottleneck.split("+")]
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}, within 10 points"


ROLES = {
    "app": "application",
    "db": "database",
    "pgbouncer": "PgBouncer",
    "proxy": "HAProxy",
    "faults": "latency proxy",
    "loadgen": "generator",
}
NAMED = 0.05
"""A part of a CPU set that used less is not named."""


def with_parts(name: str, utilisation: float, parts: Mapping[str, float]) -> str:
    """A resource with who used it: `core 0: database 52 %, PgBouncer 35 %, HAProxy 7 %`."""
    if not parts:
        return f"{name} {utilisation:.0%}".replace("%", " %")
    users = [
        f"{ROLES.get(role, role)} {share * 100:.0f} %" for role, share in parts.items() if share >= NAMED
    ]
    return f"{name}: {', '.join(users)}"


def counted(number: int, things: str) -> str:
    """`1 start`, `3 starts`. things: in the plural."""
    return f"{number} {things if number != 1 else things.removesuffix('s')}"


def number(value: float | None, digits: int = 0) -> str:
    """A figure for people; a dash for what was not measured."""
    return "–" if value is None else f"{value:,.{digits}f}"


SIGNS = {"at least": "≥ ", "at most": "≤ ", "unknown": "about "}
"""A bound -> what stands before a ratio that is one."""


def times(ratio: float | None, bound: str | None = None) -> str:
    """A ratio with three digits, as far as it has them."""
    if ratio is None:
        return "–"
    return f"{SIGNS.get(bound or '', '')}× {ratio:,.{1 if ratio >= 9.995 else 2}f}"


def ratio_with_interval(ratio: float | None, interval: tuple[float, float] | None) -> str:
    """× 1.57 (1.25 to 1.98), with the 95 % interval, if there is one. An interval without any width says only that nothing
    differed between the blocks, as with rates that a timer paces: it is not shown as one."""
    if ratio is None or interval is None:
        return "–" if ratio is None else f"× {ratio:,.2f}"
    low, high = interval
    within = "the same in every block" if no_width(interval) else f"{low:,.2f} to {high:,.2f}"
    return f"× {ratio:,.2f} ({within})"


def with_interval(value: float | None, interval: tuple[float, float] | None, digits: int = 0) -> str:
    """`mean ± half-width` of the 95 % interval."""
    if value is None or interval is None:
        return number(value, digits)
    return f"{value:,.{digits}f} ± {(interval[1] - interval[0]) / 2:,.{digits}f}"


def time_spent(phases_s: dict[str, float]) -> str:
    """Where a session's time went, the largest part first."""
    parts = sorted(phases_s.items(), key=lambda part: -part[1])
    return "time: " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in parts if seconds >= 0.5)


def lasts(seconds: float) -> str:
    """A duration for people."""
    return f"{seconds / 60:.0f} min" if seconds > 90 else f"{seconds:.0f} s"


# ---- statements ----

METRICS = {
    TOTAL: "total CPU per request",
    APP: "the application's CPU per request",
    "duet_cpu_us_per_request": "the application's CPU per request, all at once",
    "saturated_cpu_us_per_request": "the application's CPU per request, all at once near their joint limit",
    "goodput_rps": "requests answered",
    "response_time_p99_ms": "p99 response time",
}


def metric_told(metric: str) -> str:
    """A metric's key for people; one that has no words is told as it is."""
    name, at, share = metric.rpartition(AT)
    if at and share.isdecimal():
        return f"{METRICS.get(name, name)} at {share} % of the slowest's rate"
    return METRICS.get(metric, metric)


def span(interval: tuple[float, float] | None) -> str:
    """An interval of a ratio, `1.24 to 1.60`; a dash where there is none."""
    return " to ".join(times(end).removeprefix("× ") for end in interval or ()) or "–"


def expected_range(known: Known) -> str:
    """The prediction interval; a dash below two sessions."""
    return span(known.expected)


def hit_rate_told(found: HitRate) -> str:
    """`369 of 387 ratios of later sessions (95.3 %)`"""
    return f"{found.inside:,} of {found.predicted:,} ratios of later sessions ({percent(found.inside / found.predicted)})"


def expected_told(known: Known) -> str:
    """The ratio with its prediction interval, if there is one: `× 1.41, next session 1.24 to 1.60`."""
    ratio = times(known.ratio)
    if known.expected is None:
        return ratio
    return f"{ratio}, next {'machine' if known.any_machine else 'session'} {expected_range(known)}"


def basis_told(known: Known) -> str:
    """`9 sessions, 2 CPU models`, and whether that is too little for a finding."""
    failed = f", {known.control_failed} with a failed control" if known.control_failed else ""
    return f"{known.basis}{failed}{'' if known.finding else ': no finding'}"


def known_told(known: Known | None) -> str:
    """What all sessions say of a statement: `× 1.41, next session 1.24 to 1.60 (9 sessions, 2 CPU models)`. Of less than a
    finding the words say so."""
    if known is None:
        return "not measured"
    return f"{expected_told(known)} ({basis_told(known)})"
