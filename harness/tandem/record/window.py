"""One load window: what the generator, the probes and the checks say of it. Keys carry their unit; null: not measured."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from tandem.record.host import HostActivity, PerSecond
from tandem.record.part import Figure, Part


class Verdict(StrEnum):
    """Verdict on a result: what may be done with it."""

    OK = "ok"
    """Every check passed."""
    INVALID = "invalid"
    """The system under test or the load did not do what was asked; the figures mean nothing."""
    VOID = "void"
    """The host disturbed the measurement; the same run may well be good at another time."""
    FAILED = "failed"
    """Not measured: it ended before that."""


Severity = Literal["invalid", "void", "warning"]


class Finding(Part):
    """One thing that a check noticed."""

    code: str
    severity: Severity
    text: str

    @classmethod
    def of(cls, code: str, severity: Severity, text: str) -> "Finding":
        return cls(code=code, severity=severity, text=text)


class Times(Part):
    """A distribution in milliseconds; a percentile with fewer than 100 samples beyond it is null."""

    samples: int
    mean: Figure | None = None
    p50: Figure | None = None
    p90: Figure | None = None
    p99: Figure | None = None
    p999: Figure | None = None
    max: Figure | None = None
    censored: int = 0
    """Samples that never came: each counts as the time-out at least, `mean` is then null, and the largest is not
    known better than that."""


class Role(Part):
    """Use of the containers of one role during the steady part of a window."""

    cpu_cores: Figure
    """CPU-seconds per second."""
    cpuset: str
    cores_available: int
    memory_peak_bytes: int | None
    """Memory of its control group less clean file cache, the largest sample; anonymous memory in older records."""
    throttled_s: Figure
    busiest_thread_cores: Figure | None = None


class Resource(Part):
    """Something that a window can exhaust, and how far it was."""

    name: str
    tag: str
    """The bottleneck that it is."""
    utilisation: Figure
    """1: nothing of it was left."""
    limit: Figure
    """Utilisation from which on it counts as exhausted."""
    parts: dict[str, Figure] = Field(default_factory=dict)
    """Role -> its share, of a set of CPUs."""


class Statement(Part):
    calls: int
    rows: int
    exec_ms: Figure = 0.0
    """Time that the database spent on it; 0 in older records."""


class ImpliedRows(Part):
    """Rows that a statement returned if the answers are what they look like."""

    rows: Figure
    error: Figure
    """Standard error; answers of one length are not told apart."""
    most: int
    """Most rows for one answer."""


class Proxy(Part):
    """HAProxy's own count over the window."""

    responses_2xx: int
    responses_other: int
    connection_errors: int
    response_errors: int
    queue_max: int
    in_flight_mean: Figure | None
    queue_mean: Figure | None = None
    connections_opened: int | None = None
    """Connections that were opened to the application."""
    in_flight_error: Figure | None = None
    """Standard error of `in_flight_mean`: requests come in bursts, and a short window has few samples."""


class Pooler(Part):
    """PgBouncer's own count over the window."""

    queries: int
    wait_us_per_query: Figure | None
    clients_waiting_max: int
    servers_active_max: int
    servers_active_mean: Figure | None


class Growth(Part):
    """Movement of the response time's median over the measured part of an open loop."""

    slope_ms_per_s: Figure
    """Theil-Sen slope of the per-second medians."""
    first_third_ms: Figure
    last_third_ms: Figure
    growing: bool
    """A queue that does not end: slope and factor are both over their limits."""


class ResponsesPerSecond(Part):
    """An open loop's response times by the second in which the request was due: columns of equal length, from the
    beginning of the load to its end, with the seconds that no other figure is taken from. Few samples do not keep a
    percentile back here; null: no request that was due then was answered."""

    answered: list[int]
    p50_ms: list[Figure | None]
    p90_ms: list[Figure | None]
    p99_ms: list[Figure | None]
    p999_ms: list[Figure | None]


