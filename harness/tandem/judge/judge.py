"""Applies the validity gates to a window. Pure.

The thresholds are those of a laptop or a shared runner; docs/reference/checks-and-verdicts.md lists them.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tandem.catalog.scenario import EARLY_MS
from tandem.judge import generators
from tandem.judge.disturbance import disturbances, slowed
from tandem.load.rows import WRONG_LENGTH
from tandem.record.window import Finding, ImpliedRows, Role, Statement, Verdict, Window

WORK_TOLERANCE = 0.0005
"""HAProxy, the database and the generator must agree on the number of requests to this share, and to those that failed.
In the committed reference they agree to the last one (harness/tests/repository/test_committed_records.py)."""
ROWS_ERRORS = 6
"""Standard errors of the rows that the answers imply: one window in a billion is that far off by chance."""
CHOICE_P_LEAST = 1e-9
"""Probability of one window: at one in a billion no right application is accused in the life of this program."""
ONE_ROW = frozenset({"session", "recipe_random", "recipe_by_id", "note_insert", "event_insert"})
"""Statements that return, or write, one row for each right answer, whatever it is about."""
TRANSACTION = ("begin", "commit")
REFUSED = "probe not answered"
OVERLOADED = "status 503"
SYNCS_LATE_S = 2.0
"""A busy process of PostgreSQL tells once a second how often it flushed: so much of the window may be missing."""
OWN_WARN = 0.01
"""The harness's own requests, by all answers of a closed loop: beyond, its rate may be visibly too low."""
SLACK = 20
FOREIGN_MS, FOREIGN_TIME_MOST = 10.0, 0.01
"""Time of statements that the contract does not name: for each that is forgiven, and by the time of all."""
STARVED_BY_MEDIAN, STARVED_MS = 10, 250.0
"""The longest wait of a closed loop, by its median, and at least. Of 2,516 committed windows nine pass both, all of a
program with thousands of threads."""
STEAL_WARN, STEAL_VOID = 0.02, 0.10
FOREIGN_WARN, FOREIGN_VOID = 0.05, 0.15
HARNESS_CORES_WARN = 0.05
LATENESS_P99_WARN_MS = 3.0
LATENESS_GAP_VOID_MS = 100.0
COMPLETE_LEAST = 0.995
FAILED_MOST, FAILED_SLACK = 0.0005, 1
"""Requests that may fail, by all, and one more. In the committed records none of any honest application did
(harness/tests/repository/test_committed_records.py)."""
CLOCK_APART_VOID_MS = 20.0
"""Limit as of the clock itself. A busy machine stops a generator some milliseconds late, which moves no row."""
OUTSIDE_WARN, OUTSIDE_VOID = 0.01, 0.05
"""CPU in the others' slices, by that in its own: this share of a request's cost is not counted."""
LITTLE_RANGE, LITTLE_RANGE_FAST = (0.97, 1.01), (0.90, 1.01)
"""The second where the mean service time is under a millisecond: the generator's own time counts there."""

DB_RTT_EXCESS_WARN = 0.30
"""The measured round trip to the database may exceed the one that was asked for by this share."""

REOPENED_MOST, REOPENED_SLACK = 0.002, 5
"""Connections that HAProxy (without it, the generator) opened to the application beyond those of the load, by requests, and
five more: beyond, they are not kept. In the committed records there were two more at most (the same test): the harness's own. Some servers
close a connection after a thousand requests on purpose (https://nginx.org/en/docs/http/ngx_http_core_module.html#keepalive_requests);
twice as often is no such server."""


@dataclass(frozen=True)
class Expectation:
    """The contract's expectation of one request of the scenario."""

    statements: list[str]
    resets: bool = False
    """DB_RESET=1: the driver's own reset statements are asked for."""
    time_zone: bool = False
    """DB_TIME_ZONE=request: SET TIME ZONE is one more statement of each request that asks the database."""
    idle_connections: int = 0
    db_pool_max: int | None = None
    """DB_POOL_MAX, where that many connections are kept."""
    least_ms: int = 0
    """Least time of a request: what it asks to be waited for, and its ways to a database that is far away."""
    refused_most: float = 0.0
    """Share of the requests that may be refused (OVERLOADED)."""
    prepared: bool = False
    """Each connection prepares a statement once, and is kept."""
    transactions_unseen: bool = False
    """BEGIN and COMMIT are prepared, and PostgreSQL counts the first execution of each alone."""
    pipelined: bool = False
    """DB_PIPELINE=1: statements that do not need one another are sent without waiting for an answer."""
    requests_per_connection: int = 0
    """Requests of which one is the last of its connection, at the client's will; 0: connections stay."""
    stores: bool = True
    """A right answer stands for a row, where rows are counted."""
    contract: bool = True
    """Connections are kept, and the database is asked the contract's statements and nothing else."""
    beside: tuple["Expectation", ...] = ()
    """Expectations of the other classes of a mix; all other fields are of its own class."""


