"""Puts a window's figures together from the generator's rows and what the probes saw. Pure."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tandem.analysis import histogram
from tandem.hosts.host import HostCpu, Usage
from tandem.judge import counters
from tandem.judge.by_second import by_second, choice_p, growth, implied_rows
from tandem.judge.counters import RoleCounters, Spans, cpu_s, grown, usage
from tandem.judge.judge import utilisation_bound
from tandem.judge.slices import OwnSlices
from tandem.load import rows as rows_
from tandem.load.generator import TIMEOUT_S, Report, ToolResult
from tandem.load.rows import Floats, Ints, OpenLoop, Rows
from tandem.probes.disturbances import Disturbances
from tandem.probes.pools import PoolUse
from tandem.probes.postgres import StatementCounts
from tandem.probes.sampler import Counted, Probed, Series
from tandem.probes.threads import ContextSwitches
from tandem.record.host import HostActivity
from tandem.record.part import Part
from tandem.record.window import (
    AnswerFigures,
    AskedLoad,
    ClassFigures,
    Cost,
    DatabaseWork,
    GeneratorShare,
    OpenLoopFigures,
    PathCounts,
    ProbedBodies,
    Slices,
    Times,
    Window,
)

DRAINS = 2.0
"""Times the p99 of its response times: so long after a switch a variant may still answer what was in flight,
because it shares the CPUs with the one that has its turn."""
IDLE_ERROR_CORES = 0.0005
"""One second of rest misses what a program does more seldom. Of nine programs that took turns none used more than 0.0004
cores beyond its idle rate. Beside eight others that is 2 % of a program that uses 0.15 cores in its own slices."""

type Seen = Part | Counted | Probed | StatementCounts | ContextSwitches | Disturbances | PoolUse | None
"""A probe's part: a part of the window as it is, or what is figured out together with the rows."""
type Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Measured:
    """The rows and counters that a window left."""

    rows: Rows
    report: Report
    began_s: float
    """time.time() when the load began."""
    seen: Sequence[Seen]
    """The part of each probe."""
    own: OwnSlices | None = None
    """The variant's slices, where variants took turns; `began_s` is then when its rows count from."""
    idle_cores: float | None = None
    """Cores that the application used before any load; None: not looked at."""
    generators: list[GeneratorShare] = field(default_factory=list)
    """Each generator, but for its CPU, where several shared the load and their rows are merged."""

    def of[P](self, kind: type[P]) -> P | None:
        """The part of this kind; None where no probe has one."""
        return next((part for part in self.seen if isinstance(part, kind)), None)

    @property
    def counted(self) -> Counted:
        """Raises KeyError where nothing was counted: there is no window without that."""
        if (found := self.of(Counted)) is None:
            raise KeyError("no counters were sampled")
        return found

    @property
    def probed(self) -> Probed:
        return self.of(Probed) or Probed(0, [], [])


@dataclass(frozen=True)
class ClassConditions:
    """What is right for the requests of one class of a mix."""

    name: str
    weight: int
    status: int
    """Status of a right answer."""
    lengths: set[int] | None
    """Lengths that a right body can have, in bytes; None: any."""


@dataclass(frozen=True)
class WindowConditions:
    """The load that was asked for, and what is a right answer to it."""

    load: Literal["closed", "open"]
    duration_s: float
    connections: int
    rate_rps: int | None
    trim_start_s: float
    trim_end_s: float
    classes: list[ClassConditions]
    """The classes of a mix, its own first; most loads have one."""
    cpusets: dict[str, str]
    """Role -> CPU set, "" for all."""
    host_cpus: int = 0
    keys: dict[int, int] = field(default_factory=dict)
    """Key that a right answer can be about -> its length."""
    chosen: bool = False
    """The database draws one of the keys for each answer."""
    timeout_s: float = float(TIMEOUT_S)
    arrivals: Literal["paced", "poisson", "bursts"] | None = None

    @property
    def mixed(self) -> bool:
        return len(self.classes) > 1

    def right(self, rows: Rows) -> Mask:
        """Which rows are right answers."""
        found = np.zeros(len(rows), dtype=np.bool_)
        for number, one in enumerate(self.classes):
            found |= rows.is_of(number) & rows_.right_answers(rows, one.status, one.lengths)
        return found

    @property
    def measured_until_s(self) -> float:
        """The end of the measured part, since the load began."""
        return self.duration_s - self.trim_end_s


