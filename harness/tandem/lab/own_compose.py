"""Services of a reader's own that run beside the application: the others of their Compose file."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tandem.errors import UsageError, unknown
from tandem.lab.sites import APP
from tandem.lab.stack import LABEL, tail

NETWORK, PREFIX = "own", "own-"
"""Of compose/stack.yaml; and what their names begin with here, where `db` is another one. They are asked by their own names."""
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
"""What is taken over of each. Ports, health checks in a window, and ways out are not."""
NEVER = "24h"


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
        if name != APP:
            found[name] = [] if kind == "NONE" else [*shell, *command]
    return found
