"""From an alarm to its answer: which images are compared over fresh blocks, and what follows from that. Pure."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from datetime import datetime

from tandem.analysis import change
from tandem.analysis.ratios import Ratio
from tandem.history.judged import JudgedSeries
from tandem.history.night import AlarmAnswer, Answered, Program
from tandem.studies.compare.conclusions import METRICS

ALPHA = 0.01
"""Of a confirmation."""


@dataclass(frozen=True)
class FreshBlocks:
    """What a comparison of two images came to."""

    id: str
    """Of its result."""
    ratio: Ratio | None
    """New by old; None where the host left none."""
    command: str
    """What repeats it."""


type Comparisons = Generator[tuple[Program, Program], FreshBlocks, AlarmAnswer | None]
"""Yields an old and a new image, receives what their comparison came to."""


def differs_as(ratio: Ratio, up: bool) -> bool:
    """Whether a comparison confirms an alarm: surely different, and on the same side."""
    if ratio.ratio is None or ratio.p_t is None:
        return False
    return ratio.p_t < ALPHA and (ratio.ratio > 1) is up


def answered(one: JudgedSeries, there: Sequence[Program], now: Callable[[], datetime]) -> Comparisons:
    """The last good image against the one that raised the alarm; where they differ, bisection over those between.

    there: the images of `one.between` that this machine still has. now: the time. Returns None where the host voided a
    comparison: the alarm stays open until the next night.
    """

    def answer(word: Answered, **more: object) -> AlarmAnswer:
        at, key = now(), one.key
        return AlarmAnswer.model_validate(
            {
                "id": f"{at:%Y%m%dT%H%M%SZ}-{key.implementation}-{key.scenario}-{key.metric}",
                "series": key,
                "since": one.since,
                "raised": one.raised,
                "answered_at": at,
                "word": word,
                "worse": one.up == (METRICS[key.metric].better == "lower"),
                **more,
            }
        )

    if one.said == "machine":
        return answer("machine")
    if len(one.between) < 2:
        return answer("same image", good=one.good)
    if len(there) < 2 or there[-1] != one.between[-1]:
        return answer("image missing", good=one.good, bad=one.between[-1])
    last = len(there) - 1
    tried, seen, ids = last, list[tuple[int, bool]](), list[str]()
    while True:
        found = yield there[0], there[tried]
        ids.append(found.id)
        if found.ratio is None:
            return None
        differs = differs_as(found.ratio, one.up)
        if tried == last and not differs:
            of = {"good": there[0], "bad": there[last]}
            return answer("not confirmed", **of, ratio=found.ratio, results=ids, command=found.command)
        if differs:  # those that follow are of earlier images
            best = found
        if tried != last:
            seen.append((tried, differs))
        low, high = change.bisected(len(there), seen)
        if high - low == 1:
            of = {"good": there[low], "bad": there[high]}
            return answer("confirmed", **of, ratio=best.ratio, results=ids, command=best.command)
        tried = (low + high) // 2