class DbRtt(Part):
    """The round trip from the application's network to the database and back, where a delay was asked for."""

    setting: int
    """Round trip that was asked for; the measured ones are what the application met."""
    before_p50: Figure
    """Median right before the load."""
    during_p50: Figure
    during_p90: Figure
    samples: int
    """Round trips measured during the load."""


class Tap(Part):
    """Answers of the load itself, read on the wire between generator and proxy (or application) in short bursts."""

    bursts: int
    bytes: int
    """Bytes captured, of all applications of the window together; so are the packets and the CPU time."""
    packets_lost: int
    """Packets that were lost because the capture's buffer was full. What they belong to is not compared."""
    begun: int
    """Requests of the load that were seen."""
    compared: int
    """Requests of `begun` whose whole answer was seen and has the right status."""
    compared_of_class: list[int] = Field(default_factory=list)
    """`compared`, by class of a mix."""
    wrong: int
    wrong_first: list[str]
    """A few wrong answers: what was asked, what is right and what came."""
    capture_cpu_s: Figure
    """CPU time of the captures, during the load."""
    compare_cpu_s: Figure
    """CPU time of the comparison, after the load."""
    held_back: int | None = None
    """Compared answers whose packets are a delayed acknowledgement apart (40 ms); null in older records."""
    apart: int | None = None
    """Compared answers whose packets are half as much or twice as much apart."""
    problem: str | None = None
    """Why nothing, or not all, could be captured."""


class DatabaseWire(Part):
    """Statements of the application that were read on the wire in short bursts, where they arrive."""

    executed: int
    """Statements, of flights that were seen as a whole."""
    flights: int
    """Times that it sent some and waited for the answer: as many as statements, where each waits for the one before."""
    connections: int
    packets_lost: int
    """Packets lost, of all applications of the window together; so is the CPU time."""
    cpu_s: Figure
    """CPU time of the captures, during the load."""
    problem: str | None = None
    """Why nothing, or not all, could be captured."""


class Slices(Part):
    """A variant's slices of a window that variants share in turns: columns of equal length. Figures come from these
    seconds alone."""

    from_s: list[Figure]
    """When each slice's measured part began, since the window's first slice."""
    measured_s: list[Figure]
    good: list[int]
    app_cpu_s: list[Figure]
    not_timed: int
    """Answers in these seconds that were in flight at a switch: counted, and left out of the times."""
    clock_error_ms: Figure | None
    """Milliseconds by which the rows and the switches contradict each other; null: there is no way to tell."""
    outside_cpu_share: Figure | None = None
    """CPU that the application used in the measured parts of the others' slices, beyond what it uses when idle and for
    the harness's own requests, by `app_cpu_s`. Below zero: it was less idle before the load. Null: its idle rate is not
    known, or its answers take so long that what was in flight at a switch lasts through the others' slices."""


class GeneratorShare(Part):
    """One of the generators that a window's load was dealt out to."""

    role: str
    """Role of its container."""
    connections: int
    offered_rps: Figure | None
    """Share of the rate; null in a closed loop."""
    begins_ms: Figure
    """Phase: how much later than the first generator it had to begin."""
    late_ms: Figure | None = None
    """Time from when it had to begin to when it began; null: it never did, or nobody knows."""
    requests: int = 0
    """Number of its rows."""
    errors: int = 0
    """Requests that have no row."""
    scheduled: int | None = None
    lateness_ms: Times | None = None
    """Open loop only: how late it was, by its own clock."""
    cpu_cores: Figure = 0.0
    """CPU-seconds per second, in the measured part. `roles` has the sum of all generators."""
    cpuset: str = ""
    cores_available: int = 1
    problem: str | None = None
    """Why its rows are missing."""


class ClassFigures(Part):
    """One class of a mix, by the generator's rows."""

    name: str
    """The scenario that its requests are of."""
    weight: int
    good: int
    failed: int
    """Wrong answers, and requests that got none."""
    goodput_rps: Figure
    service_time_ms: Times
    answer_ms_min: Figure | None = None
    response_time_ms: Times | None = None
    """Times from the intended send to the last byte; null in a closed loop."""
    response_time_hdr: str | None = None


