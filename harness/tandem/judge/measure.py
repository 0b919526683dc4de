"""Puts a window's figures together from the generator's rows and the counters. Pure."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tandem.analysis import histogram
from tandem.catalog.placement import cpus_in
from tandem.hosts.host import HostCpu, Usage
from tandem.judge import disturbance
from tandem.judge.accounting import utilisation_bound
from tandem.judge.implied import choice_p, implied_rows
from tandem.judge.seconds import Responses, by_second, growth
from tandem.judge.slices import Own
from tandem.load import rows as rows_
from tandem.load.dealing import FIRST, is_generator
from tandem.load.generator import TIMEOUT_S, Report
from tandem.load.rows import Floats, Ints, Rows
from tandem.load.tool_result import ToolResult
from tandem.probes.app_pool import PoolUse
from tandem.probes.sampler import Sample, Series
from tandem.probes.watch import Watched
from tandem.record.host import HostActivity, PerSecond
from tandem.record.window import (
    DbRtt,
    GeneratorShare,
    Pooler,
    Proxy,
    Role,
    Slices,
    Statement,
    Times,
    Verdict,
    Window,
)

HARNESS = "harness"
DRAINS = 2.0
"""Times the p99 of its response times: so long after a switch a variant may still answer what was in flight, because it shares
the CPUs with the one that has its turn."""
IDLE_ERROR_CORES = 0.0005
"""One second of rest misses what a program does more seldom. Of nine programs that took turns none used more than 0.0004 cores
beyond its idle rate. Beside eight others that is 2 % of a program that uses 0.15 cores in its own slices."""

type Spans = list[tuple[float, float]]
"""What figures come from: one, or the measured part of each slice; time.time()."""


@dataclass(frozen=True)
class Measured:
    """What a window left behind."""

    rows: Rows
    report: Report
    began_s: float
    """time.time() when the load began."""
    series: Series
    busiest_thread_s: float | None
    """CPU-seconds of the application's busiest thread over the whole window."""
    statements: dict[str, Statement]
    probes: int
    probes_refused: list[str]
    """Probes that got no proper answer."""
    probe_failures: list[str]
    """Probes that got a body that is not golden."""
    rows_of: dict[str, dict[int, int]] = field(default_factory=dict)
    """Statement -> what an answer is about -> rows that the statement returns for it."""
    stored_rows: int | None = None
    """By how much the table grew that every answer has to add a row to."""
    idle_connections: int | None = None
    """Silent connections that were open from the beginning to the end."""
    watched: Watched | None = None
    db_rtt_ms: DbRtt | None = None
    app_pool: PoolUse | None = None
    """None: the application's pool does not tell."""
    app_switches: int | None = None
    """Context switches that the application's threads asked for over the whole window."""
    own: Own | None = None
    """Where variants took turns: its slices, and `began_s` is when its rows count from."""
    idle_cores: float | None = None
    """Cores that the application used before any load; None: not looked at."""
    generators: list[GeneratorShare] = field(default_factory=list)
    """Where several shared the load, whose rows are merged: each, but for its CPU."""


@dataclass(frozen=True)
class WindowConditions:
    """What was asked for."""

    load: Literal["closed", "open"]
    duration_s: float
    connections: int
    rate_rps: int | None
    trim_start_s: float
    trim_end_s: float
    lengths: set[int]
    """What a right body can have, in bytes."""
    cpusets: dict[str, str]
    """Role -> CPU set, "" for all."""
    host_cpus: int = 0
    keys: dict[int, int] = field(default_factory=dict)
    """What a right answer can be about -> its length."""
    chosen: bool = False
    """The database draws one of the keys for each answer."""
    status: int = 200
    """Of a right answer."""
    timeout_s: float = float(TIMEOUT_S)