def refused_share(window: Window) -> float:
    """Share of the requests that the application refused because it was overloaded."""
    requests = window.good + sum(window.failed.values())
    return window.failed.get(OVERLOADED, 0) / requests if requests else 0.0


def _agrees(counted: float, due: float, failed: float, slack: float = 1) -> bool:
    """Is a count what right answers make due? Each request that failed may have added to it, and cannot take away."""
    slack += WORK_TOLERANCE * due
    return -slack <= counted - due <= slack + failed


def right_answers(window: Window) -> int:
    """Right answers to the generator and to the harness's own requests."""
    return window.good + window.probes - window.failed.get(REFUSED, 0)


def _no_answers(window: Window, expected: Expectation) -> Iterator[Finding]:
    """Was nothing answered? Then nothing else can be said of the answers."""
    why = "".join(f"; {number} x {reason}" for reason, number in sorted(window.failed.items()))
    yield Finding.of("no-answers", "invalid", f"not one request was answered{why}")


def wrong_bodies(window: Window) -> Iterator[Finding]:
    """Were the whole bodies right that the harness itself asked for?"""
    if window.probe_failures:
        text = f"{len(window.probe_failures)} of {window.probes} probes differ from the golden body: {window.probe_failures[0]}"
        yield Finding.of("wrong-body", "invalid", text)


def _answers(window: Window, expected: Expectation) -> Iterator[Finding]:
    """Were the answers right, and was that looked at?"""
    if window.probes == 0:
        yield Finding.of("not-probed", "invalid", "not one whole body was compared during the window")
    bad = sum(window.failed.values())
    requests = window.good + bad
    allowed = min(window.failed.get(OVERLOADED, 0), expected.refused_most * requests)
    if allowed:
        text = f"{refused_share(window):.2%} of the requests were refused (503); at this load {expected.refused_most:.0%} is allowed"
        yield Finding.of("refused", "warning", text)
    if wrong := window.failed.get(WRONG_LENGTH):
        text = f"{wrong} answers had a length that no correct answer has"
        yield Finding.of("wrong-length", "invalid", text)
    if bad - allowed > (wrong or 0):
        reasons = ", ".join(f"{number} x {reason}" for reason, number in sorted(window.failed.items()))
        severe = bad - allowed > FAILED_MOST * requests + FAILED_SLACK
        text = f"{bad / requests:.2%} of the requests failed: {reasons}"
        yield Finding.of("wrong-answers", "invalid" if severe else "warning", text)
    yield from wrong_bodies(window)
    answered = right_answers(window)
    own = answered - window.good
    if window.load == "closed" and window.good and own > OWN_WARN * answered:
        text = f"{own} of {answered} answers went to the harness's own requests: the rate could be up to {own / window.good:.1%} higher"
        yield Finding.of("own-requests", "warning", text)


