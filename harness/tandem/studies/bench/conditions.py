"""The conditions under which each implementation is asked. Pure."""

from dataclasses import dataclass

from tandem.catalog.catalog import Catalog, Implementation
from tandem.catalog.placement import evaluate
from tandem.engine.grid import placed
from tandem.record.conclusion import Coordinates
from tandem.record.request import Variant

APP_BOUND_POOL = 4
DISTANCES_MS, POOLS = (5, 15), (20, 80)
CONNECTIONS = 100
"""Of the client where the database is far away: more than the largest pool, so that the pool is what is waited with."""
AS_ASKED = "as asked"


@dataclass(frozen=True)
class Condition:
    """One of them. pool: database connections; None: as asked. distance_ms: how far the database is away."""

    name: str
    topology: str | None = None
    pool: int | None = None
    distance_ms: int | None = None

    def label(self, variant: Variant) -> str:
        """What the variant is called under it."""
        return f"{variant.label} @ {self.name}"

    @property
    def question(self) -> str:
        """Which of the three it asks."""
        return (
            "cost" if self.name == AS_ASKED else "waiting-bound" if self.distance_ms else "application-bound"
        )

    @property
    def coordinates(self) -> Coordinates:
        """In what it differs from what was asked for."""
        named = {
            "question": self.question,
            "topology": self.topology,
            "pool": self.pool,
            "db_rtt_ms": self.distance_ms,
        }
        return {name: value for name, value in named.items() if value is not None}

    def of(self, variant: Variant, catalog: Catalog) -> Variant:
        """The variant under it."""
        settings, scenario, changes = dict[str, str](), dict[str, object](), dict[str, object]()
        if self.topology is not None:
            changes["topology"] = self.topology
        if self.pool is not None:
            threads = _threads(catalog.implementation(variant.implementation), self.pool)
            settings = {**threads, **variant.settings, "DB_POOL_MAX": str(self.pool)}
        if self.distance_ms is not None:
            changes["db_rtt_ms"] = self.distance_ms
            scenario["connections"] = CONNECTIONS
        return placed(variant, self.label(variant), self.coordinates, settings, scenario, **changes)


def _threads(implementation: Implementation, pool: int) -> dict[str, str]:
    """Handler threads for so many connections, where the implementation's own number is smaller: each holds one."""
    if implementation.model != "sync" or "THREADS" in implementation.unsupported.settings:
        return {}
    own = evaluate(implementation.defaults.get("THREADS", "1"), 1) * evaluate(
        implementation.defaults.get("WORKERS", "1"), 1
    )
    return {"THREADS": str(pool)} if own < pool else {}


COST = Condition(AS_ASKED)
APP_BOUND = Condition("direct, pool 4", topology="direct", pool=APP_BOUND_POOL)
"""Without HAProxy and PgBouncer a request costs the other CPUs half as much, and four connections keep the database's
own processes few: on two cores that lets the application be the limit. Whether it was, its windows say."""
WAITING = [
    Condition(f"{distance} ms, pool {pool}", pool=pool, distance_ms=distance)
    for distance in DISTANCES_MS
    for pool in POOLS
]
CONDITIONS = [COST, APP_BOUND, *WAITING]
