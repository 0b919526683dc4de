"""What a bench concludes: estimates of each variant, ratios to the first, and what explains them. Pure."""

from collections.abc import Sequence

from tandem.engine.context import InContext, contexts
from tandem.engine.findings import worst
from tandem.facts.estimate import OfVariant, against_first, of_variants
from tandem.facts.fact import Fact
from tandem.facts.metric import LATENCY_BOUND, MEMORY_PER_CONNECTION, MEMORY_REST
from tandem.record.request import Variant
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial


class Benched(InContext):
    """Estimates, ratios to the first variant under the same condition, and what explains them."""


def offered(fact: Fact) -> float | None:
    return fact.window.offered_rps if fact.role == "open" else None


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


def waiting_percent(fact: Fact) -> float | None:
    share = waiting_share(fact)
    return None if share is None else share * 100


def waiting_rps(fact: Fact) -> float | None:
    """The rate at which that share is 1."""
    share = waiting_share(fact)
    return None if share is None else fact.window.goodput_rps / share


FURTHER = {
    "offered_rps": offered,
    MEMORY_REST: memory_rest,
    MEMORY_PER_CONNECTION: memory_per_connection,
    LATENCY_BOUND: waiting_percent,
    "latency_bound_rps": waiting_rps,
}
"""Metrics that a bench has beyond those of every study."""


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
