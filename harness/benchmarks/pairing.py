"""How small a difference each design of a comparison finds per minute of machine time, from A/A data.

    python3 harness/benchmarks/pairing.py FOLDER...

FOLDER: of a `tandem compare` (design: alternation of short windows between warm starts, in blocks of fresh starts; the
reference against its second start is the data; where blocks end with a window of all at once, that too) or of a
`tandem bench` of one implementation (design: fresh starts one after the other, paired in the order in which they were
made, as blocks of two would be). Both halves of a pair are the same program, so all scatter is noise. For each folder
and way of analysis: the scatter of a block's ln ratio, a block's duration for two entrants, and the effect that 15
minutes of such blocks detect with 80 % power (two-sided 5 %). For alternation, also what other numbers of rounds in a
block would find, from the blocks' first rounds.
"""

import math
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tandem.analysis.disturbed import cut
from tandem.analysis.ratios import detectable_ratio
from tandem.compare.comparison import Block, second
from tandem.record.run import Verdict, Window
from tandem.record.store import Campaign, read_runs

BUDGET_S = 15 * 60
LEAST = 3
"""Blocks, or nothing is told."""
Figure = Callable[[Window], float | None]
Pairs = list[float]
"""ln ratios of one block, one for each round."""


def rate(window: Window) -> float | None:
    return window.goodput_rps


def cost(window: Window) -> float | None:
    return window.app_cpu_us_per_request


def cut_rate(window: Window) -> float | None:
    seconds = window.per_second
    return seconds and cut(seconds.good, seconds.app_cpu_s, seconds.steal_share).goodput_rps


def cut_cost(window: Window) -> float | None:
    seconds = window.per_second
    return seconds and cut(seconds.good, seconds.app_cpu_s, seconds.steal_share).app_cpu_us_per_request


FIGURES: dict[str, Figure] = {
    "rate": rate,
    "rate, stolen seconds cut": cut_rate,
    "CPU per request": cost,
    "CPU, stolen seconds cut": cut_cost,
}


def of_block(block: Block, reference: str, figure: Figure, duets: bool = False) -> Pairs:
    """ln of the second start by the first, for each round in which both have a figure."""
    found: dict[tuple[str, int], float] = {}
    for shot in block.duets if duets else block.shots:
        value = figure(shot.window) if shot.window and shot.window.verdict is Verdict.OK else None
        if value:
            found[shot.entrant, shot.round] = value
    rounds = sorted(
        {n for name, n in found if name == reference} & {n for name, n in found if name == second(reference)}
    )
    return [math.log(found[second(reference), n] / found[reference, n]) for n in rounds]


def block_s(block: Block) -> tuple[float, float]:
    """What starts, and what one round, would have lasted with the reference and one entrant alone."""
    share = 2 / len(block.starts)
    windows = block.phases_s["windows"] + block.phases_s["around windows"]
    rounds = max((shot.round for shot in block.shots), default=1)
    besides = sum(block.phases_s.values()) - windows - block.phases_s.get("all at once", 0.0)
    return besides * share, windows * share / rounds


@dataclass(frozen=True)
class Design:
    """What one way of comparing comes to."""

    name: str
    ln_ratios: list[float]
    """Of a program with itself, one for each block."""
    block_s: float
    """How long a block of two entrants lasts."""

    @property
    def scatter(self) -> float:
        """Standard deviation of a block's ln ratio."""
        return statistics.stdev(self.ln_ratios)

    @property
    def in_budget(self) -> int:
        return max(2, int(BUDGET_S / self.block_s))

    @property
    def finds(self) -> float | None:
        """The difference that BUDGET_S of such blocks detect, as a share."""
        effect = detectable_ratio(self.scatter, self.in_budget)
        return None if effect is None else effect - 1

    def __str__(self) -> str:
        if len(self.ln_ratios) < LEAST:
            return f"  {self.name:34} too few blocks"
        found = "-" if self.finds is None else f"{self.finds:.1%}"
        return (
            f"  {self.name:34} {len(self.ln_ratios):2} blocks of {self.block_s:4.0f} s; A/A"
            f" {statistics.fmean(self.ln_ratios):+.2%}; scatter {self.scatter:.2%}; {self.in_budget:3} blocks in 15 min find {found}"
        )


def design(name: str, blocks: Sequence[Pairs], lasts_s: float) -> Design:
    return Design(name, [statistics.fmean(found) for found in blocks if found], lasts_s)


def steal(windows: Sequence[Window]) -> str:
    shares = [window.host.steal_share or 0.0 for window in windows]
    return f"steal {statistics.fmean(shares):.1%} on average, {max(shares):.1%} at the most in a window"


def blocks(folder: Path) -> list[Block]:
    """Of a comparison, in their order."""
    return [Block.model_validate_json(file.read_text()) for file in sorted(folder.glob("blocks/*.json"))]


def alternation(folder: Path, reference: str) -> tuple[str, list[Design]]:
    made = blocks(folder)
    starts_s, round_s = (statistics.fmean(part) for part in zip(*map(block_s, made), strict=True))
    out = []
    for name, figure in FIGURES.items():
        pairs = [of_block(block, reference, figure) for block in made]
        most = max(map(len, pairs))
        for rounds in sorted({1, 2, 4, most} & set(range(1, most + 1))):
            cell = [found[:rounds] for found in pairs]
            out.append(design(f"{name}, {rounds} rounds", cell, starts_s + rounds * round_s))

    if any(block.duets for block in made):
        together_s = statistics.fmean(block.phases_s["all at once"] for block in made if block.duets)
        for name in ("CPU per request", "CPU, stolen seconds cut"):
            pairs = [of_block(block, reference, FIGURES[name], duets=True) for block in made]
            out.append(design(f"{name}, all at once", pairs, starts_s + round_s + together_s))
    return steal([shot.window for block in made for shot in block.shots if shot.window]), out


def visits(folder: Path) -> tuple[str, list[Design]]:
    trials = [trial for run in read_runs(folder) for trial in run.trials if trial.closed]
    good = [trial for trial in trials if trial.closed and trial.closed.verdict is Verdict.OK]
    lasts = [sum(p.duration_s for p in trial.phases if p.name != "open") for trial in good]
    out = []
    for name, figure in FIGURES.items():
        values = [value for trial in good if trial.closed and (value := figure(trial.closed))]
        pairs = [[math.log(later / first)] for first, later in zip(values[::2], values[1::2], strict=False)]
        out.append(design(name, pairs, 2 * statistics.fmean(lasts)))
    return steal([trial.closed for trial in good if trial.closed]), out


def designs(folder: Path) -> tuple[str, list[Design]]:
    """What is said of the host, and each design that the folder's data tell of."""
    if not (folder / "blocks").is_dir():
        return visits(folder)
    request = Campaign.model_validate_json((folder / "campaign.json").read_text()).request
    return alternation(folder, request.implementations[0])


def main() -> None:
    for folder in map(Path, sys.argv[1:]):
        host, found = designs(folder)
        print(f"{folder.name}: {host}", *found, sep="\n")


if __name__ == "__main__":
    main()