def _database(window: Window, expected: Expectation) -> Iterator[Finding]:
    """Did the database do the work of the answers: every statement once for each, and nothing else?"""
    if not expected.contract:
        return
    bad, parts = window.unanswered, AnsweredRequests.of(window, expected)
    yield from statements(window.statements, parts)
    if window.choice_p is not None and window.choice_p < CHOICE_P_LEAST:
        text = f"the recipes that were answered are not a random choice of the visible ones (p = {window.choice_p:.0e})"
        yield Finding.of("not-random", "invalid", text)
    stored = sum(part.answered for part in parts if part.expected.stores)
    if window.stored_rows is not None and window.stored_rows < stored:
        text = f"{stored} answers said that a row was stored, but the table grew by {window.stored_rows}"
        yield Finding.of("not-stored", "invalid", text)
    if window.foreign_settings:
        text = f"settings that the contract does not name: {', '.join(window.foreign_settings)}"
        yield Finding.of("foreign-settings", "invalid", text)
    seen = with_unseen(window.statements, parts)
    commits = seen["commit"].calls if "commit" in seen else 0
    commit = any("commit" in part.expected.statements for part in parts)
    if window.wal_syncs is not None and expected.db_pool_max is not None and commit:
        least = commits / expected.db_pool_max * (1 - SYNCS_LATE_S / window.duration_s)
        if window.wal_syncs < least:
            text = f"{commits} transactions were committed on {expected.db_pool_max} connections, but the log was flushed only {window.wal_syncs} times: commits did not wait for it"
            yield Finding.of("not-flushed", "invalid", text)
    most = window.db_connections_max
    # One that was given up because a statement hung is there until the database has noticed.
    if most is not None and expected.db_pool_max is not None and most > expected.db_pool_max + bad:
        text = f"the application had {most} connections to the database, but DB_POOL_MAX is {expected.db_pool_max}"
        yield Finding.of("too-many-connections", "invalid", text)


def _path(window: Window, expected: Expectation) -> Iterator[Finding]:
    """Did what stands between the generator and the application see the same?"""
    answered, bad = right_answers(window), window.unanswered
    if window.idle_connections is not None and window.idle_connections < expected.idle_connections:
        text = f"only {window.idle_connections} of {expected.idle_connections} silent connections stayed open"
        yield Finding.of("idle-lost", "invalid", text)
    if window.proxy is not None and not _agrees(window.proxy.responses_2xx, answered, bad):
        text = f"HAProxy counted {window.proxy.responses_2xx} 2xx responses, the generator and the probes {answered}"
        yield Finding.of("proxy-mismatch", "invalid", text)
    # After an answer that failed, a generator may open its connection anew.
    opened = window.proxy.connections_opened if window.proxy else window.connections_opened
    most = REOPENED_MOST * answered + window.connections + REOPENED_SLACK + bad
    if expected.requests_per_connection and not window.proxy:
        most += answered / expected.requests_per_connection
    if opened is not None and opened > most:
        who = "HAProxy" if window.proxy else "the generator"
        text = f"{who} opened {opened} connections to the application for {answered} answers: they are not kept alive"
        yield Finding.of("not-kept-alive", "invalid" if expected.contract else "warning", text)


@dataclass(frozen=True)
class AnsweredRequests:
    """The requests that one application answered while its statements were counted."""

    expected: Expectation
    answered: int
    """Right answers."""
    failed: int = 0
    """Requests that got none: each may have run any of its statements."""
    implied: dict[str, ImpliedRows] = field(default_factory=dict)

    @classmethod
    def of(cls, window: Window, expected: Expectation) -> list["AnsweredRequests"]:
        """The answered requests of each class. The harness's own requests are of the first."""
        answered = right_answers(window)
        if not window.classes:
            return [cls(expected, answered, window.unanswered, window.implied_rows)]
        first, *others = window.classes
        failed = first.failed + window.failed.get(REFUSED, 0) + (window.retried or 0)
        own = cls(expected, answered - window.good + first.good, failed, window.implied_rows)
        beside = zip(expected.beside, others, strict=True)
        return [own, *(cls(of, one.good, one.failed) for of, one in beside)]


def with_unseen(counted: Mapping[str, Statement], parts: Sequence[AnsweredRequests]) -> dict[str, Statement]:
    """The counts with each BEGIN and COMMIT that is due and that PostgreSQL cannot count. That they were sent is seen by others:
    PgBouncer counts their round trips, the log its flushes, and the tables the rows."""
    out = dict(counted)
    for name in TRANSACTION:
        due = {True: 0, False: 0}
        for part in parts:
            due[part.expected.transactions_unseen] += part.answered * (name in part.expected.statements)
        if due[True]:
            own = out.get(name, Statement(calls=0, rows=0))
            calls = max(own.calls, min(own.calls, due[False]) + due[True])
            out[name] = own.model_copy(update={"calls": calls})
    return out


