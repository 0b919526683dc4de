"""All checks, in the order in which they run: the ones that disturb the stack come last."""

from collections.abc import Callable

from contract_checks import (
    bodies,
    connections,
    cookies,
    crowds,
    dashboard,
    database_settings,
    hygiene,
    index,
    inputs,
    limits,
    notes,
    openapi,
    outage,
    parallelism,
    paths,
    pool,
    restarts,
    settings,
    statements,
    stopping,
    time_zone,
    users,
    work,
)
from contract_checks.backend import Backend

Check = Callable[[Backend], None]

CHECKS: tuple[Check, ...] = (
    *connections.CHECKS,
    *limits.CHECKS,
    *paths.CHECKS,
    *inputs.CHECKS,
    *index.CHECKS,
    *users.CHECKS,
    *work.CHECKS,
    *bodies.CHECKS,
    *cookies.CHECKS,
    *statements.CHECKS,
    *dashboard.CHECKS,
    *notes.CHECKS,
    *openapi.CHECKS,
    *hygiene.CHECKS,
    *settings.CHECKS,
    *parallelism.CHECKS,
    *database_settings.CHECKS,
    *time_zone.CHECKS,
    *pool.CHECKS,
    *crowds.CHECKS,
    *stopping.CHECKS,
    *outage.CHECKS,
    *restarts.CHECKS,
    crowds.check_keep_alive,
)
