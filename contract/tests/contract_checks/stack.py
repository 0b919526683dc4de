"""The stack of compose.yaml under a project name of its own, and what runs beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import psycopg

from contract_checks import catalog
from contract_checks.backend import Backend
from contract_checks.catalog import ROOT, Implementation
from contract_checks.docker import DockerFailed, address, docker, end_of_log, inspect, wait_until

# Port 0 lets the engine choose, so that a stack of `just up` or of a campaign can run beside this one.
ENVIRONMENT = {"HTTP_PORT": "0", "STATS_PORT": "0", "HEALTH_INTERVAL": "500ms"}
# What the caller has exported must not reach the stack: empty means default.
UNSET = [name for name in catalog.knobs() if name != "DATABASE_URL"] + ["DATABASE_ADDRESS", "FAULT", "SCALE"]
SERVICES = ("db", "pgbouncer", "proxy")
TEMPORARY = "dev.tandem.verify"


class Stack:
    """Database, PgBouncer, HAProxy and one application at a time. A context manager: it always tears down."""

    def __init__(self, project: str = "tandem-verify") -> None:
        self.project = project
        self.patience_s = 30.0  # for a container to start, or to give up

    def __enter__(self) -> Self:
        self._tear_down()  # what a killed run left behind
        try:
            self._compose("build", *SERVICES)
            self._compose("up", "--detach", "--wait", "db", "pgbouncer")
        except BaseException:
            self._tear_down()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._tear_down()

    def build(self, implementation: Implementation) -> None:
        """Builds the application's image."""
        self._compose("build", "app", implementation=implementation)

    @contextmanager
    def serving(self, implementation: Implementation) -> Iterator[Backend]:
        """The application as the service `app`, with every knob at the stack's default, behind HAProxy."""
        self.build(implementation)
        try:
            options = ["--detach", "--no-deps", "--wait"]
            self._compose("up", *options, "app", "proxy", implementation=implementation)
        except DockerFailed as error:
            log = end_of_log(self.container("app"))
            message = f"{implementation.name} did not start; the end of its log:\n{log}\n{error}"
            raise AssertionError(message) from error
        container = self.container("app")
        backend = Backend(self, implementation, container, address(container))
        try:
            yield backend
        finally:
            backend.close()

    @contextmanager
    def started(self, implementation: Implementation, settings: Mapping[str, str]) -> Iterator[str]:
        """A further container of the image, with these variables: yields its id, then removes it."""
        variables = [part for name, value in settings.items() for part in ("--env", f"{name}={value}")]
        labels = ["--label", "dev.tandem=stack", "--label", f"{TEMPORARY}={self.project}"]
        network = ["--network", f"{self.project}_tandem"]
        hardening = ["--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
        options = [*labels, *network, *hardening, *variables]
        container = docker("run", "--detach", *options, implementation.image).strip()
        try:
            yield container
        finally:
            docker("rm", "--force", "--volumes", container)

    def container(self, service: str) -> str:
        """The name of a service's container."""
        return f"{self.project}-{service}-1"

    def stop(self, service: str) -> None:
        self._compose("stop", service)

    def start(self, service: str) -> None:
        """Starts a stopped service and waits until it is healthy."""
        self._compose("start", service)
        name = self.container(service)
        healthy = wait_until(lambda: bool(inspect(name)["State"]["Health"]["Status"] == "healthy"), 30)
        assert healthy, f"{service} did not become healthy again; the end of its log:\n{end_of_log(name)}"

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        """A connection to the database as its owner, beside the application's road."""
        host = address(self.container("db"))
        return psycopg.connect(
            host=host, user="postgres", password="tandem", dbname="tandem", autocommit=True
        )

    def query(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of one statement, run as the owner."""
        with self.connect() as connection:
            # Encoded, because psycopg's types want text that is known beforehand.
            return connection.execute(statement.encode(), values or None).fetchall()

    def _compose(self, *arguments: str, implementation: Implementation | None = None) -> str:
        environment = dict.fromkeys(UNSET, "") | ENVIRONMENT
        if implementation:
            environment["IMPL"] = implementation.name
        files = ["--project-name", self.project, "--file", str(ROOT / "compose.yaml")]
        return docker("compose", "--progress", "plain", *files, *arguments, environment=environment)

    def _tear_down(self) -> None:
        left = docker("ps", "--all", "--quiet", "--filter", f"label={TEMPORARY}={self.project}").split()
        if left:
            docker("rm", "--force", "--volumes", *left)
        self._compose("down", "--volumes", "--remove-orphans", "--timeout", "1")