def responses(rows: Rows, asked: WindowConditions, errors: int) -> Floats:
    """Response times in seconds of the right answers to what an open loop intended in its measured part."""
    assert asked.rate_rps is not None
    load = rows_.open_loop(rows, asked.rate_rps, asked.duration_s, errors)
    inside = _inside(load.intended_s, asked)
    return load.response_s[inside & rows_.right_answers(rows, asked.status, asked.lengths)]


def censored(rows: Rows, asked: WindowConditions, errors: int) -> int:
    """How many requests of an open loop count as never answered: wrong answers inside the measured part, and all
    errors, because nobody knows when they were due."""
    assert asked.rate_rps is not None
    intended_s = rows_.open_loop(rows, asked.rate_rps, asked.duration_s, errors).intended_s
    wrong = ~rows_.right_answers(rows, asked.status, asked.lengths)
    return int((_inside(intended_s, asked) & wrong).sum()) + errors


def _inside(intended_s: Floats, asked: WindowConditions) -> NDArray[np.bool_]:
    return (intended_s >= asked.trim_start_s) & (intended_s < asked.duration_s - asked.trim_end_s)


def window(measured: Measured, asked: WindowConditions) -> Window:
    """The window, not yet judged."""
    rows, series = measured.rows, measured.series
    own, trims = measured.own, (asked.duration_s, asked.trim_start_s, asked.trim_end_s)
    good = rows_.right_answers(rows, asked.status, asked.lengths)
    if own is None:
        ended = measured.began_s + asked.duration_s
        spans = [(measured.began_s + asked.trim_start_s, ended - asked.trim_end_s)]
        measured_s = asked.duration_s - asked.trim_start_s - asked.trim_end_s
        timed = steady = rows_.steady(rows, *trims)
        in_flight = rows_.in_flight(rows, *trims)
    else:
        slices, spans = own.slice_of(rows), own.spans
        measured_s = sum(high - low for low, high in spans)
        steady, timed, in_flight = slices >= 0, own.timed(rows, slices), own.in_flight(rows)
    failed = rows_.failures(rows, asked.status, asked.lengths)
    errors = sum(measured.report.errorDistribution.values())
    for reason, number in measured.report.errorDistribution.items():
        failed[f"error: {reason}"] = number
    if measured.probes_refused:
        failed["probe not answered"] = len(measured.probes_refused)

    open_loop, response, due = None, None, None
    if asked.rate_rps is not None:
        open_loop = rows_.open_loop(rows, asked.rate_rps, asked.duration_s, errors)
        due = Responses.of(open_loop)
        response = (responses(rows, asked, errors), censored(rows, asked, errors), asked.timeout_s)
    service_s = (rows.end_s - rows.start_s)[timed & good]
    answer_s = (rows.end_s - rows.start_s)[good]
    lengths, numbers = np.unique(rows.length_bytes[good], return_counts=True)
    by_length = dict(zip(lengths.tolist(), numbers.tolist(), strict=True))
    probed = measured.probes - len(measured.probes_refused)

    told = measured.report.told
    first, last = series.samples[0], series.samples[-1]
    every = (len(rows) if told is None else told.requests) + measured.probes
    answered = (
        float(every)
        if own is None
        else float(steady.sum()) + measured.probes * measured_s / (last.at_s - first.at_s)
    )

    def app_us_per_request(value: Callable[[Usage], float]) -> float | None:
        """Of a counter of the application's CPU time, in the seconds of the answers that are counted."""
        of_app = _usage("app", value)
        used_s = of_app(last) - of_app(first) if own is None else sum(grown(series, spans, of_app))
        return used_s / answered * 1e6 if answered else None

    cost_us = app_us_per_request(lambda usage: usage.cpu_s)
    roles = {role: _role(role, series, asked, spans) for role in _named(asked)}
    bound = utilisation_bound(float(steady.sum()) / measured_s, roles)
    roles["app"].busiest_thread_cores = (
        measured.busiest_thread_s / asked.duration_s if measured.busiest_thread_s is not None else None
    )
    found = Window(
        load=asked.load,
        duration_s=asked.duration_s,
        connections=asked.connections,
        offered_rps=asked.rate_rps,
        measured_s=measured_s,
        requests=len(rows),
        good=int(good.sum()),
        failed=failed,
        goodput_rps=float((good & steady).sum() / measured_s),
        little=in_flight / asked.connections if asked.load == "closed" and in_flight is not None else None,
        service_time_ms=rows_.times(service_s),
        response_time_ms=rows_.times(*response) if response else None,
        lateness_ms=rows_.times(open_loop.lateness_s[_inside(open_loop.intended_s, asked)])
        if open_loop
        else None,
        scheduled=open_loop.scheduled if open_loop else None,
        unsent=open_loop.unsent if open_loop else None,
        app_cpu_us_per_request=cost_us,
        app_system_cpu_us_per_request=None
        if first.usage["app"].system_s is None
        else app_us_per_request(lambda usage: usage.system_s or 0.0),
        app_context_switches_per_request=measured.app_switches / every
        if measured.app_switches is not None and every
        else None,
        app_memory_peak_bytes=roles["app"].memory_peak_bytes,
        roles=roles,
        statements=measured.statements,
        proxy=_proxy(series, spans),
        pooler=_pooler(series, spans),
        host=_host(series, spans).model_copy(update=_watched(measured.watched, spans)),
        probes=measured.probes,
        probe_failures=measured.probe_failures,
        stored_rows=measured.stored_rows,
        idle_connections=measured.idle_connections,
        service_time_hdr=histogram.encode(service_s),
        response_time_hdr=histogram.encode(*response) if response else None,
        per_second=None if own else _per_second(rows.end_s[good], series, measured.began_s, asked),
        slices=_slices(own, slices, good, timed, series, _outside_share(own, measured, cost_us, service_s))
        if own
        else None,
        generators=[_with_cpu(one, series, asked, spans) for one in measured.generators],
        responses_per_second=by_second(due, asked.duration_s) if due else None,
        growth=growth(due, asked.trim_start_s, asked.duration_s - asked.trim_end_s) if due else None,
        in_flight_mean=in_flight,
        rows_2xx=int((rows.status // 100 == 2).sum()),
        reported_2xx=measured.report.answered_2xx,
        utilisation_bound_rps=bound[0] if bound else None,
        utilisation_bound_by=bound[1] if bound else None,
        db_rtt_ms=measured.db_rtt_ms,
        app_pool_wait_ms=measured.app_pool.wait_ms if measured.app_pool else None,
        lock_waits_mean=_lock_waits(series, spans),
        answer_ms_min=float(answer_s.min()) * 1e3 if len(answer_s) else None,
        implied_rows=implied_rows(by_length, asked.keys, measured.rows_of, probed),
        choice_p=choice_p(by_length, asked.keys) if asked.chosen else None,
        bottleneck="unknown",
        evidence=[],
        findings=[],
        verdict=Verdict.OK,
    )
    return found if told is None else found.model_copy(update=_told(told, failed))


def _told(told: ToolResult, failed: dict[str, int]) -> dict[str, object]:
    """What of a window comes from the summary of a generator that left no rows, and what nobody knows then. failed:
    what failed besides."""
    right = told.requests - told.failed
    errors = {} if told.socket_errors is None else told.socket_errors.model_dump()
    counted = {"wrong answers": told.failed, **{f"error: {name}": n for name, n in errors.items()}}
    return {
        "requests": told.requests,
        "good": right,
        "failed": {**{reason: n for reason, n in counted.items() if n}, **failed},
        "goodput_rps": told.requests_rps * right / told.requests if told.requests else 0.0,
        "service_time_ms": Times(
            samples=told.requests,
            mean=told.latency_mean_ms,
            p50=told.latency_p50_ms,
            p90=told.latency_p90_ms,
            p99=told.latency_p99_ms,
            max=told.latency_max_ms,
        ),
        "reported_2xx": right,
        **dict.fromkeys(("little", "service_time_hdr", "per_second", "in_flight_mean", "rows_2xx")),
    }


def unloaded(connections: int, seconds: float, during: HostCpu) -> Window:
    """A closed window without any figure but the host's own, for what is loaded by no generator. during: the CPU time
    of the host between its ends."""
    return Window(
        load="closed",
        duration_s=seconds,
        connections=connections,
        offered_rps=None,
        measured_s=seconds,
        requests=0,
        good=0,
        failed={},
        goodput_rps=0.0,
        little=None,
        service_time_ms=Times(samples=0),
        response_time_ms=None,
        lateness_ms=None,
        scheduled=None,
        unsent=None,
        app_cpu_us_per_request=None,
        app_memory_peak_bytes=None,
        roles={},
        statements={},
        proxy=None,
        pooler=None,
        host=HostActivity(
            steal_share=during.steal_s / during.total_s,
            foreign_cpu_share=None,
            softirq_share=during.softirq_s / during.total_s,
            harness_cpu_cores=None,
        ),
        probes=0,
        probe_failures=[],
        bottleneck="unknown",
        evidence=[],
        findings=[],
        verdict=Verdict.OK,
    )


def _named(asked: WindowConditions) -> list[str]:
    """The roles that figures are given of; several generators are one of them."""
    return [role for role in asked.cpusets if role == FIRST or not is_generator(role)]


def _usage(role: str, value: Callable[[Usage], float]) -> Callable[[Sample], float]:
    """Of a role: of all generators together."""
    if role == FIRST:
        return lambda sample: sum(value(used) for name, used in sample.usage.items() if is_generator(name))
    return lambda sample: value(sample.usage[role])


def _of_group(group: str) -> Callable[[Sample], float]:
    """CPU-seconds of one container."""
    return lambda sample: sample.usage[group].cpu_s


def _cpuset(role: str, asked: WindowConditions) -> str:
    """A role's CPU set; those of all generators together, which may run on several machines."""
    if role != FIRST:
        return asked.cpusets[role]
    sets = {cpuset: None for name, cpuset in asked.cpusets.items() if is_generator(name)}
    return "" if "" in sets else ",".join(sets)


def _cores(cpuset: str, asked: WindowConditions) -> int:
    return cpus_in(cpuset) or asked.host_cpus or 1


def _with_cpu(one: GeneratorShare, series: Series, asked: WindowConditions, spans: Spans) -> GeneratorShare:
    cpuset = asked.cpusets[one.role]
    used = {"cpu_cores": _rate(series, spans, _of_group(one.role)), "cpuset": cpuset}
    return one.model_copy(update={**used, "cores_available": _cores(cpuset, asked)})


def grown(series: Series, spans: Spans, value: Callable[[Sample], float]) -> list[float]:
    """By how much a counter grew in each span."""
    return [series.at(high, value) - series.at(low, value) for low, high in spans]


def _rate(series: Series, spans: Spans, value: Callable[[Sample], float]) -> float:
    return sum(grown(series, spans, value)) / sum(high - low for low, high in spans)


def _within(series: Series, spans: Spans) -> list[Sample]:
    return [sample for low, high in spans for sample in series.between(low, high)]


def _outside_share(own: Own, measured: Measured, cost_us: float | None, service_s: Floats) -> float | None:
    """CPU of the application in the others' slices, by that in its own. What it uses when idle, and what the harness's own
    requests cost it there, is not counted, nor what its idle rate may be wrong by, nor what it does for what was in flight at
    a switch. cost_us: of a request; None: nothing was answered. service_s: of its answers. Returns None where its idle rate is
    not known, and where answers take so long that no second of the others is free of them."""
    if measured.idle_cores is None or cost_us is None or not len(service_s):
        return None
    series, of_app = measured.series, _usage("app", lambda usage: usage.cpu_s)
    outside = _from_readings(series, own.outside(DRAINS * float(np.quantile(service_s, 0.99))))
    seconds, used_s = sum(high - low for low, high in outside), sum(grown(series, own.spans, of_app))
    if not used_s or not seconds:
        return None
    probes = measured.probes * seconds / (series.samples[-1].at_s - series.samples[0].at_s)
    more_s = sum(grown(series, outside, of_app)) - measured.idle_cores * seconds - probes * cost_us / 1e6
    return max(min(more_s, 0.0), more_s - IDLE_ERROR_CORES * seconds) / used_s


def _from_readings(series: Series, spans: Spans) -> Spans:
    """Each span from the first reading of the counters in it on: what was used before that would be spread over it. A span
    ends with a reading (tandem.lab.slices)."""
    times = [sample.at_s for sample in series.samples]
    found = [(next((at_s for at_s in times if at_s >= low), high), high) for low, high in spans]
    return [(low, high) for low, high in found if low < high]


def _slices(
    own: Own,
    slices: Ints,
    good: NDArray[np.bool_],
    timed: NDArray[np.bool_],
    series: Series,
    outside_share: float | None,
) -> Slices:
    return Slices(
        from_s=[low - own.began_s for low, _ in own.spans],
        measured_s=[high - low for low, high in own.spans],
        good=np.bincount(slices[(slices >= 0) & good], minlength=len(own.spans)).tolist(),
        app_cpu_s=grown(series, own.spans, _usage("app", lambda usage: usage.cpu_s)),
        not_timed=int(((slices >= 0) & ~timed).sum()),
        clock_error_ms=None if own.clock_error_s is None else own.clock_error_s * 1e3,
        outside_cpu_share=outside_share,
    )


def _role(role: str, series: Series, asked: WindowConditions, spans: Spans) -> Role:
    cpuset = _cpuset(role, asked)
    memory = _usage(role, lambda usage: usage.anonymous_bytes)
    throttled = _usage(role, lambda usage: usage.throttled_s)
    return Role(
        cpu_cores=_rate(series, spans, _usage(role, lambda usage: usage.cpu_s)),
        cpuset=cpuset,
        cores_available=_cores(cpuset, asked),
        memory_peak_bytes=round(max(memory(sample) for sample in series.samples)),
        throttled_s=throttled(series.samples[-1]) - throttled(series.samples[0]),
    )


def foreign_cores(series: Series, spans: Spans, ours: Collection[str]) -> tuple[float, float]:
    """What processes beside the groups of these names used, in cores: at least and at most.

    A group's time contains the interrupts that came while it ran, and user and system time do not: that difference is
    nobody's CPU. So what all groups used is taken where the host tells, and the kernel's ticks bound it from above.
    """
    used = sum(_rate(series, spans, _of_group(group)) for group in ours)
    busy = _rate(series, spans, lambda sample: sample.host.busy_s)
    ticks = busy + _rate(series, spans, lambda sample: sample.host.softirq_s)
    known = all(sample.host.processes_s is not None for sample in series.samples)
    every = _rate(series, spans, lambda sample: sample.host.processes_s or 0.0) if known else busy
    return max(0.0, every - used), max(0.0, every - used, ticks - used)


def _host(series: Series, spans: Spans) -> HostActivity:
    total = _rate(series, spans, lambda sample: sample.host.total_s)
    ours = series.samples[0].usage
    least, most = (cores / total for cores in foreign_cores(series, spans, ours))
    return HostActivity(
        steal_share=_rate(series, spans, lambda sample: sample.host.steal_s) / total,
        steal_told=series.samples[-1].host.steal_s > 0,
        foreign_cpu_share=least,
        foreign_cpu_interval=(least, most),
        softirq_share=_rate(series, spans, lambda sample: sample.host.softirq_s) / total,
        harness_cpu_cores=_rate(series, spans, _usage(HARNESS, lambda usage: usage.cpu_s))
        if HARNESS in ours
        else None,
    )


def _watched(watched: Watched | None, spans: Spans) -> dict[str, object]:
    """What of HostActivity is read before and after a window rather than sampled."""
    if watched is None:
        return {}
    before, after = watched.clocks
    drift_s = (after.wall_s - before.wall_s) - (after.monotonic_s - before.monotonic_s)
    return {
        "hiccup": disturbance.hiccup(watched.oversleep, spans[0][0], spans[-1][1]),
        "clock_drift_ms": drift_s * 1e3,
        "clock_changed": None if None in (before.source, after.source) else before.source != after.source,
        "swapped_pages": watched.swapped_pages,
        "listen_overflows": watched.listen_overflows,
    }


def _per_second(good_end_s: Floats, series: Series, began_s: float, asked: WindowConditions) -> PerSecond:
    """The whole seconds of the measured part. Counters are sampled twice a second and interpolated."""
    first, last = int(np.ceil(asked.trim_start_s)), int(np.floor(asked.duration_s - asked.trim_end_s))
    seconds = list(range(first, last))
    good = np.bincount(good_end_s[good_end_s >= 0].astype(np.int64), minlength=max(last, 1))
    edges = [began_s + second for second in (*seconds, last)]

    def each(value: Callable[[Sample], float]) -> list[float]:
        return grown(series, list(pairwise(edges)), value) if seconds else []

    steal, total = each(lambda sample: sample.host.steal_s), each(lambda sample: sample.host.total_s)
    return PerSecond(
        second=seconds,
        good=good[first:last].tolist(),
        app_cpu_s=each(_usage("app", lambda usage: usage.cpu_s)),
        steal_share=[s / t if t > 0 else 0.0 for s, t in zip(steal, total, strict=True)],
        role_cpu_s={role: each(_usage(role, lambda usage: usage.cpu_s)) for role in _named(asked)},
        app_memory_bytes=[
            round(series.at(edge, _usage("app", lambda usage: usage.anonymous_bytes))) for edge in edges[1:]
        ],
    )


def _proxy(series: Series, spans: Spans) -> Proxy | None:
    first, last = series.samples[0].proxy, series.samples[-1].proxy
    if first is None or last is None:
        return None
    inside = [sample.proxy for sample in _within(series, spans) if sample.proxy]
    in_flight = [proxy.in_flight_now for proxy in inside]
    return Proxy(
        responses_2xx=last.responses_2xx - first.responses_2xx,
        responses_other=last.responses_other - first.responses_other,
        connection_errors=last.connection_errors - first.connection_errors,
        response_errors=last.response_errors - first.response_errors,
        queue_max=max((proxy.queue_now for proxy in inside), default=0),
        queue_mean=sum(proxy.queue_now for proxy in inside) / len(inside) if inside else None,
        connections_opened=last.connections_opened - first.connections_opened,
        in_flight_mean=float(np.mean(in_flight)) if inside else None,
        in_flight_error=float(np.std(in_flight, ddof=1) / len(inside) ** 0.5) if len(inside) > 1 else None,
    )


def _lock_waits(series: Series, spans: Spans) -> float | None:
    waits = [one.lock_waits for one in _within(series, spans) if one.lock_waits is not None]
    return sum(waits) / len(waits) if waits else None


def _pooler(series: Series, spans: Spans) -> Pooler | None:
    first, last = series.samples[0].pooler, series.samples[-1].pooler
    if first is None or last is None:
        return None
    inside = [sample.pooler for sample in _within(series, spans) if sample.pooler]
    queries = last.queries - first.queries
    return Pooler(
        queries=queries,
        wait_us_per_query=(last.wait_us - first.wait_us) / queries if queries else None,
        clients_waiting_max=max((pooler.clients_waiting for pooler in inside), default=0),
        servers_active_max=max((pooler.servers_active for pooler in inside), default=0),
        servers_active_mean=sum(pooler.servers_active for pooler in inside) / len(inside) if inside else None,
    )