class MeasuredPart:
    """The rows and the seconds that figures come from, of what a window left."""

    spans: Spans
    measured_s: float
    steady: Mask
    """Rows that ended in the measured part."""
    timed: Mask
    """Rows in the measured part whose times count."""
    in_flight: float | None
    slices: Ints | None = None
    """The number of each row's slice, where variants took turns."""
    load: OpenLoop | None = None
    """The schedule of an open loop; None in a closed one."""

    def __init__(self, measured: Measured, asked: WindowConditions) -> None:
        rows, own, began_s = measured.rows, measured.own, measured.began_s
        trims = asked.duration_s, asked.trim_start_s, asked.trim_end_s
        self.measured, self.asked, self.rows = measured, asked, rows
        self.series, self.took_s = measured.counted.series, rows.end_s - rows.start_s
        self.good = asked.right(rows)
        """Rows that are right answers, of the whole window."""
        if own is None:
            self.spans = [(began_s + asked.trim_start_s, began_s + asked.duration_s - asked.trim_end_s)]
            self.measured_s = asked.duration_s - asked.trim_start_s - asked.trim_end_s
            self.steady = self.timed = rows_.steady(rows, *trims)
            self.in_flight = rows_.in_flight(rows, *trims)
        else:
            self.slices, self.spans = own.slice_of(rows), own.spans
            self.measured_s = sum(high - low for low, high in self.spans)
            self.steady, self.timed = self.slices >= 0, own.timed(rows, self.slices)
            self.in_flight = own.in_flight(rows)
        if asked.rate_rps is not None:
            self.load = rows_.open_loop(rows, asked.rate_rps, asked.duration_s, measured.report.errors)


def window(measured: Measured, asked: WindowConditions) -> Window:
    """The window, not yet judged."""
    part = MeasuredPart(measured, asked)
    series, spans = part.series, part.spans
    roles = RoleCounters(series, spans, asked.cpusets, asked.host_cpus)
    answers, cost = _answers(part, roles), _cost(part, roles)
    database, pool = measured.of(StatementCounts), measured.of(PoolUse)
    made = Window.of(
        AskedLoad(
            load=asked.load,
            duration_s=asked.duration_s,
            connections=asked.connections,
            offered_rps=asked.rate_rps,
            arrivals=asked.arrivals,
            measured_s=part.measured_s,
        ),
        answers if measured.report.told is None else _of_summary(measured.report.told, answers),
        _open_loop(part),
        cost,
        PathCounts(
            proxy=counters.proxy(series, spans),
            pooler=counters.pooler(series, spans),
            lock_waits_mean=counters.lock_waits(series, spans),
            db_connections_max=measured.counted.db_connections_max,
            app_pool_wait_ms=pool.wait_ms if pool else None,
        ),
        ProbedBodies(probes=measured.probed.asked, probe_failures=measured.probed.wrong),
        database.work if database else DatabaseWork(statements={}),
        *(seen for seen in measured.seen if isinstance(seen, Part)),
        host=counters.host(series, spans, measured.of(Disturbances)),
        slices=_slices(part, cost.app_cpu_us_per_request),
    )
    made.generators = [roles.with_cpu(one) for one in measured.generators]
    return made


def unloaded(connections: int, seconds: float, during: HostCpu) -> Window:
    """A closed window without any figure but the host's own, for what is loaded by no generator. during: the CPU time
    of the host between its ends."""
    return Window.of(
        AskedLoad(load="closed", duration_s=seconds, connections=connections, measured_s=seconds),
        AnswerFigures(requests=0, good=0, failed={}, goodput_rps=0.0, service_time_ms=Times(samples=0)),
        Cost(roles={}),
        DatabaseWork(statements={}),
        ProbedBodies(probes=0, probe_failures=[]),
        host=HostActivity(
            steal_share=during.steal_s / during.total_s,
            foreign_cpu_share=None,
            softirq_share=during.softirq_s / during.total_s,
            harness_cpu_cores=None,
        ),
    )


# ---- the answers ----


