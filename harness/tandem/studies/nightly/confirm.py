"""From an alarm to its answer: which images are compared over fresh blocks, and what follows from that. Pure."""

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import NormalDist

from tandem.analysis import change
from tandem.facts.metric import metric
from tandem.history.judged import Doubted, JudgedSeries
from tandem.history.night import AlarmAnswer, Answered, EventAnswer, Program
from tandem.record.conclusion import Contrast

ALPHA = 0.01
"""Significance level of a confirmation."""


@dataclass(frozen=True)
class FreshBlocks:
    """What a comparison of two images came to."""

    id: str
    """Id of the comparison's result."""
    ratio: Contrast | None
    """Ratio of the new image to the old; None where the host left none."""
    command: str
    """Command that repeats the comparison."""


type Comparisons = Generator[tuple[Program, Program], FreshBlocks, AlarmAnswer | None]
"""Yields an old and a new image, receives what their comparison came to."""


def differs_as(ratio: Contrast, up: bool) -> bool:
    """Whether a comparison confirms an alarm: surely different, and on the same side."""
    if ratio.ratio is None or ratio.p_alone is None:
        return False
    return ratio.p_alone < ALPHA and (ratio.ratio > 1) is up


def other_base(one: Program, other: Program) -> bool:
    """Whether two images are known to be built on different bases."""
    return None not in (one.base, other.base) and one.base != other.base


def event_answer(one: Doubted, found: FreshBlocks, now: datetime) -> EventAnswer:
    """Whether an event moved a series: fresh blocks are another night of it, and differ from its level by more than a night
    does, with the error of the blocks themselves."""
    moved, key = None, one.key
    if found.ratio is not None and found.ratio.ratio is not None and found.ratio.sd_ln is not None:
        scatter = math.hypot(one.scatter, found.ratio.sd_ln / math.sqrt(found.ratio.n))
        away = abs(math.log(found.ratio.ratio) - one.level) / scatter
        moved = away > NormalDist().inv_cdf(1 - ALPHA / 2)
    return EventAnswer(
        id=f"{now:%Y%m%dT%H%M%SZ}-{key.implementation}-{key.scenario}-{key.metric}",
        series=key,
        night=one.night,
        what=one.what,
        answered_at=now,
        level=one.level,
        scatter=one.scatter,
        ratio=found.ratio,
        moved=moved,
        result=found.id,
        command=found.command,
    )


def confirmed(
    one: JudgedSeries,
    there: Sequence[Program],
    now: Callable[[], datetime],
    again: Callable[[Program], Program | None],
) -> Comparisons:
    """The last good image against the one that raised the alarm; where they differ, bisection over those between.

    Where the two stand on different bases, commits and base both changed. Then the good commit is built again on the new base
    first, and takes the place of the good image; where it is as the bad one, it is compared with the good image, which tells
    what the base did. A machine that moved as well hides nothing where it is known what came: fresh blocks of both images run
    on the new one.

    there: the images of `one.between` that this machine still has. now: the time. again: builds an image's commit on today's
    base; None where that cannot be done. Returns None where the host voided a comparison: the alarm stays open until the
    next night.
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
                "worse": one.up == (metric(key.metric).better == "less"),
                **more,
            }
        )

    if one.said == "machine" and (not one.events or len(one.between) < 2):
        return answer("machine")
    if len(one.between) < 2:
        return answer("same image", good=one.good)
    if len(there) < 2 or there[-1] != one.between[-1]:
        return answer("image missing", good=one.good, bad=one.between[-1])

    def on_base_of_bad(program: Program) -> Program | None:
        found = again(program) if other_base(program, there[-1]) else program
        return None if found is None or other_base(found, there[-1]) else found

    images, last = list(there), len(there) - 1
    apart: dict[str, object] = {}
    rebuilt = None
    if other_base(there[0], there[-1]):
        rebuilt = on_base_of_bad(there[0])
        images[0] = rebuilt or there[0]
        apart = {"rebuilt": rebuilt, "base_is_told_apart": rebuilt is not None}
    tried, seen, ids = last, list[tuple[int, bool]](), list[str]()
    while True:
        found = yield images[0], images[tried]
        ids.append(found.id)
        if found.ratio is None:
            return None
        differs = differs_as(found.ratio, one.up)
        if tried == last and not differs:
            word: Answered = "machine" if one.said == "machine" else "not confirmed"
            of = {"good": images[0], "bad": images[last]}
            if rebuilt is not None:
                found = yield there[0], rebuilt
                ids.append(found.id)
                if found.ratio is None:
                    return None
                word = "base" if differs_as(found.ratio, one.up) else word
                of = {"good": there[0], "bad": rebuilt}
            return answer(word, **of, **apart, ratio=found.ratio, results=ids, command=found.command)
        if tried == last and rebuilt is not None:  # those between stand on the same base, or are left out
            on_base = [on_base_of_bad(program) for program in images[1:-1]]
            images[1:-1] = [program for program in on_base if program is not None]
            tried = last = len(images) - 1
        if differs:  # those that follow are of earlier images
            best = found
        if tried != last:
            seen.append((tried, differs))
        low, high = change.bisected(len(images), seen)
        if high - low == 1:
            of = {"good": images[low], "bad": images[high]}
            return answer("confirmed", **of, **apart, ratio=best.ratio, results=ids, command=best.command)
        tried = (low + high) // 2