# ---- the parts of a window, each from one place: the generator's rows, the counters, a probe ----


class AskedLoad(Part):
    """The load that was asked for, and how much of it figures come from."""

    load: Literal["closed", "open"]
    duration_s: Figure
    connections: int
    offered_rps: Figure | None = None
    """Open loop: the rate of intended sends. Closed loop: null, the rate follows the answers."""
    arrivals: Literal["paced", "poisson", "bursts"] | None = None
    """How the requests of an open loop arrived, by a schedule; null: evenly, paced by the generator itself."""
    measured_s: Figure
    """Length of the part that figures come from: the window without its first and last seconds."""


class AnswerFigures(Part):
    """The answers, by the generator's rows."""

    requests: int
    """Rows of the whole window: every request that was answered."""
    good: int
    """Rows with the right status and a right length, whole window."""
    failed: dict[str, int]
    """Requests without a right answer, by reason."""
    retried: int | None = None
    """How often a request without an answer was sent again; null where clients do not try again."""
    goodput_rps: Figure
    little: Figure | None = None
    """Closed loop: throughput x mean service time / connections; 1 when every connection was kept busy."""
    service_time_ms: Times
    service_time_hdr: str | None = None
    """`service_time_ms` as an HDR histogram (V2, base64, microseconds, three digits); histograms can be merged."""
    per_second: PerSecond | None = None
    in_flight_mean: Figure | None = None
    """Requests in flight by the rows: sum of the times in flight inside the measured part by its length."""
    rows_2xx: int | None = None
    reported_2xx: int | None = None
    """The generator's own count, beside that of its rows."""
    classes: list[ClassFigures] = Field(default_factory=list)
    """The classes of a mix, its own first. Of a mix the quickest and the slowest answer, what answers imply and the response
    times are those of its own class; all else is of all requests."""
    answer_ms_min: Figure | None = None
    """The quickest right answer of the whole window, from its send to its last byte."""
    answer_ms_max: Figure | None = None
    """The slowest right answer, also of those that were in flight when the load ended. Where variants took turns, of
    those that are timed."""
    implied_rows: dict[str, ImpliedRows] = Field(default_factory=dict)
    """Statement -> the rows that the answers of the window imply; only of statements whose rows depend on the answer."""
    choice_p: Figure | None = None
    """Probability of a choice as uneven as the answers', where the database draws what an answer is about."""


class OpenLoopFigures(Part):
    """The figures of an open loop; null in a closed one."""

    response_time_ms: Times | None = None
    """Times from the intended send to the last byte."""
    response_time_hdr: str | None = None
    lateness_ms: Times | None = None
    """Lateness of the generator."""
    scheduled: int | None = None
    unsent: int | None = None
    responses_per_second: ResponsesPerSecond | None = None
    growth: Growth | None = None
    """Whether a backlog grew. Null below four seconds with answers."""


class Cost(Part):
    """The CPU time and memory that the load took, by the counters of the control groups."""

    app_cpu_us_per_request: Figure | None = None
    app_system_cpu_us_per_request: Figure | None = None
    """The part of `app_cpu_us_per_request` that was spent in the kernel, which counts it by ticks."""
    app_context_switches_per_request: Figure | None = None
    """Times that a thread of the application gave up its CPU to wait, over the whole window; null where threads that did
    much of the work ended meanwhile."""
    app_memory_peak_bytes: int | None = None
    app_memory_counts: Literal["anonymous", "all"] = "anonymous"
    """Anonymous memory alone, as in older records, or all but clean file cache: no figure of one is compared with the other."""
    roles: dict[str, Role]
    utilisation_bound_rps: Figure | None = None
    """Requests per second at which the first CPU set would be exhausted at this cost per request."""
    utilisation_bound_by: str | None = None


