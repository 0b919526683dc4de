"""The stack of compose.yaml under a project name of its own, and what runs beside it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, Self

import httpx
import psycopg

from contract_checks import catalog
from contract_checks.backend import Backend
from contract_checks.catalog import ROOT, Implementation
from contract_checks.docker import address, docker, end_of_log, wait_until

# Port 0 lets the engine choose, so that a stack of `just up` or of a measurement can run beside this one.
# Docker's health checks start a process for each service and interval, on the CPUs that the tests need: the
# readiness of each service is asked for here instead.
PASSWORD = secrets.token_hex(16)  # of the database's owner
ENVIRONMENT = {"HTTP_PORT": "0", "STATS_PORT": "0", "HEALTH_INTERVAL": "1h", "ADMIN_PASSWORD": PASSWORD}
READY_S = 60
# What the caller has exported must not reach the stack: empty means default.
UNSET = [*catalog.settings(), "DATABASE_ADDRESS", "DATABASE_NETWORK", "FAULT", "SCALE", "VARIANT", "SALT"]
SERVICES = ("db", "pgbouncer", "proxy")
OWNER, APPLICATION = f"port=5432 user=postgres password={PASSWORD}", "port=6432 user=app password=app"
LOGINS = {"db": OWNER, "pgbouncer": APPLICATION}
TEMPORARY = "dev.tandem.verify"


class Stack:
    """Database, PgBouncer, HAProxy and one application at a time. A context manager: it always tears down."""

    def __init__(self, project: str = "tandem-verify") -> None:
        self.project = project
        self.patience_s = 30.0  # for a container to start, or to give up
        # Some checks ask the database many times a second. A `docker inspect` and a login for each would take the CPUs that
        # the checks beside them need.
        self._addresses: dict[str, str] = {}
        self._owner: psycopg.Connection[tuple[Any, ...]] | None = None

    def __enter__(self) -> Self:
        self._tear_down()  # what a killed run left behind
        try:
            self._compose("build", *SERVICES)
            self._up("db")
            self._up("pgbouncer")
        except BaseException:
            self._tear_down()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._owner is not None:
            self._owner.close()
        self._tear_down()

    @contextmanager
    def serving(self, implementation: Implementation) -> Iterator[Backend]:
        """The application as the service `app`, with every setting at the stack's default, behind HAProxy."""
        self._compose("build", "app", implementation=implementation)
        self._wait_ready("pgbouncer")  # the checks before may have ended in the middle of an outage
        self._up("app", implementation)
        container = self.container("app")
        with closing(Backend(self, implementation, container, address(container))) as backend:
            backend.wait_alive()
            self._up("proxy", implementation)
            yield backend

    @contextmanager
    def started(self, implementation: Implementation, settings: Mapping[str, str]) -> Iterator[str]:
        """A further container of the image, with these variables: yields its id, then removes it."""
        variables = [f"--env={name}={value}" for name, value in settings.items()]
        labels = ["--label", "dev.tandem=stack", "--label", f"{TEMPORARY}={self.project}"]
        network = ["--network", f"{self.project}_database"]  # some ask the database itself
        hardening = ["--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
        options = [*labels, *network, *hardening, *variables]
        container = docker("run", "--detach", *options, implementation.image).strip()
        try:
            yield container
        except BaseException:
            print(f"end of the variant's log:\n{end_of_log(container)}")
            raise
        finally:
            self.leave(container)

    def leave(self, container: str) -> None:
        """The end of a further container."""
        docker("rm", "--force", "--volumes", container)

    def container(self, service: str) -> str:
        """The name of a service's container."""
        return f"{self.project}-{service}-1"

    def address(self, service: str) -> str:
        """Of the service's container, until it starts anew."""
        if service not in self._addresses:
            self._addresses[service] = address(self.container(service))
        return self._addresses[service]

    def stop(self, service: str) -> None:
        docker("stop", "--time", "20", self.container(service))

    def start(self, service: str) -> None:
        """Starts a stopped service and waits until it answers."""
        docker("start", self.container(service))
        self._wait_ready(service)

    def restart(self, service: str) -> None:
        """Restarts a service with a second to end in; returns before it answers."""
        docker("restart", "--time", "1", self.container(service))
        self._addresses.pop(service, None)

    def _up(self, service: str, implementation: Implementation | None = None) -> None:
        """Creates and starts one service, alone: among several, Compose would wait for their health checks."""
        self._compose("up", "--detach", "--no-deps", service, implementation=implementation)
        self._wait_ready(service)

    def _wait_ready(self, service: str) -> None:
        """Waits for `db`, `pgbouncer` or `proxy`, which may have another address now; of the application its own backend
        knows."""
        self._addresses.pop(service, None)
        ready = wait_until(lambda: self._answers(service), READY_S)
        log = "" if ready else end_of_log(self.container(service))
        assert ready, f"{service} is not ready after {READY_S} s; the end of its log:\n{log}"

    def _answers(self, service: str) -> bool:
        try:
            if service == "proxy":
                url = f"http://{self.address(service)}:8404/healthz"
                return httpx.get(url, timeout=2, trust_env=False).status_code == 200
            if service in LOGINS:
                # A login is not enough: after an outage PgBouncer refuses the first query, unless one has succeeded.
                with self.connect(service=service) as connection:
                    connection.execute("select")
        except (httpx.HTTPError, psycopg.Error):
            return False
        return True

    def connect(self, database: str = "tandem", service: str = "db") -> psycopg.Connection[tuple[Any, ...]]:
        """A connection to the database as its owner, beside the application's road; to PgBouncer as the application."""
        there = {"host": self.address(service), "dbname": database, "connect_timeout": 5}
        return psycopg.connect(LOGINS[service], autocommit=True, **there)

    @contextmanager
    def other_data(self, salt: str) -> Iterator[str]:
        """A further database, with the data of this salt: yields its name, then drops it."""
        container, name = self.container("db"), "other_data"
        psql = ["exec", container, "psql", "--quiet", "--no-psqlrc", "-v", "ON_ERROR_STOP=1"]
        with self.connect() as connection:
            connection.execute(f"create database {name} template template0".encode())
            try:
                docker(*psql, "-d", name, "-f", "/contract/sql/schema.sql")
                variables = ["-v", "scale=1", "-v", f"salt={salt}"]
                docker(*psql, "-d", name, *variables, "-f", "/contract/sql/seed.sql")
                yield name
            finally:
                connection.execute(f"drop database {name} with (force)".encode())

    def query(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of one statement, run as the owner, on a connection that is kept until the database ends it."""
        owner = self._owner = self._owner or self.connect()
        try:
            # Encoded, because psycopg's types want text that is known beforehand.
            return owner.execute(statement.encode(), values or None).fetchall()
        except psycopg.OperationalError:
            if not owner.broken:
                raise
            self._owner = None
            return self.query(statement, *values)

    def _compose(self, *arguments: str, implementation: Implementation | None = None) -> str:
        environment = dict.fromkeys(UNSET, "") | ENVIRONMENT
        if implementation:
            environment |= {"IMPL": implementation.name, "VARIANT": implementation.variant}
        if implementation and implementation.build:
            environment["PROFILE"] = implementation.build
        files = ["--project-name", self.project, "--file", str(ROOT / "compose.yaml")]
        return docker("compose", "--progress", "plain", *files, *arguments, environment=environment)

    def _tear_down(self) -> None:
        left = docker("ps", "--all", "--quiet", "--filter", f"label={TEMPORARY}={self.project}").split()
        if left:
            docker("rm", "--force", "--volumes", *left)
        self._compose("down", "--volumes", "--remove-orphans", "--timeout", "1")
