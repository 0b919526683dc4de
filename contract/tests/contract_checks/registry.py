"""All checks, in the order in which they run, the ones that disturb the stack last; and which are of the tier hardened."""

from collections.abc import Callable

# isort: off
from contract_checks import (
    bodies, connections, cookies, crowds, dashboard, database_settings, hygiene, index, inputs, limits, notes, outage,
    parallelism, paths, pool, restarts, settings, statements, stopping, users, whole_path, work,
)  # fmt: skip

# isort: on
from contract_checks.backend import Backend
from contract_checks.catalog import Implementation

Check = Callable[[Backend], None]
MODULES = (
    connections, limits, paths, inputs, index, users, work, bodies, cookies, statements, dashboard, notes, hygiene, whole_path, settings,
    parallelism, database_settings, pool, crowds, stopping, outage, restarts,
)  # fmt: skip
CHECKS: tuple[Check, ...] = (
    *(check for module in MODULES for check in module.CHECKS),
    crowds.check_keep_alive,
)
HARDENED: frozenset[Check] = frozenset((
    connections.check_pipelined, connections.check_chunked, connections.check_malformed,
    connections.check_conflicting_lengths, *limits.CHECKS, inputs.check_head_requests, cookies.check_odd_sessions,
    hygiene.check_no_compilers, settings.check_bad_settings, crowds.check_slow_clients, crowds.check_broken_off,
    stopping.check_stop_closes_idle,
))  # fmt: skip
"""What only a program that stands in the open has to do. All other checks are core."""


def promised(check: Check, implementation: Implementation) -> bool:
    """Whether the check is of the implementation's tier."""
    return implementation.tier == "hardened" or check not in HARDENED