class PathCounts(Part):
    """Counts of the services between the generator and the database, and of the application's way to it."""

    proxy: Proxy | None = None
    pooler: Pooler | None = None
    lock_waits_mean: Figure | None = None
    """Database connections of the application that waited for a lock in the mean of the samples."""
    db_connections_max: int | None = None
    """The most connections that a sample found from the application to the database, or to PgBouncer before it."""
    app_pool_wait_ms: Figure | None = None
    """Mean wait per checkout of a connection from the application's own pool, over the whole window, as the pool
    counts it; null where it does not tell."""


class DatabaseWork(Part):
    """The work that the database did for the application, by its own counters."""

    statements: dict[str, Statement]
    """pg_stat_statements over the window, by the contract's names; what it does not name is under `other`."""
    foreign_settings: list[str] = Field(default_factory=list)
    """Settings of role, database or session that the contract does not name, since the application's start."""
    wal_syncs: int | None = None
    """Flushes of PostgreSQL's log to disk. Its processes tell that up to a second late."""


class StoredRows(Part):
    """The growth of the table that every right answer has to add a row to."""

    stored_rows: int | None = None


class ProbedBodies(Part):
    """Requests that the harness itself sent in between, to compare whole bodies with the golden ones."""

    probes: int
    probe_failures: list[str]


class IdleEstablished(Part):
    """Silent connections, where they are part of the scenario."""

    idle_connections: int | None = None
    """Silent connections that stayed open."""


class Distance(Part):
    """The way to the database, where a delay was asked for."""

    db_rtt_ms: DbRtt | None = None


class BothEnds(Part):
    """Both ends of the connections, where the generator asks the application itself."""

    established: int | None = None
    """Most connections that were open."""
    connections_opened: int | None = None
    """Connections that were opened to the application during the load, as its kernel counts them."""
    app_threads: int | None = None
    """Threads of the application's first process, at most."""
    generator_thread_cores: Figure | None = None
    """Share of a core that the generator's busiest thread used."""


class OpenDescriptors(Part):
    """What the application keeps open."""

    app_descriptors: int | None = None
    """File descriptors of all its processes when the load had ended; null where the kernel does not tell."""


class OnDatabaseWire(Part):
    """Statements that were read on the wire."""

    database_wire: DatabaseWire | None = None


class OnWire(Part):
    """Answers that were read on the wire."""

    tap: Tap | None = None


class Window(
    OnWire,
    OnDatabaseWire,
    OpenDescriptors,
    BothEnds,
    Distance,
    IdleEstablished,
    ProbedBodies,
    StoredRows,
    DatabaseWork,
    PathCounts,
    Cost,
    OpenLoopFigures,
    AnswerFigures,
    AskedLoad,
):
    """One load window of a trial, computed from the generator's rows and from counters. In a record the last part
    comes first."""

    host: HostActivity
    slices: Slices | None = None
    """The variant's slices, where variants took turns: `duration_s` is then how long its generator ran."""
    generators: list[GeneratorShare] = Field(default_factory=list)
    """Each generator by itself, where several shared the load. All other figures are of their rows together."""
    resources: list[Resource] = Field(default_factory=list)
    """CPU sets, threads, pools and the distance, the most used first."""
    bottleneck: str
    """Tag of what limited the window; several joined by `+` where they are as busy as each other
    (tandem.judge.bottleneck)."""
    evidence: list[str]
    findings: list[Finding]
    verdict: Verdict

    @property
    def unanswered(self) -> int:
        """Requests that were sent and had no right answer; each may have done its work nevertheless."""
        return sum(self.failed.values()) + (self.retried or 0)

    @property
    def class_names(self) -> list[str]:
        """The names of a mix's classes."""
        return [one.name for one in self.classes]

    @classmethod
    def of(cls, *parts: Part, host: HostActivity, slices: Slices | None = None) -> "Window":
        """The window of these parts, not yet judged. Of a field that two parts have, the later one counts."""
        fields = {name: getattr(part, name) for part in parts for name in type(part).model_fields}
        unjudged = {"bottleneck": "unknown", "evidence": [], "findings": [], "verdict": Verdict.OK}
        return cls.model_validate({**fields, "host": host, "slices": slices, **unjudged})
