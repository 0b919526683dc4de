"""How small a difference each design of a comparison finds per minute of machine time, from A/A data.

    python3 harness/benchmarks/pairing.py FOLDER...

FOLDER: of `tandem compare` runs. The reference against its second start is the data: both are the same program, so all
scatter is noise. For each folder and way of analysis: the scatter of a block's ln ratio, a block's duration for two entrants, and
the effect that 15 minutes of such blocks detect with 80 % power (two-sided 5 %).
"""

import math
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tandem.comparison import Block, Shot, second
from tandem.disturbed import cut
from tandem.ratios import detectable_ratio
from tandem.record import Verdict
from tandem.store import Campaign

BUDGET_S = 15 * 60
Figure = Callable[[Shot], float | None]


def rate(shot: Shot) -> float | None:
    return shot.window.goodput_rps if shot.window else None


def cost(shot: Shot) -> float | None:
    return shot.window.app_cpu_us_per_request if shot.window else None


def cut_rate(shot: Shot) -> float | None:
    seconds = shot.window.per_second if shot.window else None
    return None if seconds is None else cut(seconds.good, seconds.app_cpu_s, seconds.steal_share).goodput_rps


def cut_cost(shot: Shot) -> float | None:
    seconds = shot.window.per_second if shot.window else None
    if seconds is None:
        return None
    return cut(seconds.good, seconds.app_cpu_s, seconds.steal_share).app_cpu_us_per_request


def pairs(block: Block, reference: str, figure: Figure) -> list[float]:
    """ln of the second start by the first, one value for each round in which both have a figure."""
    found: dict[tuple[str, int], float] = {}
    for shot in block.shots:
        value = figure(shot) if shot.window and shot.window.verdict is Verdict.OK else None
        if value:
            found[shot.entrant, shot.round] = value
    rounds = sorted(
        {n for name, n in found if name == reference} & {n for name, n in found if name == second(reference)}
    )
    return [math.log(found[second(reference), n] / found[reference, n]) for n in rounds]


def block_s(block: Block) -> float:
    """What the block would have lasted with the reference and one entrant alone."""
    return sum(block.phases_s.values()) * 2 / len(block.starts)


def line(
    name: str, blocks: list[Block], reference: str, figure: Figure, middle: Callable[[list[float]], float]
) -> str:
    values = [middle(found) for block in blocks if (found := pairs(block, reference, figure))]
    lasts = statistics.fmean(map(block_s, blocks))
    if len(values) < 3:
        return f"  {name:32} too few blocks"
    scatter, n = statistics.stdev(values), max(2, int(BUDGET_S / lasts))
    within = [
        statistics.stdev(found) / math.sqrt(len(found))
        for b in blocks
        if len(found := pairs(b, reference, figure)) > 1
    ]
    inner = f"{np.sqrt(np.mean(np.square(within))):.2%}" if within else "–"
    effect = detectable_ratio(scatter, n)
    mean = statistics.fmean(values)
    return (
        f"  {name:32} blocks {len(values):2} of {lasts:4.0f} s; A/A {mean:+.2%}; scatter {scatter:.2%} (of windows alone {inner});"
        f" {n} blocks in 15 min find {0 if effect is None else effect - 1:.1%}"
    )


def main() -> None:
    for folder in map(Path, sys.argv[1:]):
        campaign = Campaign.model_validate_json((folder / "campaign.json").read_text())
        reference = campaign.request.implementations[0]
        blocks = [
            Block.model_validate_json(file.read_text()) for file in sorted(folder.glob("blocks/*.json"))
        ]
        steal = [s.window.host.steal_share for b in blocks for s in b.shots if s.window]
        print(
            f"{folder.name}: steal {np.mean(steal):.1%} on average, {max(steal):.1%} at the most in a window"
        )
        print(line("rate", blocks, reference, rate, statistics.fmean))
        print(line("rate, median of rounds", blocks, reference, rate, statistics.median))
        print(line("rate, disturbed seconds cut", blocks, reference, cut_rate, statistics.fmean))
        print(line("CPU per request", blocks, reference, cost, statistics.fmean))
        print(line("CPU, median of rounds", blocks, reference, cost, statistics.median))
        print(line("CPU, disturbed seconds cut", blocks, reference, cut_cost, statistics.fmean))


if __name__ == "__main__":
    main()
