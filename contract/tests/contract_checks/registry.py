"""All checks, in the order in which they run: the ones that disturb the stack come last."""

from collections.abc import Callable, Mapping

from contract_checks import (
    bodies,
    cookies,
    database_knobs,
    hygiene,
    inputs,
    knobs,
    openapi,
    outage,
    statements,
)
from contract_checks.backend import Backend

Check = Callable[[Backend], None]

CHECKS: tuple[Check, ...] = (
    *bodies.CHECKS,
    *inputs.CHECKS,
    *cookies.CHECKS,
    *statements.CHECKS,
    *openapi.CHECKS,
    *hygiene.CHECKS,
    *knobs.CHECKS,
    *database_knobs.CHECKS,
    *outage.CHECKS,
)


def unsupported(check: Check, reasons: Mapping[str, str]) -> str | None:
    """Why the check cannot be asked of an implementation that gives these reasons; None when it can."""
    knob: str = getattr(check, "knob", "")
    return f"{knob}: {reasons[knob]}" if knob in reasons else None
