"""The containers: builds, starts and removes one Compose project. The only module that drives Docker."""

import json
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from python_on_whales import Container, DockerClient, DockerException, Image
from python_on_whales.exceptions import NoSuchContainer

from tandem.errors import TandemError
from tandem.hosts.docker import complaint, docker_client
from tandem.hosts.host import Host
from tandem.lab.sites import (
    ALONE,
    APP,
    APP_OUTSIDE_PORT,
    APP_PORT,
    DATABASE,
    HARNESS_ASKS_AT,
    EngineSite,
    Sites,
    ports_asked,
)
from tandem.load.shares import FIRST, is_generator, roles
from tandem.probes.haproxy import slot_number
from tandem.probes.postgres import ADMIN_PASSWORD

GUNICORN = "GUNICORN_CMD_ARGS"
GUNICORN_PATIENCE = "--timeout=3600 --keep-alive=3600"
"""An application is frozen while others are measured, and gunicorn would kill workers that are silent for 30 s. It is not asked
meanwhile either, and gunicorn closes a connection at its limit even if a request has just come.
https://gunicorn.org/reference/settings/#timeout https://gunicorn.org/reference/settings/#keepalive"""
LABEL = "dev.tandem"
HARNESS_LABEL = f"{LABEL}=harness"
BENCH_PROJECT = "tandem-bench"
USER_PROJECT = "tandem"
MEASURING = (
    "bench",
    "compare",
    "matrix",
    "ceiling",
    "capacity",
    "sweep",
    "soak",
    "start",
    "replay",
    "records",
    "session",
    "reproduce",
    "crosscheck",
    "crossover",
    "explain",
    "nightly",
    "selftest",
    "profile",
)
"""The commands that use BENCH_PROJECT, and of which one may run at a time."""
KEPT = ("db", "pgbouncer", "proxy", "loadgen")
"""The services that can run from an image that was kept: a variable of their own names its tag."""
SERVED = ("db", "pgbouncer", "app", "proxy")
"""The services that answer a request."""
LOG_TAIL = 25
KEPT_LINES = 10_000
"""Lines that are kept of the log of an application that was measured."""


def tail(text: str, lines: int = LOG_TAIL) -> str:
    """The end of a log."""
    return "\n".join(text.rstrip().splitlines()[-lines:])


@contextmanager
def _as_tandem_error(what: str, before: str = ": ") -> Iterator[None]:
    """Turns what Docker refuses into a TandemError: a container may have died, or its engine may be busy. before: stands before
    Docker's complaint."""
    try:
        yield
    except DockerException as error:
        raise TandemError(f"{what}{before}{tail(complaint(error))}") from None


def to_its_end[T](call: Callable[[], T]) -> T:
    """Returns what the call returns. An interruption is raised once the call is done, not in its midst.

    Docker's commands are processes of their own: they would go on after `down` has looked for what they make.
    """
    # Signals interrupt the main thread alone, and leaving the pool waits for the call.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


def side_by_side[T, R](call: Callable[[T], R], each: Collection[T]) -> list[R]:
    """What a call returns for each, all at the same time. Raises what the first of them raises, once all have ended."""
    with ThreadPoolExecutor(len(each) or 1) as pool:
        return list(pool.map(call, each))


def image_variable(service: str) -> str:
    """The variable of compose/stack.yaml that names the tag of one of KEPT, with the colon before it."""
    return f"{service.upper()}_IMAGE"


def compose_name(service: str) -> str:
    """The service of compose/stack.yaml that a service is one of: generators after the first have none of their own."""
    return FIRST if is_generator(service) else service


@dataclass(frozen=True)
class Service:
    """A running container."""

    id: str
    image: str
    pid: int
    """First process, in the host's PID namespace."""
    address: str
    """Address at which this process reaches it, at its own ports."""
    cpuset: str
    """CPUs; in a lab numbered through over all hosts."""
    own_cpuset: str
    """CPUs by its own host's numbers."""
    networks: dict[str, str]
    """Network of compose/stack.yaml that it is in -> its address there."""
    host: Host
    started_s: float = 0.0
    """When its first process began, seconds since 1970 by this machine's clock."""


