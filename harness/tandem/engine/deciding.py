"""What a plan is too short for, in words, before anything starts. Pure."""

from tandem.analysis.ratios import BLOCKS_LEAST
from tandem.catalog.catalog import Catalog, Plan
from tandem.wording import lasts

INTERVAL_LEAST = 3
"""Blocks of an interval that can decide anything: by Student's t one of two blocks reaches nine times their scatter to
either side, one of three two and a half times."""


def too_few(
    have: int, least: int, what: str, expected_s: float, cannot: str, plan: str = "", so: str = ""
) -> list[str]:
    """Empty where there are enough. what: is there so often, in the plural; expected_s: how long so few of it take.

    cannot: be found by them; plan: an option with enough; so: what comes out all the same.
    """
    if have >= least:
        return []
    few = what if have > 1 else what.removesuffix("s")
    named = f" ({plan})" if plan else ""
    lasting = lasts(expected_s * least / have)
    told = f"{have} {few} cannot {cannot}: that takes {least}{named}, about {lasting} with these windows"
    return [f"{told}. {so}" if so else told]


def too_few_blocks(catalog: Catalog, plan: Plan, variants: int, expected_s: float) -> list[str]:
    """What a plan of so few blocks cannot decide of several variants. expected_s: of this plan."""
    if variants < 2:
        return []
    enough = [one for one in catalog.plans.values() if one.trials >= BLOCKS_LEAST and one.cpus_least <= 1]
    return too_few(
        plan.trials,
        BLOCKS_LEAST,
        "blocks",
        expected_s,
        "show that two variants differ",
        f"--plan {min(enough, key=lambda one: one.trials).name}" if enough else "",
        "The result will be figures with intervals, and whether variants are equivalent",
    )