def statements(
    counted: dict[str, Statement], parts: list[AnsweredRequests], slack: int = SLACK
) -> list[Finding]:
    """Was each statement of the scenario run once per right answer, with the rows that belong to it, and nothing else?

    parts: of the applications that asked one database. slack: so many statements that the contract does not name are
    forgiven, besides WORK_TOLERANCE: a connection that is opened in the window has some. Who is held to no contract asks what it
    likes.
    """
    if not all(part.expected.contract for part in parts):
        return []
    counted, found = with_unseen(counted, parts), list[Finding]()
    answered, failed = sum(part.answered for part in parts), sum(part.failed for part in parts)
    due: Counter[str] = Counter()
    for part in parts:
        zone = ["time_zone"] if part.expected.statements and part.expected.time_zone else []
        due.update(dict.fromkeys([*zone, *part.expected.statements], part.answered))
    for name, answers in due.items():
        calls = counted[name].calls if name in counted else 0
        if not _agrees(calls, answers, failed):
            text = f"the database ran '{name}' {calls} times for {answers} right answers: {calls / max(answers, 1):.3f} per request, not 1"
            found.append(Finding.of("sql-mismatch", "invalid", text))
        else:
            found += _rows(name, counted.get(name, Statement(calls=0, rows=0)).rows, answers, failed, parts)
    known = {*due, *(["reset"] if any(part.expected.resets for part in parts) else [])}
    foreign = [statement for name, statement in counted.items() if name not in known]
    other, took_ms = sum(one.calls for one in foreign), sum(one.exec_ms for one in foreign)
    if other > WORK_TOLERANCE * answered + 2 * failed + slack:
        text = f"the application ran {other / max(answered, 1):.2f} statements per request that the contract does not name"
        found.append(Finding.of("sql-extra", "invalid", text))
    all_ms = sum(statement.exec_ms for statement in counted.values())
    if took_ms > FOREIGN_MS * slack + FOREIGN_TIME_MOST * all_ms:
        text = f"statements that the contract does not name took {took_ms:,.0f} of {all_ms:,.0f} ms of the database's time"
        found.append(Finding.of("sql-extra-time", "invalid", text))
    return found


def _rows(name: str, rows: int, answers: int, failed: int, parts: list[AnsweredRequests]) -> list[Finding]:
    """Did a statement that ran often enough find what the answers say that it found?"""
    implied = [part.implied[name] for part in parts if name in part.implied]
    if implied:
        due, most = sum(one.rows for one in implied), max(one.most for one in implied)
        error = sum(one.error**2 for one in implied) ** 0.5
    elif name in ONE_ROW:
        due, error, most = float(answers), 0.0, 1
    else:
        return []
    if _agrees(rows, due, failed * most, most + ROWS_ERRORS * error):
        return []
    text = f"'{name}' returned {rows} rows, but the answers contain {due:.0f}: they do not match the query"
    return [Finding.of("sql-rows", "invalid", text)]


def _time(window: Window, expected: Expectation) -> Iterator[Finding]:
    """Did the time pass that must?"""
    classes = [(one.answer_ms_min, one.service_time_ms.p50) for one in window.classes]
    times = classes or [(window.answer_ms_min, window.service_time_ms.p50)]
    for of, (quickest, half) in zip((expected, *expected.beside), times, strict=False):
        least, text = of.least_ms, ""
        if quickest is not None and quickest < least - EARLY_MS:
            text = f"an answer came after {quickest:.1f} ms, but the request takes at least {least} ms"
        elif of.statements and half is not None and half < least:
            text = f"half of the answers came within {half:.1f} ms, but their round trips to the database take at least {least} ms"
        if text:
            yield Finding.of("too-early", "invalid", text)


