"""What a request costs in CPU time over everything that works for it. Pure.

A window's record has the application's CPU per request, and what each role used in cores in the same seconds. So each role's
part is the application's, times its cores by the application's.
"""

from tandem.record.window import Window

TOTAL, APP = "total_cpu_us_per_request", "app_cpu_us_per_request"
"""Keys of the cost over all roles, and of the application's own part."""
AT = "_at_"
"""What stands between a metric's key and the share of the slowest's rate, in percent, at which it was taken:
`total_cpu_us_per_request_at_60`."""
ROLES = ("app", "pgbouncer", "db", "proxy")
"""What a request is charged with. The generator and the harness ask and watch. Toxiproxy stands for a distance, which would
use no CPU if it were real."""

OWN = "own-"
"""Beginning of the names of services that run beside a reader's own (tandem.lab.own_service)."""


def at(metric: str, share: float) -> str:
    """The key of a metric at an equal rate."""
    return f"{metric}{AT}{share * 100:.0f}"


def cpu_us_per_request_by_role(window: Window, alone: bool = True) -> dict[str, float]:
    """Role -> CPU per request in µs, of ROLES and of those of a reader's own as far as they ran.

    alone: nobody else was loaded in the same seconds (`WindowRecord.alone`); else nobody knows for whom the others worked.
    Empty where that is so, and where the application used no CPU time that was measured.
    """
    app_us, app = window.app_cpu_us_per_request, window.roles.get("app")
    if not alone or not app_us or app is None or app.cpu_cores <= 0:
        return {}
    charged = [role for role in window.roles if role in ROLES or role.startswith(OWN)]
    return {role: app_us * window.roles[role].cpu_cores / app.cpu_cores for role in charged}


def total_cpu_us_per_request(window: Window, alone: bool = True) -> float | None:
    """CPU per request in µs, all roles together; null where `cpu_us_per_request_by_role` is empty."""
    return sum(cpu_us_per_request_by_role(window, alone).values()) or None
