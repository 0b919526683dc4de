"""The case that one visit measures: a program, its scenario, and where it is asked. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tandem.analysis.stack import Setup, parallel
from tandem.catalog.catalog import Implementation
from tandem.catalog.golden import Answers
from tandem.catalog.scenario import Scenario
from tandem.judge.bottleneck import Concurrency
from tandem.judge.judge import Expectation


def started_workers(implementation: Implementation, settings: Mapping[str, str]) -> int:
    """The number of workers that start. settings: effective ones."""
    workers = int(settings.get("WORKERS") or 1)
    return min(workers, int(settings["DB_POOL_MAX"])) if implementation.worker_pools else workers


def handler_threads(implementation: Implementation, settings: Mapping[str, str]) -> int | None:
    """Requests that can be handled at once; None where handlers do not occupy a thread. settings: effective ones."""
    if implementation.model != "sync" or not settings.get("THREADS"):
        return None
    processes = 1 if implementation.threads_shared else started_workers(implementation, settings)
    return processes * int(settings["THREADS"])


def db_pool_usable(
    scenario: Scenario, implementation: Implementation, settings: Mapping[str, str]
) -> int | None:
    """Database connections that the application can lend its handlers; None where the scenario has no statements."""
    if not scenario.statements:
        return None
    pool = int(settings["DB_POOL_MAX"])
    if implementation.worker_pools:  # each worker has a pool of its own: the rest of the division is not used
        workers = started_workers(implementation, settings)
        pool = pool // workers * workers
    return pool


def setup_of(
    implementation: Implementation,
    scenario: Scenario,
    settings: Mapping[str, str],
    distance_ms: float = 0.0,
    admitted: int | None = None,
) -> Setup:
    """The limits of an application, for the model of the stack. settings: effective ones."""
    kept = settings.get("DB_PERSISTENT") == "1"
    return Setup(
        connections=scenario.connections,
        wait_ms=float(scenario.delay_ms),
        distance_ms=distance_ms,
        threads=handler_threads(implementation, settings),
        pool=int(settings["DB_POOL_MAX"]) if scenario.statements and kept else None,
        admitted=admitted,
        parallel=parallel(implementation.language, implementation.model, settings),
    )


@dataclass
class VisitCase:
    """One program under one scenario, and where it is asked: what a visit measures."""

    implementation: Implementation
    scenario: Scenario
    settings: dict[str, str]
    """The effective ones."""
    load_address: str
    proxied: bool
    answers: Answers
    queries: dict[str, str] | None
    """The contract's, and those that the program has instead: normalised text -> name. None: a reader's own service has its own."""
    texts: dict[str, str]
    """The contract's queries: name -> text as it stands in its file."""
    database_address: str
    """Address of the database in the topology, service:port; the latency proxy forwards to it."""
    admitted: int | None
    """Requests that HAProxy lets into the application at once; None: without a limit."""
    db_rtt_ms: int | None
    """Distance to the database; None: the latency proxy is not in the path."""
    generators: int
    """Number of generators that share each load."""
    beside: list["VisitCase"] = field(default_factory=list)
    """The other classes of a mix, each as a case; all the rest is of its own class."""

    @property
    def classes(self) -> list["VisitCase"]:
        """Each class of requests as a case of its own; most scenarios have one."""
        own = self.scenario.parts[0]
        return [replace(self, scenario=own, beside=[]), *self.beside]

    @property
    def ready(self) -> tuple[str, int | None]:
        """Path and status of the answer that tells that it is up; None: any below 500. A reader's own service has its request's path
        alone, which may ask for more than a GET."""
        if self.implementation.contract:
            return "/healthz", 200
        return self.scenario.ready or self.scenario.path_of(next(iter(self.scenario.keys), None)), None

    @property
    def workers(self) -> int:
        return started_workers(self.implementation, self.settings)

    @property
    def shown_settings(self) -> dict[str, str]:
        """The settings as a record has them: a program's own SQL is told as one is."""
        own = self.implementation.statements.get(self.scenario.own_class or self.scenario.name)
        return self.settings | ({"SQL": f"own ({len(own)} statements)"} if own else {})

    @property
    def handler_threads(self) -> int | None:
        """Requests that can be handled at once; None where handlers of this scenario do not occupy a thread."""
        if self.scenario.name in self.implementation.threadless:
            return None
        return handler_threads(self.implementation, self.settings)

    @property
    def db_pool_usable(self) -> int | None:
        return db_pool_usable(self.scenario, self.implementation, self.settings)

    @property
    def pool_tells(self) -> bool:
        """Whether the application can be asked how long its pool of database connections was waited for."""
        return self.implementation.pool_tells and bool(self.scenario.statements)

    @property
    def concurrency(self) -> Concurrency:
        """The requests that the application can have at once, for its bottleneck."""
        return Concurrency(self.db_pool_usable, self.handler_threads, self.admitted, self.scenario.in_turn)

    @property
    def expected(self) -> Expectation:
        """The contract's expectation of one request."""
        scenario, told = self.scenario, self.settings
        return Expectation(
            scenario.statements,
            resets=told.get("DB_RESET") == "1",
            time_zone=told.get("DB_TIME_ZONE") == "request",
            idle_connections=scenario.idle_connections,
            # One that is opened for each request and closed is seen until the database has noticed.
            db_pool_max=int(told["DB_POOL_MAX"]) if told.get("DB_PERSISTENT") == "1" else None,
            least_ms=scenario.delay_ms + scenario.in_turn * (self.db_rtt_ms or 0),
            refused_most=scenario.refused_most,
            # A connection that ends, or is reset, drops what was prepared.
            prepared=[told.get(f"DB_{name}") for name in ("PERSISTENT", "PREPARE", "RESET")]
            == ["1", "1", "0"],
            transactions_unseen=self.implementation.prepares_transactions and told.get("DB_PREPARE") == "1",
            contract=self.implementation.contract,
            pipelined=told.get("DB_PIPELINE") == "1",
            requests_per_connection=scenario.requests_per_connection,
            stores=scenario.answer.created is not None,
            beside=tuple(one.expected for one in self.beside),
        )
