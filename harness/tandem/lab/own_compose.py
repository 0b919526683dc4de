"""Services of a reader's own that run beside the application: the others of their Compose file."""

import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tandem.errors import UsageError, unknown
from tandem.lab.sites import APP, DATABASE
from tandem.lab.stack import GUNICORN, GUNICORN_PATIENCE, LABEL, tail

NETWORK, PREFIX = "own", "own-"
"""Network (compose/stack.yaml), and what their names begin with here: `db` is another one. They are asked by their own names."""
TAKEN = (
    "image",
    "command",
    "entrypoint",
    "environment",
    "user",
    "working_dir",
    "tmpfs",
    "shm_size",
    "ulimits",
)
"""Keys that are taken over of each service. Ports, health checks in a window, and ways out are not."""
NEVER = "24h"
DATA = "/own.sql"
"""Where compose/db/start finds the data of a reader's own."""


def overlay_of(file: Path, service: str) -> dict[str, Any]:
    """Compose's overlay to compose.yaml: the application with the environment that this service of a file has, and the others of the
    file. Raises UsageError."""
    command = ["docker", "compose", "-f", str(file), "config", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UsageError(f"{file}: Compose cannot read it: {tail(done.stderr, 3)}")
    services: dict[str, dict[str, Any]] = json.loads(done.stdout).get("services", {})
    if service not in services:
        raise unknown(f"service of {file.name}", service, services)
    environment = services[service].get("environment") or {}
    app: dict[str, Any] = {"environment": environment, "networks": {NETWORK: {}}}
    others = {PREFIX + name: _beside(file, name, one) for name, one in services.items() if name != service}
    return {"services": {APP: app, **others}}


def with_environment(
    overlay: Mapping[str, Any], names: Iterable[str], of_image: Mapping[str, str]
) -> dict[str, Any]:
    """The overlay by which the application has the variables of its image, and of the contract's only those that were chosen: Compose
    takes what is null from the variables of the stack, and leaves out what is not there either. names: of the contract's. of_image:
    its variables. https://docs.docker.com/reference/compose-file/services/#environment"""
    services = {**overlay.get("services", {})}
    app = services.get(APP, {})
    own = of_image.get(GUNICORN, "").replace("$", "$$")
    patient = {GUNICORN: f"{own} {GUNICORN_PATIENCE}"} if own else {}
    services[APP] = {**app, "environment": {**dict.fromkeys(names), **patient, **app.get("environment", {})}}
    return {"services": services}


def with_database(overlay: Mapping[str, Any], file: Path, root: Path) -> dict[str, Any]:
    """The overlay by which the laboratory's database has the data of an SQL file; of one below root the record names the place in
    the checkout, so that it is replayed elsewhere. Raises UsageError."""
    if not file.is_file():
        raise UsageError(f"{file}: there is no such file, which `database` names")
    source = f"./{file.relative_to(root)}" if file.is_relative_to(root) else str(file)
    data = {"volumes": [{"type": "bind", "source": source, "target": DATA, "read_only": True}]}
    return {"services": {**overlay.get("services", {}), DATABASE: data}}


def _beside(file: Path, name: str, described: Mapping[str, Any]) -> dict[str, Any]:
    if not described.get("image"):
        raise UsageError(f"{file}: {name} has no `image`: build it, and name what was built")
    found = {key: described[key] for key in TAKEN if described.get(key)}
    test = (described.get("healthcheck") or {}).get("test")
    return {
        **found,
        **({"healthcheck": {"test": test, "interval": NEVER}} if test else {}),
        "volumes": [_volume(one) for one in described.get("volumes") or []],
        "networks": {NETWORK: {"aliases": [name]}},
        "cpuset": "${DB_CPUSET:-}",
        "restart": "no",
        "labels": {LABEL: "stack"},
    }


def _volume(one: Mapping[str, Any]) -> dict[str, Any]:
    """Files of the reader's are read alone, and data begin empty."""
    if one["type"] == "bind":
        return {"type": "bind", "source": one["source"], "target": one["target"], "read_only": True}
    return {"type": "volume", "target": one["target"]}


def healthy_by(overlay: Mapping[str, Any]) -> dict[str, list[str]]:
    """Service beside the application -> the command that says whether it is healthy; empty: nothing does."""
    found = {}
    for name, one in overlay.get("services", {}).items():
        kind, *command = (one.get("healthcheck") or {}).get("test") or ["NONE"]
        shell = ["sh", "-c"] if kind == "CMD-SHELL" else []
        if name.startswith(PREFIX):
            found[name] = [] if kind == "NONE" else [*shell, *command]
    return found