def variables_of(image: Image) -> dict[str, str]:
    """The variables that an image gives its containers."""
    return dict(pair.split("=", 1) for pair in image.config.env or [])


def healthy_by(overlay: Mapping[str, Any]) -> dict[str, list[str]]:
    """Service beside the application -> the command that says whether it is healthy; empty: nothing does."""
    found = {}
    for name, one in overlay.get("services", {}).items():
        kind, *command = (one.get("healthcheck") or {}).get("test") or ["NONE"]
        shell = ["sh", "-c"] if kind == "CMD-SHELL" else []
        if name not in (APP, DATABASE):
            found[name] = [] if kind == "NONE" else [*shell, *command]
    return found


class Stack:
    """One Compose project with its variables.

    variables: for compose/stack.yaml; written to `env_file`, which says exactly what a run was given. slot: the
    name of this stack's application where several are up at once in one project. sites: where its services run. overlay:
    of Compose's, for a reader's own service (tandem.lab.own_service).
    Images are built on this machine's engine.
    """

    def __init__(
        self,
        root: Path,
        project: str,
        variables: dict[str, str],
        env_file: Path,
        slot: str | None = None,
        sites: Sites = ALONE,
        overlay: Mapping[str, Any] | None = None,
    ) -> None:
        env_file.parent.mkdir(parents=True, exist_ok=True)
        self.overlay = dict(overlay or {})
        self.beside = sorted(set(self.overlay.get("services", ())) - {APP, DATABASE})
        """Further services of the overlay."""
        self.own_database = DATABASE in self.overlay.get("services", ())
        # Not one of the variables: those are recorded. The data of `just up` outlive a command, so they have none.
        secret = {} if project == USER_PROJECT else {"ADMIN_PASSWORD": ADMIN_PASSWORD}
        given = sorted({**variables, **secret}.items())
        env_file.write_text("".join(f"{name}={value}\n" for name, value in given))
        self.root, self.project, self.variables, self.slot, self.sites = root, project, variables, slot, sites
        self._env_file = env_file
        self.docker = self._client(None, "own", self.overlay)
        """This machine's engine, where images are built."""
        self._at = {site.name: self._of_site(site) for site in sites.all}

    def _client(self, url: str | None, name: str, overlay: Mapping[str, Any] | None) -> DockerClient:
        """A client of an engine. overlay: is kept beside the variables under this name, where it can be read."""
        files = [self.root / "compose.yaml"]
        if overlay:
            files.append(self._env_file.with_name(f"compose.{name}.json"))
            files[1].write_text(json.dumps(overlay, indent=1) + "\n")
        return docker_client(
            url,
            compose_files=files,
            compose_project_name=self.project,
            compose_env_files=[self._env_file],
            compose_profiles=["load", "faults"],
        )

    def _of_site(self, site: EngineSite) -> DockerClient:
        if site.address is None:
            return self.docker
        # Without variables it is to look for what is there already.
        overlay = self.sites.overlay(site, self.variables) if self.variables else None
        return self._client(site.url, site.name, overlay)

    @cached_property
    def _described(self) -> dict[str, Any]:
        """The services as Compose reads them with these variables, which stay."""
        services: dict[str, Any] = self.docker.compose.config(return_json=True)["services"]
        return services

    @property
    def generators(self) -> list[str]:
        """The services that share each load."""
        return roles(int(self.variables.get("GENERATORS", "1")))

    def at(self, service: str) -> DockerClient:
        """The engine that a service runs on."""
        return self._at[self.sites.of(service).name]

    def command(self, service: str) -> list[str]:
        """Docker's command line for the engine that a service runs on, for a command that lasts as long as it is wanted."""
        url = self.sites.of(service).url
        return ["docker"] if url is None else ["docker", "-H", url]

    def send(self, service: str, to: str | None = None) -> bool:
        """Gives an engine the image of a service, which must have been built; returns whether it had to be copied.
        to: the service that runs on that engine; default: the same."""
        return self.sites.of(to or service).send(self.image_name(compose_name(service)))

    def is_kept(self, service: str) -> bool:
        """Whether the service runs from an image that was kept, which no build may replace."""
        return service in KEPT and bool(self.variables.get(image_variable(service)))

    def image_name(self, service: str) -> str:
        """The name of its image, with the tag if it has one, such as tandem/db."""
        return str(self._described[service]["image"])

    def recipe(self, service: str) -> tuple[str, str, dict[str, str | None]]:
        """Dockerfile, target and arguments of its image."""
        recipe = self._described[service]["build"]
        return recipe["dockerfile"], recipe.get("target", ""), recipe.get("args", {})

    def start(self, services: list[str]) -> None:
        """Creates and starts containers, without waiting. Readiness is the caller's to ask for.

        Each by a call of its own: among services named together Compose waits for `service_healthy`, and here no health
        check runs (HEALTH_INTERVAL). Several on a host are made by one call, which makes their networks: side by side two
        would make the same one.
        """

        def one(service: str) -> None:
            compose = self.at(service).compose
            if name := self._own_name(service):
                publish = [self._published] if service == APP and self._published else []
                of = compose_name(service)
                compose.run(of, detach=True, dependencies=False, name=name, tty=False, publish=publish)
            else:
                compose.up([service], detach=True, dependencies=False, no_build=True, quiet=True)

        def every() -> None:
            plain = [service for service in services if not self._own_name(service)]
            for name, docker in self._at.items():
                if len(own := [service for service in plain if self.sites.of(service).name == name]) > 1:
                    docker.compose.up(own, dependencies=False, no_build=True, start=False, quiet=True)
            side_by_side(one, services)

        with _as_tandem_error(f"{', '.join(services)} cannot be started", ":\n"):
            to_its_end(every)

    def up(self) -> None:
        """Starts what serves requests, from images that are built, and waits until it is healthy.

        Raises TandemError; what did start stays for `logs`, except where a port is taken.
        """
        try:
            self.docker.compose.up(
                ["proxy"], detach=True, wait=True, wait_timeout=120, no_build=True, quiet=True
            )
        except DockerException as error:
            text = tail(complaint(error))
            if "port is already allocated" in text or "address already in use" in text:
                self.down()
                remedy = "Something else uses the port: choose others with HTTP_PORT=… STATS_PORT=… just up"
                raise TandemError(f"the stack did not come up: {text.splitlines()[-1]}\n{remedy}") from None
            raise TandemError(f"the stack did not come up:\n{text}\n{self.unhealthy()}".rstrip()) from None

    def unhealthy(self) -> str:
        """Containers that do not run or are not healthy: of each its name and the end of its log. The application has no
        health check of its own: if anything is not healthy, it may be because of it."""
        out = []
        found = self.docker.compose.ps(all=True)
        states = [container.state.health.status if container.state.health else None for container in found]
        for container, health in zip(found, states, strict=True):
            suspect = health == "unhealthy" or (health is None and "unhealthy" in states)
            if container.state.status != "running" or suspect:
                out.append(f"--- {container.name} ({container.state.status}, {health}), end of its log:")
                out.append(tail(str(container.logs(tail=LOG_TAIL))))
        return "\n".join(out)

    def container(self, service: str) -> Container:
        """The service's container. Raises TandemError if there is none."""
        found = self._find(service)
        if found is None:
            raise TandemError(f"the service {service} has no container")
        return found

    def _own_name(self, service: str) -> str | None:
        """The name of a container that is one of several of its service: an application's slot, a generator after
        the first."""
        if service == APP:
            return f"{self.project}-{self.slot}" if self.slot else None
        return f"{self.project}-{service}" if is_generator(service) and service != FIRST else None

    def _find(self, service: str) -> Container | None:
        """Find the container by the name that Compose gives it: each visit asks dozens of times, and asking
        Compose takes several times as long."""
        name = self._own_name(service) or f"{self.project}-{service}-1"
        try:
            found: Container = self.at(service).container.inspect(name)
        except NoSuchContainer:
            return None
        return found

    def service(self, service: str) -> Service:
        """The running container of a service. Raises TandemError, with its log, if it does not run."""
        container = self.container(service)
        if not container.state.running or not container.state.pid:
            raise TandemError(
                f"{service} is not running ({container.state.status}), end of its log:\n{self.log(service)}"
            )
        networks = {
            name.removeprefix(f"{self.project}_"): found.ip_address
            for name, found in (container.network_settings.networks or {}).items()
            if found.ip_address
        }
        if not networks:
            raise TandemError(f"{service} has no address on the stack's networks")
        address = networks.get(HARNESS_ASKS_AT.get(service, ""), next(iter(networks.values())))
        site = self.sites.of(service)
        return Service(
            container.id,
            str(container.image),
            container.state.pid,
            site.reach(address, ports_asked(service, self.variables)),
            self.sites.cpuset(service, container.host_config.cpuset_cpus or ""),
            container.host_config.cpuset_cpus or "",
            networks,
            site.host,
            site.host.to_ours(container.state.started_at.timestamp()) if container.state.started_at else 0.0,
        )

    def seen_by(self, other: str, service: Service, name: str) -> str:
        """The address of a service, of this name, as another one sees it: on the network that both are in, or that of its
        host."""
        return self.sites.seen_from(name, self._beside(other, service), other)

    def _beside(self, other: str, service: Service) -> str:
        """A service's address on the network that another one is in too; where they share none, any."""
        shared = self._described[compose_name(other)]["networks"]
        own = service.networks
        return next((own[name] for name in own if name in shared), next(iter(own.values())))

    def app_seen_by(self, other: str, app: Service) -> tuple[str, int]:
        """Address and port of this stack's application as another service asks it."""
        outside = self.sites.outside(APP, [other])
        return (outside, self._port_outside) if outside else (self._beside(other, app), self.app_port)

    @property
    def app_port(self) -> int:
        """Port that this stack's application listens on."""
        return int(self.variables.get("APP_PORT", APP_PORT))

    @property
    def _port_outside(self) -> int:
        return APP_OUTSIDE_PORT + (slot_number(self.slot) if self.slot else 0)

    @cached_property
    def _published(self) -> tuple[str, int] | None:
        """Address at which other hosts ask this slot's application, and its own port; Compose's file has them of
        one alone."""
        outside = self.sites.outside(APP, ["proxy", "loadgen"])
        if outside is None or self.slot is None:
            return None
        return f"{outside}:{self._port_outside}", APP_PORT

    def runs(self, service: str) -> bool:
        """Whether the service has a container that runs."""
        found = self._find(service)
        return found is not None and bool(found.state.running)

    def environment(self, service: str) -> dict[str, str]:
        """The variables that a service's container has or will have: those of its image, then Compose's."""
        described = self._described[service]
        own = variables_of(self.docker.image.inspect(described["image"]))
        given = {name: value or "" for name, value in (described.get("environment") or {}).items()}
        return {**own, **given}

    def image(self, service: str) -> Image:
        """Image that the service's next container is made from; it must have been built."""
        image: Image = self.docker.image.inspect(self._described[service]["image"])
        return image

    def has_image(self, service: str) -> bool:
        """Whether there is an image to make the service's container from."""
        return bool(self.docker.image.exists(self._described[service]["image"]))

    def log(self, service: str, lines: int = LOG_TAIL) -> str:
        with _as_tandem_error(f"the log of {service} cannot be read"):
            return tail(str(self.container(service).logs(tail=lines)), lines)

    def execute(self, service: str, command: list[str], lasts_s: float = 0.0) -> str:
        """Runs a command in a service's container and returns its output. lasts_s: it takes so long by itself. Raises
        TandemError if it fails."""
        container, docker = self.container(service), docker_client(self.sites.of(service).url, lasts_s)
        with _as_tandem_error(f"`{' '.join(command)}` failed in {service}", ":\n"):
            return str(docker.container.execute(container.id, command) or "")

    def copy_out(self, service: str, source: str, target: Path) -> None:
        with _as_tandem_error(f"{source} cannot be copied out of {service}"):
            self.at(service).container.copy((self.container(service), source), target)

    def copy_in(self, service: str, source: Path, target: str) -> None:
        with _as_tandem_error(f"{source} cannot be copied into {service}"):
            self.at(service).container.copy(source, (self.container(service), target))

    def stop(self, service: str, grace_s: int, log: Path | None = None) -> int | None:
        """Stops and removes a service's container; returns its exit status, None if there was none.

        log: where the end of what it said goes, with its last words.
        """
        with _as_tandem_error(f"{service} cannot be stopped"):
            container = self._find(service)
            if container is None:
                return None
            if container.state.running:
                container.stop(time=grace_s)
            container.reload()  # type: ignore[no-untyped-call]
            status = container.state.exit_code
            said = str(container.logs(tail=KEPT_LINES)) if log is not None else ""
            container.remove(force=True, volumes=True)
        if log is not None:  # once the container is gone, whatever becomes of the file
            log.write_text(tail(said, KEPT_LINES) + "\n")
        return status

    def pause(self, service: str = "app") -> None:
        """Freezes a service: it keeps its memory and connections and gets no CPU. Raises TandemError."""
        with _as_tandem_error(f"{service} cannot be frozen"):
            self.container(service).pause()

    def unpause(self, service: str = "app") -> None:
        """Thaws a service, if it is frozen. Raises TandemError."""
        with _as_tandem_error(f"{service} cannot be thawed"):
            container = self.container(service)
            if container.state.paused:
                container.unpause()

    def down(self) -> None:
        """Removes the project's containers, network and volumes, found by Compose's own project label.

        The data goes as well, so PostgreSQL is not waited for until it has written them down: that takes seconds.
        """

        def one(docker: DockerClient) -> None:
            docker.compose.down(remove_orphans=True, volumes=True, timeout=1, quiet=True)

        to_its_end(lambda: side_by_side(one, self._at.values()))

    @property
    def left(self) -> bool:
        """Whether there is any container or volume of the project, on any host. A volume alone holds a database whose
        rows are not those of the next study."""
        own = f"com.docker.compose.project={self.project}"
        return any(
            docker.compose.ps(all=True) or docker.volume.list(filters=[("label", own)])
            for docker in self._at.values()
        )


def other_measurements(host: Host) -> list[str]:
    """Names of running harness containers, other than this one, that measure. host: the engine's."""
    found = DockerClient().container.list(filters=[("label", HARNESS_LABEL)])
    return [
        container.name
        for container in found
        if not host.is_harness(container.id)
        and (container.config.labels or {}).get(f"{LABEL}.command") in MEASURING
    ]


def remove_leftovers(root: Path, env_file: Path, sites: Sites = ALONE, project: str = BENCH_PROJECT) -> bool:
    """Removes what a killed study left behind, on every host; True if there was anything."""
    stack = Stack(root, project, {}, env_file, sites=sites)
    left = stack.left
    if left:
        stack.down()
    return left


def engine_name() -> str:
    """Name of the engine's host, by the engine."""
    return DockerClient().system.info().name or "unknown"


def engine_versions() -> dict[str, str]:
    """Versions of the engine and its clients."""
    docker = DockerClient()
    info = docker.version()
    compose = subprocess.run(
        ["docker", "compose", "version", "--short"], capture_output=True, text=True, check=False
    )
    return {
        "docker": (info.server.version if info.server else None) or "unknown",
        "compose": compose.stdout.strip() or "unknown",
    }