def _load(window: Window, expected: Expectation) -> Iterator[Finding]:
    """Did the generator do what it was asked?"""
    if window.slices is not None:
        apart_ms = window.slices.clock_error_ms
        if apart_ms is None or apart_ms > CLOCK_APART_VOID_MS:
            how = "is unknown" if apart_ms is None else f"is {apart_ms:.0f} ms"
            text = f"the offset between the clock of the rows and that of the slices {how} (limit {CLOCK_APART_VOID_MS:.0f} ms)"
            yield Finding.of("slices-clock", "void", text)
        outside = window.slices.outside_cpu_share
        if outside is not None and outside > OUTSIDE_WARN:
            text = f"while others had their turn, the application used {outside:.1%} of what it used in its own slices, beyond its idle rate (limit {OUTSIDE_VOID:.0%}, aim {OUTSIDE_WARN:.0%})"
            severe = outside > OUTSIDE_VOID
            yield Finding.of("cpu-outside-slices", "void" if severe else "warning", text)
    if window.load == "closed":
        fast = (window.service_time_ms.mean or 0) < 1
        low, high = LITTLE_RANGE_FAST if fast else LITTLE_RANGE
        if window.little is not None and not low <= window.little <= high:
            text = f"Little's law: throughput x service time / connections is {window.little:.3f}, outside {low} to {high}"
            yield Finding.of("littles-law", "invalid", text)
        longest, usual = window.answer_ms_max, window.service_time_ms.p50 or window.service_time_ms.mean
        if longest is not None and usual and longest > max(STARVED_MS, STARVED_BY_MEDIAN * usual):
            text = f"a request waited {longest:,.0f} ms, others {usual:,.1f} ms: it starved"
            yield Finding.of("starving", "warning", text)
        return
    each = {generators.name(window, one): one.lateness_ms for one in window.generators}
    for name, lateness_ms in (each or {"the generator": window.lateness_ms}).items():
        worst, p99 = (lateness_ms.max or 0.0, lateness_ms.p99) if lateness_ms else (0.0, None)
        if worst > LATENESS_GAP_VOID_MS:
            text = f"{name} was {worst:.0f} ms late at worst (limit {LATENESS_GAP_VOID_MS:.0f} ms)"
            yield Finding.of("generator-stalled", "void", text)
        elif p99 is not None and p99 > LATENESS_P99_WARN_MS:
            text = f"{name} was {p99:.1f} ms late at p99 (aim {LATENESS_P99_WARN_MS:.0f} ms); response times include it"
            # Where the instants are drawn, a late generator makes another process of them.
            yield Finding.of("generator-late", "void" if window.arrivals else "warning", text)
    if window.scheduled and window.good / window.scheduled < COMPLETE_LEAST:
        text = f"only {window.good} of {window.scheduled} scheduled requests were answered correctly ({window.good / window.scheduled:.1%})"
        yield Finding.of("incomplete", "invalid", text)


def _round_trip(window: Window, expected: Expectation) -> Iterator[Finding]:
    """Was the database as far away as was asked for?"""
    trip = window.db_rtt_ms
    if trip is None or not trip.setting:
        return
    if not trip.setting <= trip.during_p50 <= trip.setting * (1 + DB_RTT_EXCESS_WARN):
        text = f"the round trip to the database was {trip.during_p50:.1f} ms during the load, not the {trip.setting} ms that were requested"
        yield Finding.of("db-rtt", "invalid" if trip.during_p50 < trip.setting else "warning", text)


def host_findings(window: Window) -> list[Finding]:
    """Was the host quiet?"""
    found, host, others = list[Finding](), window.host, "processes that do not belong here"
    for code, who, share, warn, void in (
        ("steal", "the hypervisor", host.steal_share, STEAL_WARN, STEAL_VOID),
        ("foreign-cpu", others, host.foreign_cpu_share, FOREIGN_WARN, FOREIGN_VOID),
    ):
        if share is not None and share > warn:
            text = f"{who} took {share:.1%} of the CPU (limit {void:.0%}, aim {warn:.0%})"
            found.append(Finding.of(code, "void" if share > void else "warning", text))
    if host.harness_cpu_cores is not None and host.harness_cpu_cores > HARNESS_CORES_WARN:
        text = f"the harness used {host.harness_cpu_cores:.1%} of a core (aim {HARNESS_CORES_WARN:.0%})"
        found.append(Finding.of("harness-cpu", "warning", text))
    found += disturbances(host)
    for name, role in window.roles.items():
        if role.throttled_s > 0:
            text = f"{name} was throttled for {role.throttled_s:.2f} s"
            found.append(Finding.of("throttled", "void", text))
    return found


_STARVED = {
    "no-answers",
    "not-probed",
    "wrong-answers",
    "littles-law",
    "starving",
    "incomplete",
    "sql-mismatch",
    "sql-extra-time",
    "proxy-mismatch",
}
"""Codes that lack of CPU can cause by itself. A wrong length, a wrong body or a foreign statement it cannot."""
_SHORT = {*_STARVED, "rows-mismatch"}
"""Codes that a generator whose rows are missing, or fewer than its share, can cause by itself."""


def voided(findings: list[Finding], codes: Collection[str]) -> list[Finding]:
    """The findings, those with these codes as void: they say nothing about the program."""
    return [f.model_copy(update={"severity": "void"}) if f.code in codes else f for f in findings]


