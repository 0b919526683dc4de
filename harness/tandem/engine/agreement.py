"""Whether several labs that made blocks of one study agree on a ratio. Pure."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from tandem.analysis import ratios
from tandem.engine.side_by_side import LAB
from tandem.record.trial import Trial
from tandem.record.window import Finding


def by_labs(ln_ratios: Mapping[int, float], trials: Iterable[Trial]) -> dict[str, list[float]]:
    """Lab -> the logarithms of its blocks. ln_ratios: by block. trials: of these blocks; each is of one lab."""
    labs = {trial.spec.block: str(trial.facts.get(LAB)) for trial in trials}
    found: dict[str, list[float]] = {}
    for block, ln in ln_ratios.items():
        found.setdefault(labs[block], []).append(ln)
    return found


def labs_differ(found: Mapping[str, Mapping[str, Sequence[float]]]) -> list[Finding]:
    """A warning for each ratio that the labs of a study do not agree on: such a one is the ratio of none of them.

    found: what a ratio is of -> lab -> its logarithm in each of the lab's blocks.
    """
    adjusted = ratios.holm([ratios.p_unlike(list(labs.values())) for labs in found.values()])
    out = []
    for (what, labs), p in zip(found.items(), adjusted, strict=True):
        if p is not None and p < ratios.ALPHA:
            told = ", ".join(
                f"x {math.exp(statistics.fmean(own)):.3f} in {lab} ({len(own)} blocks)"
                for lab, own in labs.items()
            )
            text = f"{what}: the labs do not agree: {told}; the overall ratio holds for none of them"
            out.append(Finding.of("labs-differ", "warning", text))
    return out
