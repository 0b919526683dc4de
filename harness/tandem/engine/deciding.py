"""What a plan is too short for, in words, before anything starts. Pure."""

from typing import Any

from tandem.analysis.ratios import BLOCKS_LEAST
from tandem.catalog.catalog import Catalog
from tandem.engine.study import Study, Tell

INTERVAL_LEAST = 3
"""Blocks of an interval that can decide anything: by Student's t one of two blocks reaches nine times their scatter to
either side, one of three two and a half times."""


def warn_of_too_few(
    tell: Tell, have: int, least: int, what: str, cannot: str, plan: str = "", so: str = ""
) -> None:
    """Say nothing where there are enough. what: is there so often, in the plural; cannot: be found by so few.

    plan: an option with enough; so: what comes out all the same.
    """
    if have >= least:
        return
    few = what if have > 1 else what.removesuffix("s")
    named = f" ({plan})" if plan else ""
    told = f"{have} {few} cannot {cannot}: that takes {least}{named}, {least / have:.2g} times as long"
    tell(f"{told}. {so}" if so else told)


def warn_of_too_few_blocks(study: Study[Any], blocks: int, plan: str) -> None:
    """The same of blocks in which several variants are compared."""
    if len(study.request.variants) > 1:
        cannot = "show that two variants differ"
        so = "The result will be figures with intervals, and whether variants are equivalent"
        warn_of_too_few(study.tell, blocks, BLOCKS_LEAST, "blocks", cannot, plan, so)


def shortest_with_enough(catalog: Catalog) -> str:
    """The option for the shortest plan that has enough blocks."""
    enough = [one for one in catalog.plans.values() if one.trials >= BLOCKS_LEAST and one.cpus_least <= 1]
    return f"--plan {min(enough, key=lambda one: one.trials).name}" if enough else ""
