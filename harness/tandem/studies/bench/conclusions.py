"""What a bench concludes: estimates of each variant, ratios to the first, and what explains them; and the
conditions under which each implementation is asked three questions. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from tandem.catalog.catalog import Catalog, Implementation
from tandem.catalog.placement import evaluate
from tandem.engine.context import InContext, contexts
from tandem.engine.findings import worst
from tandem.engine.grid import placed
from tandem.facts.estimate import OfVariant, ReadFact, against_first, of_variants
from tandem.facts.fact import Fact
from tandem.facts.metric import LATENCY_BOUND, MEMORY_PER_CONNECTION, MEMORY_REST
from tandem.record.conclusion import Coordinates
from tandem.record.request import Variant
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial

DISTANCES_MS, POOLS = (5, 15), (20, 80)
CONNECTIONS = 100
"""Connections of the client if the database is far away: more than the largest pool, so that the pool is what is waited with."""


@dataclass(frozen=True)
class Condition:
    """A condition. question: which of the three it asks. pool: database connections; None: as asked. distance_ms: how far the
    database is away."""

    name: str
    question: str
    topology: str | None = None
    pool: int | None = None
    distance_ms: int | None = None

    def label(self, variant: Variant) -> str:
        """What the variant is called under the condition."""
        return f"{variant.label} @ {self.name}"

    @property
    def coordinates(self) -> Coordinates:
        """Coordinates in which the condition differs from what was asked for."""
        named = {
            "question": self.question,
            "topology": self.topology,
            "pool": self.pool,
            "db_rtt_ms": self.distance_ms,
        }
        return {name: value for name, value in named.items() if value is not None}

    def of(self, variant: Variant, catalog: Catalog) -> Variant:
        """The variant under the condition."""
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


COST = Condition("as asked", "cost")
APP_BOUND = Condition("direct, pool 4", "application-bound", topology="direct", pool=4)
"""A condition in which the application can be the limit on two cores: without HAProxy and PgBouncer a request costs the other
CPUs half as much, and four connections keep the database's own processes few. Whether it was, its windows say."""
WAITING = [
    Condition(f"{distance} ms, pool {pool}", "waiting-bound", pool=pool, distance_ms=distance)
    for distance in DISTANCES_MS
    for pool in POOLS
]
CONDITIONS = [COST, APP_BOUND, *WAITING]


class Benched(InContext):
    """Estimates, ratios to the first variant under the same condition, and what explains them."""


def memory_rest(fact: Fact) -> float | None:
    """MiB after the first answer, before any load."""
    rest = fact.start.memory_rest_bytes
    return None if rest is None or fact.role != "closed" else rest / 2**20


def memory_per_connection(fact: Fact) -> float | None:
    """KiB by which the closed load's peak is above that, by its connections."""
    rest, peak = fact.start.memory_rest_bytes, fact.window.app_memory_peak_bytes
    if rest is None or peak is None or fact.role != "closed":
        return None
    return (peak - rest) / fact.window.connections / 2**10


def waiting_share(fact: Fact) -> float | None:
    """How much of connections / (round trips x idle round trip) was reached where the database is far away, as a share."""
    far = [one.utilisation for one in fact.window.resources if one.tag == "distance"]
    return far[0] if far and far[0] > 0 and fact.coordinates.get("question") == "waiting-bound" else None


FURTHER: dict[str, ReadFact] = {
    "offered_rps": lambda fact: fact.window.offered_rps if fact.role == "open" else None,
    MEMORY_REST: memory_rest,
    MEMORY_PER_CONNECTION: memory_per_connection,
    LATENCY_BOUND: lambda fact: (share := waiting_share(fact)) and share * 100,
    "latency_bound_rps": lambda fact: (share := waiting_share(fact)) and fact.window.goodput_rps / share,
}
"""Metrics that a bench has beyond those of every study. The last: the rate at which the share of what waiting allows is 1."""


def conclude(
    groups: Sequence[Sequence[Variant]], trials: Sequence[Trial], needed: int, baselines: Baselines
) -> Concluded[Benched]:
    """What trials of these variants come to. groups: variants that are compared with one another. needed: good starts of
    each. baselines: with the looks at the ceilings."""
    found, every = Benched(), list[OfVariant]()
    for variants in groups:
        group = of_variants(trials, variants, needed)
        own = [one for each in group for one in (*each.standard(), *each.estimates(FURTHER))]
        beside = contexts(group, trials, own, baselines)
        not_ranked = {
            one.variant.label: context.not_ranked
            for one, context in zip(group, beside, strict=True)
            if context.not_ranked
        }
        found.estimates += own
        found.contexts += beside
        found.contrasts += against_first(group, not_ranked)
        every += group
    return Concluded(
        verdict=worst(one.verdict for one in every),
        reasons=[f"{one.variant.label}: {reason}" for one in every for reason in one.reasons],
        conclusions=found,
    )
