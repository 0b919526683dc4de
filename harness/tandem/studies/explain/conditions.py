"""Conditions that A and B may have of their own, beside their settings: what stands around a program. Pure."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tandem.catalog.scenario import Scenario
from tandem.engine.grid import LONGEST_DISTANCE_MS
from tandem.errors import UsageError
from tandem.record.request import Request, Variant

DISTANCE, CONNECTIONS = "db-rtt", "connections"
LIMITS = {"proxy-limit": "APP_MAXCONN", "pooler-limit": "PGBOUNCER_POOL_SIZE"}
"""Condition -> variable of compose/stack.yaml: how many requests HAProxy lets in, how many connections PgBouncer opens."""
POOLER = {
    "pooler-mode": ("PGBOUNCER_POOL_MODE", ("transaction", "session")),
    "pooler-login": ("PGBOUNCER_AUTH_TYPE", ("scram-sha-256", "md5", "trust")),
}
"""Condition -> variable, and what it may be, the stack's own first. https://www.pgbouncer.org/config.html"""
CONDITIONS = (DISTANCE, CONNECTIONS, *LIMITS, *POOLER)
VARIABLES = {**LIMITS, **{name: variable for name, (variable, _) in POOLER.items()}}
"""Condition -> variable, of all that have one."""
MOST = 10_000
STANDS_IN = {"proxy": ("LOAD_ADDRESS", "proxy:"), "pooler": ("DATABASE_ADDRESS", "pgbouncer:")}
"""How the names of conditions begin that are of a service -> the variable of a topology in which it stands, and how."""


def checked(name: str, text: str) -> str:
    """A value as the rest of the module has it: `15ms`, `200`, `session`. Raises UsageError."""
    if name in POOLER:
        if text not in POOLER[name][1]:
            raise UsageError(f"{name} takes {' or '.join(POOLER[name][1])}, not '{text}'")
        return text
    match = re.fullmatch(r"([0-9]{1,5})(ms)?", text, re.ASCII)
    far = name == DISTANCE
    least, most = (0, LONGEST_DISTANCE_MS) if far else (1, MOST)
    if not match or bool(match[2]) != far or not least <= int(match[1]) <= most:
        unit, example = ("ms", "15ms") if far else ("", "200")
        raise UsageError(
            f"{name} takes whole numbers from {least}{unit} to {most}{unit}, such as {example}, not '{text}'"
        )
    return f"{int(match[1])}{'ms' if far else ''}"


def taken_out(variant: Variant) -> tuple[Variant, dict[str, str]]:
    """A variant as it was typed, without its conditions, and these. Raises UsageError."""
    own = {name: checked(name, text) for name, text in variant.settings.items() if name in CONDITIONS}
    left = {name: text for name, text in variant.settings.items() if name not in CONDITIONS}
    return variant.model_copy(update={"settings": left}), own


def equal(name: str, request: Request, variant: Variant, scenario: Scenario) -> str:
    """The value in the middle of the bridge, as both sides have it; empty: no such limit, no such distance."""
    if name == DISTANCE:
        ms = request.conditions.db_rtt_ms
        return "" if ms is None else f"{ms}ms"
    if name == CONNECTIONS:
        return str(variant.scenario_changes.get(CONNECTIONS, scenario.connections))
    return variant.variables.get(VARIABLES[name], POOLER[name][1][0] if name in POOLER else "")


def applied(variant: Variant, own: Mapping[str, str]) -> Variant:
    """The variant under these conditions."""
    changes: dict[str, Any] = {}
    if DISTANCE in own:
        changes["db_rtt_ms"] = int(own[DISTANCE].removesuffix("ms"))
    if CONNECTIONS in own:
        changes["scenario_changes"] = {**variant.scenario_changes, CONNECTIONS: int(own[CONNECTIONS])}
    around = {variable: own[name] for name, variable in VARIABLES.items() if name in own}
    return variant.model_copy(update={**changes, "variables": {**variant.variables, **around}})


def check_path(names: Iterable[str], topology: str, variables: Mapping[str, str]) -> None:
    """Raises UsageError for a condition of a service that no request passes.

    names: of conditions. topology: its name. variables: what compose/topologies says of it.
    """
    for name in names:
        variable, address = STANDS_IN.get(name.partition("-")[0], ("", ""))
        if not variables.get(variable, "").startswith(address):
            raise UsageError(
                f"{name} has no effect in the topology '{topology}': no request passes through it"
            )