def gates(window: Window, expected: Expectation) -> list[Finding]:
    """Everything that the checks notice about a window, gravest kind first."""
    host, shares = host_findings(window), [*generators.gates(window)]
    of_answers = (_answers, _database, _path) if window.requests else (_no_answers,)
    work = (*of_answers, _time, _load, _round_trip, accounting)
    found = [finding for gate in work for finding in gate(window, expected)]
    if any(finding.code == "incomplete" for finding in found) and (why := slowed(window)):
        host.append(Finding.of("host-speed", "void", why))
    if any(finding.severity == "void" for finding in host):
        # A program that got no CPU answers late or not at all: that says nothing about the program.
        found = voided(found, _STARVED)
    if generators.lost(shares):
        found = voided(found, _SHORT)
    found += [*shares, *host]
    order = {"invalid": 0, "void": 1, "warning": 2}
    return sorted(found, key=lambda finding: order[finding.severity])


def verdict(findings: list[Finding]) -> Verdict:
    """`invalid` before `void` before `ok`."""
    severities = {finding.severity for finding in findings}
    return next((one for one in (Verdict.INVALID, Verdict.VOID) if one in severities), Verdict.OK)


ROWS_TOLERANCE = 0.001
"""Share by which rows and summary of the generator may differ: they are two views of the same answers."""
IN_FLIGHT_TOLERANCE, IN_FLIGHT_SLACK = 0.10, 2.0
"""HAProxy is sampled twice a second, and the harness's own probe is sent at the same moments: it is one of the
slack. In nine open windows with 1.0 to 2.4 requests in flight HAProxy saw 0.5 to 1.5 more than the rows."""
IN_FLIGHT_ERRORS = 3
"""Standard errors of the sampled mean that are forgiven as well: six samples of bursts say little."""
UTILISATION_TOLERANCE, SAMPLING_S = 0.02, 0.1
"""A sample is read up to some tens of milliseconds after its time stamp, at both ends of the measured part."""


def utilisation_bound(throughput_rps: float, roles: dict[str, Role]) -> tuple[float, str] | None:
    """The throughput at which the first CPU set would be exhausted, and whose set it is; None if nothing was used.

    The utilisation law: utilisation = throughput x demand, so at this demand X / U is the most. Roles that share
    a CPU set exhaust it together; the set is named after them, its largest user first.
    """
    sets: dict[str, list[str]] = {}
    for name in sorted(roles, key=lambda name: -roles[name].cpu_cores):
        sets.setdefault(roles[name].cpuset, []).append(name)
    bounds = []
    for names in sets.values():
        used = sum(roles[name].cpu_cores for name in names)
        if used > 0 and throughput_rps > 0:
            bounds.append((throughput_rps * roles[names[0]].cores_available / used, "+".join(names)))
    return min(bounds, default=None)


def accounting(window: Window, expected: Expectation) -> Iterator[Finding]:
    """Findings where two counts of the same thing differ. A figure that was not measured is not judged."""
    rows, reported = window.rows_2xx, window.reported_2xx
    if rows is not None and reported is not None and abs(rows - reported) > ROWS_TOLERANCE * reported:
        text = f"the generator reports {reported} 2xx responses, but its rows contain {rows}"
        yield Finding.of("rows-mismatch", "invalid", text)
    bound = window.utilisation_bound_rps
    tolerance = UTILISATION_TOLERANCE + SAMPLING_S / window.measured_s
    if bound is not None and window.goodput_rps > bound * (1 + tolerance):
        text = f"{window.goodput_rps:,.0f}/s were answered, but the CPU time of {window.utilisation_bound_by} allows only {bound:,.0f}/s"
        yield Finding.of("utilisation-law", "invalid", text)
    proxy, rows_mean = window.proxy, window.in_flight_mean
    if window.load == "open" and proxy is not None and rows_mean is not None:
        sampled, error = proxy.in_flight_mean, proxy.in_flight_error
        if sampled is None or error is None:
            return
        forgiven = IN_FLIGHT_TOLERANCE * rows_mean + IN_FLIGHT_SLACK + IN_FLIGHT_ERRORS * error
        if abs(sampled - rows_mean) > forgiven:
            text = f"Little's law: {rows_mean:.1f} requests in flight according to the rows, {sampled:.1f} according to HAProxy"
            yield Finding.of("littles-law", "warning", text)