def _answers(part: MeasuredPart, roles: RoleCounters) -> AnswerFigures:
    measured, asked, rows, good = part.measured, part.asked, part.rows, part.good
    report, probed, database = measured.report, measured.probed, measured.of(StatementCounts)
    failed = Counter[str]()
    for number, one in enumerate(asked.classes):
        failed.update(rows_.failures(rows.at(rows.is_of(number)), one.status, one.lengths))
    failed.update({f"error: {reason}": n for reason, n in report.errorDistribution.items()})
    if probed.refused:
        failed["probe not answered"] = len(probed.refused)
    own = good & rows.is_of(0)
    timed_s, right_s = part.took_s[part.timed & good], part.took_s[own]
    counted_s = timed_s if measured.own else right_s
    lengths, numbers = np.unique(rows.length_bytes[own], return_counts=True)
    by_length = dict(zip(lengths.tolist(), numbers.tolist(), strict=True))
    closed = asked.load == "closed" and part.in_flight is not None
    whole_seconds = int(np.ceil(asked.trim_start_s)), int(np.floor(asked.measured_until_s))
    return AnswerFigures(
        requests=len(rows),
        good=int(good.sum()),
        failed=dict(failed),
        retried=report.retried,
        goodput_rps=float((good & part.steady).sum() / part.measured_s),
        little=part.in_flight / asked.connections if closed and part.in_flight is not None else None,
        service_time_ms=rows_.times(timed_s),
        service_time_hdr=histogram.encode(timed_s),
        per_second=None
        if measured.own
        else roles.per_second(rows.end_s[good], measured.began_s, *whole_seconds),
        in_flight_mean=part.in_flight,
        rows_2xx=int((rows.status // 100 == 2).sum()),
        reported_2xx=report.answered_2xx,
        classes=[_class_of(part, number) for number in range(len(asked.classes))] if asked.mixed else [],
        answer_ms_min=float(right_s.min()) * 1e3 if len(right_s) else None,
        answer_ms_max=float(counted_s.max()) * 1e3 if len(counted_s) else None,
        implied_rows=implied_rows(
            by_length, asked.keys, database.rows_of if database else {}, probed.asked - len(probed.refused)
        ),
        choice_p=choice_p(by_length, asked.keys) if asked.chosen else None,
    )


def _class_of(part: MeasuredPart, number: int) -> ClassFigures:
    """The figures of one class of a mix."""
    one, errors = part.asked.classes[number], part.measured.report.errors_of.get(number, 0)
    of = part.rows.is_of(number)
    right = of & part.good
    response = None if part.load is None else _response(part, part.load, number, errors)
    return ClassFigures(
        name=one.name,
        weight=one.weight,
        good=int(right.sum()),
        failed=int((of & ~part.good).sum()) + errors,
        goodput_rps=float((right & part.steady).sum() / part.measured_s),
        service_time_ms=rows_.times(part.took_s[right & part.timed]),
        answer_ms_min=float(part.took_s[right].min()) * 1e3 if right.any() else None,
        response_time_ms=rows_.times(*response) if response else None,
        response_time_hdr=histogram.encode(*response) if response else None,
    )


def _inside(load: OpenLoop, asked: WindowConditions) -> Mask:
    """What was due in the measured part."""
    return np.asarray((load.intended_s >= asked.trim_start_s) & (load.intended_s < asked.measured_until_s))


def _response(part: MeasuredPart, load: OpenLoop, number: int, errors: int) -> tuple[Floats, int, float]:
    """The response times of a class: of right answers, how many never came, and what these count as. As never answered count
    wrong answers in the measured part, and all errors, because nobody knows when they were due."""
    inside = _inside(load, part.asked) & part.rows.is_of(number)
    wrong = int((inside & ~part.good).sum())
    return load.response_s[inside & part.good], wrong + errors, part.asked.timeout_s


def _of_summary(told: ToolResult, answers: AnswerFigures) -> AnswerFigures:
    """The answers by the summary of a generator that left no rows. answers: by those rows; what failed besides, and
    what needs no row, is there."""
    right = told.requests - told.failed
    errors: dict[str, int] = {} if told.socket_errors is None else told.socket_errors.model_dump()
    counted = {"wrong answers": told.failed, **{f"error: {name}": n for name, n in errors.items()}}
    return AnswerFigures(
        requests=told.requests,
        good=right,
        failed={**{reason: n for reason, n in counted.items() if n}, **answers.failed},
        goodput_rps=told.requests_rps * right / told.requests if told.requests else 0.0,
        service_time_ms=Times(
            samples=told.requests,
            mean=told.latency_mean_ms,
            p50=told.latency_p50_ms,
            p90=told.latency_p90_ms,
            p99=told.latency_p99_ms,
            max=told.latency_max_ms,
        ),
        reported_2xx=right,
        answer_ms_min=answers.answer_ms_min,
        implied_rows=answers.implied_rows,
        choice_p=answers.choice_p,
    )


def _open_loop(part: MeasuredPart) -> OpenLoopFigures:
    """Times of what an open loop intended in its measured part; of a mix, those of its own class."""
    load, asked, of = part.load, part.asked, part.rows.is_of(0)
    if load is None:
        return OpenLoopFigures()
    report = part.measured.report
    response = _response(part, load, 0, report.errors_of.get(0, 0) if asked.mixed else report.errors)
    own = replace(load, intended_s=load.intended_s[of], response_s=load.response_s[of])
    return OpenLoopFigures(
        response_time_ms=rows_.times(*response),
        response_time_hdr=histogram.encode(*response),
        lateness_ms=rows_.times(load.lateness_s[_inside(load, asked)]),
        scheduled=load.scheduled,
        unsent=load.unsent,
        responses_per_second=by_second(own, asked.duration_s),
        growth=growth(own, asked.trim_start_s, asked.measured_until_s),
    )


# ---- what they cost ----


def _cost(part: MeasuredPart, roles: RoleCounters) -> Cost:
    measured, own, told = part.measured, part.measured.own, part.measured.report.told
    first, last = part.series.samples[0], part.series.samples[-1]
    probes = measured.probed.asked
    every = (len(part.rows) if told is None else told.requests) + probes
    answered = float(every)
    if own is not None:
        answered = float(part.steady.sum()) + probes * part.measured_s / (last.at_s - first.at_s)

    def us_per_request(value: Callable[[Usage], float]) -> float | None:
        """CPU time per request by a counter of the application, in the seconds of the answers that are counted."""
        of_app = usage("app", value)
        whole = of_app(last) - of_app(first)
        used_s = whole if own is None else sum(grown(part.series, part.spans, of_app))
        return used_s / answered * 1e6 if answered else None

    busiest_s, switched = measured.counted.busiest_thread_s, measured.of(ContextSwitches)
    of_roles = roles.roles(None if busiest_s is None else busiest_s / part.asked.duration_s)
    bound = utilisation_bound(float(part.steady.sum()) / part.measured_s, of_roles)
    known = first.usage["app"].system_s is not None
    return Cost(
        app_cpu_us_per_request=us_per_request(lambda used: used.cpu_s),
        app_system_cpu_us_per_request=us_per_request(lambda used: used.system_s or 0.0) if known else None,
        app_context_switches_per_request=switched.number / every
        if switched is not None and switched.number is not None and every
        else None,
        app_memory_peak_bytes=of_roles["app"].memory_peak_bytes,
        app_memory_counts="all",
        roles=of_roles,
        utilisation_bound_rps=bound[0] if bound else None,
        utilisation_bound_by=bound[1] if bound else None,
    )


# ---- slices ----


def _slices(part: MeasuredPart, cost_us: float | None) -> Slices | None:
    """A variant's slices; None where variants did not take turns. cost_us: of a request; None: nothing was answered."""
    own, slices = part.measured.own, part.slices
    if own is None or slices is None:
        return None
    return Slices(
        from_s=[low - own.began_s for low, _ in own.spans],
        measured_s=[high - low for low, high in own.spans],
        good=np.bincount(slices[(slices >= 0) & part.good], minlength=len(own.spans)).tolist(),
        app_cpu_s=grown(part.series, own.spans, cpu_s("app")),
        not_timed=int(((slices >= 0) & ~part.timed).sum()),
        clock_error_ms=None if own.clock_error_s is None else own.clock_error_s * 1e3,
        outside_cpu_share=_outside_share(part, own, cost_us),
    )


def _outside_share(part: MeasuredPart, own: OwnSlices, cost_us: float | None) -> float | None:
    """CPU of the application in the others' slices, by that in its own. What it uses when idle, and what the harness's
    own requests cost it there, is not counted, nor what its idle rate may be wrong by, nor what it does for what was in
    flight at a switch. cost_us: of a request; None: nothing was answered. Returns None where its idle rate is not known, and
    where answers take so long that no second of the others is free of them."""
    idle_cores, service_s = part.measured.idle_cores, part.took_s[part.timed & part.good]
    if idle_cores is None or cost_us is None or not len(service_s):
        return None
    series, of_app = part.series, cpu_s("app")
    outside = _from_readings(series, own.outside(DRAINS * float(np.quantile(service_s, 0.99))))
    seconds, used_s = sum(high - low for low, high in outside), sum(grown(series, own.spans, of_app))
    if not used_s or not seconds:
        return None
    probes = part.measured.probed.asked * seconds / (series.samples[-1].at_s - series.samples[0].at_s)
    more_s = sum(grown(series, outside, of_app)) - idle_cores * seconds - probes * cost_us / 1e6
    return max(min(more_s, 0.0), more_s - IDLE_ERROR_CORES * seconds) / used_s


def _from_readings(series: Series, spans: Spans) -> Spans:
    """Each span from the first reading of the counters in it on: what was used before that would be spread over it.
    A span ends with a reading (tandem.lab.slices)."""
    times = [sample.at_s for sample in series.samples]
    found = [(next((at_s for at_s in times if at_s >= low), high), high) for low, high in spans]
    return [(low, high) for low, high in found if low < high]
