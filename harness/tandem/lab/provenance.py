"""What has to be known to make a run again: sources, images, versions, effective configuration, host."""

import hashlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import psycopg

from tandem.errors import TandemError
from tandem.hosts import Host
from tandem.lab.images import origins
from tandem.lab.sources import git, has_changes
from tandem.lab.stack import Stack, engine_versions
from tandem.load import vegeta
from tandem.load.generator import check_version
from tandem.probes.pools import PgBouncer
from tandem.probes.postgres import ADMIN_PASSWORD, Postgres
from tandem.record.result import Environment

TANDEM_VERSION = "0.1.0"
HAPROXY_CONFIGURATION = "/etc/tandem/haproxy.cfg"
TREES = ("contract", "compose", "loadgen", "harness/tandem")
"""Folders whose content decides what is measured, besides the implementation's own."""
COMMON = "common"
"""Folder with one for each language whose implementations share sources: `common/<language of bench.toml>`."""
LOCKS = ("uv.lock", "Cargo.lock", "package-lock.json", "go.sum")
PASSING = {
    "__pycache__",
    ".pytest_cache",
    ".ruff_cache",
    ".mypy_cache",
    ".hypothesis",
    "node_modules",
    "target",
}


def _digest(root: Path, files: Iterable[Path]) -> str:
    """SHA-256 over the names and contents of files, in the order of their names."""
    whole = hashlib.sha256()
    for file in sorted(files):
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        whole.update(f"{content}  {file.relative_to(root).as_posix()}\n".encode())
    return whole.hexdigest()


def hashes(root: Path) -> dict[str, str]:
    """SHA-256 of every lock file, and one of each of TREES and of each language's common folder as a whole, without
    what tools leave there."""
    found = {
        file.relative_to(root).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for name in LOCKS
        for file in sorted(root.glob(f"*/{name}"))
    }
    common = [folder.relative_to(root).as_posix() for folder in sorted(root.glob(f"{COMMON}/*/"))]
    for tree in (*TREES, *common):
        files = [
            file
            for file in (root / tree).rglob("*")
            if file.is_file() and not PASSING & set(file.relative_to(root).parts)
        ]
        found[f"{tree}/"] = _digest(root, files)
    return found


def _lines(settings: dict[str, str]) -> str:
    return "\n".join(f"{name}={value}" for name, value in sorted(settings.items()))


def configuration(stack: Stack, host: Host) -> dict[str, str]:
    """The effective configuration of every component and of their host, as text. The stack must be up, the
    application need not. Raises TandemError where a component does not tell its settings."""
    database = Postgres(stack.service("db").address, ADMIN_PASSWORD, {})
    asked = "the database"
    try:
        postgresql = _lines(database.changed_settings())
        asked = "PgBouncer"
        with closing(PgBouncer(stack.service("pgbouncer").address, ADMIN_PASSWORD)) as pooler:
            pgbouncer = _lines(pooler.changed_settings())
    except psycopg.Error as error:
        raise TandemError(
            f"{asked} was asked for its settings and did not answer: {str(error).strip()}. It answered when it"
            " started, so this machine is busy or too slow: try again while nothing else runs"
        ) from None
    finally:
        database.forget()  # a connection would keep the database from being replaced
    return {
        "app environment": _lines(stack.environment("app")),
        "haproxy.cfg": stack.execute("proxy", ["cat", HAPROXY_CONFIGURATION]),
        "haproxy environment": _lines(stack.environment("proxy")),
        "pgbouncer": pgbouncer,
        "postgresql": postgresql,
        "mitigations": host.mitigations(),
    }


def second_opinions(stack: Stack) -> dict[str, str]:
    """Versions of the generators besides oha, where the image has them; wrk does so with a status of 1."""
    image = stack.variables.get("LOADGEN", "")
    asked: dict[str, tuple[list[str], Callable[[str], str]]] = {
        "vegeta": (["vegeta", "-version"], vegeta.version),
        "wrk": (["sh", "-c", "wrk -v || true"], lambda said: said.split()[1]),
        "drill": (["drill", "--version"], lambda said: said.split()[1]),
    }
    return {
        name: version_in(stack.execute("loadgen", command))
        for name, (command, version_in) in asked.items()
        if image in (name, "all")
    }


def of_another(found: Environment, stack: Stack, settings: dict[str, str]) -> Environment:
    """The environment of a further variant on the same services. found: of the first."""
    own = {"app environment": _lines(stack.environment("app"))}
    app = {"app": str(stack.image("app").id)}
    shared = {role: place for role, place in found.taken.items() if role != "app"}
    return found.model_copy(
        update={
            "images": {**found.images, **app},
            "taken": {**shared, **origins(app)},
            "settings": settings,
            "variables": stack.variables,
            "configuration": {**found.configuration, **own},
        }
    )


def environment(root: Path, stack: Stack, settings: dict[str, str], images: dict[str, str]) -> Environment:
    """The record's environment. The stack must be up and the application's image built."""
    host = stack.sites.of("app").host
    asked: dict[str, Callable[[], str]] = {
        "oha": lambda: check_version(stack.execute("loadgen", ["oha", "--version"])),
        "haproxy": lambda: stack.execute("proxy", ["haproxy", "-v"]).split()[2],
        "pgbouncer": lambda: stack.execute("pgbouncer", ["pgbouncer", "--version"]).split()[1],
        "postgresql": lambda: stack.execute("db", ["postgres", "--version"]).split()[2],
        "psrecord": lambda: version("psrecord"),
    }
    if "faults" in images:
        asked["toxiproxy"] = lambda: stack.execute("faults", ["toxiproxy-server", "-version"]).split()[-1]
    every = {**images, "app": str(stack.image("app").id)}
    # In parallel: nearly all of it is waiting for Docker's command line.
    with ThreadPoolExecutor() as side_by_side:
        told = {name: side_by_side.submit(of) for name, of in asked.items()}
        engine = side_by_side.submit(engine_versions)
        second = side_by_side.submit(second_opinions, stack)
        configured = side_by_side.submit(configuration, stack, host)
        taken = side_by_side.submit(origins, every)
        changes = side_by_side.submit(has_changes, root)
        described, hashed = host.describe(), hashes(root)
    return Environment(
        tandem_version=TANDEM_VERSION,
        git_commit=git(root, "rev-parse", "HEAD"),
        git_dirty=changes.result(),
        host=described,
        hosts=stack.sites.record(),
        images=every,
        taken=taken.result(),
        versions={
            **engine.result(),
            **{name: said.result() for name, said in told.items()},
            **second.result(),
        },
        settings=settings,
        variables=stack.variables,
        hashes=hashed,
        configuration=configured.result(),
    )
