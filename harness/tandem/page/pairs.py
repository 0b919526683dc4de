"""Ratios of sync and async of one language, which answer the three questions. Pure."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple

from tandem.analysis.ratios import MARGIN, NO_WINNER, verdict
from tandem.facts.estimate import AT_FULL_LOAD, ratio
from tandem.facts.fact import Fact, at_full_load, by_label, facts
from tandem.facts.statement import turned
from tandem.judge.bottleneck import tags
from tandem.page.lines import Line
from tandem.page.read import Run
from tandem.record.window import Verdict
from tandem.report.parts import conditions_line

Question = Literal["cost", "application-bound", "waiting-bound"]
QUESTIONS: tuple[Question, ...] = ("cost", "application-bound", "waiting-bound")
RATE, COST = "goodput_rps", "app_cpu_us_per_request"
OF_APPLICATION = {"app-cpu", "app-thread"}
OF_WAITING = {"pool-wait", "distance", "latency-bound"}
SCARCE_THREADS = "thread-pool"
"""Beside a wait it is one more name of it. Alone it is a setting, and none of the model: more threads would answer more."""
TESTED = {"faster", "slower", "cheaper", "dearer", "inconclusive", "equivalent", "too few"}
"""Words that rest on tests beside the interval."""
FOUND = {"faster", "slower", "cheaper", "dearer"}


class AsyncRatio(NamedTuple):
    """Async by sync."""

    ratio: float
    interval: tuple[float, float]
    blocks: int
    word: str | None
    """The verdict of the tests beside the interval; None: the interval alone decides."""


@dataclass(frozen=True)
class ModelPair:
    """Sync and async of one language, otherwise alike as far as there are such."""

    question: Question
    language: str
    sync: Line
    other: Line
    """The async line."""
    ratio: AsyncRatio
    at_least: bool
    """The async one met another limit first, so more may be in it."""
    slug: str = ""
    where: str = ""
    """Conditions and day of the measurement."""

    @property
    def decided(self) -> bool:
        """Whether the interval lies on one side of 1, and not all of it within the margin."""
        low, high = self.ratio.interval
        if self.ratio.word is not None and self.ratio.word not in FOUND:
            return False
        within = low >= 1 / (1 + MARGIN) and high <= 1 + MARGIN
        return (low > 1 or high < 1) and not within

    @property
    def alike(self) -> bool:
        """Whether no difference was found, and none above NO_WINNER would have been missed."""
        low, high = self.ratio.interval
        return not self.decided and low >= 1 / NO_WINNER and high <= NO_WINNER

    @property
    def rank(self) -> tuple[float, ...]:
        """The smallest is the best evidence: the fewest parts of the stack that differ; a condition that was made for a question;
        the fewest settings that differ; the most blocks. Never the size of the difference, nor its interval: who picks the
        narrowest of many picks too narrow a one."""
        sync, other = self.sync, self.other
        names = {*sync.settings, *other.settings} - {"implementation"}
        differ = sum(sync.settings.get(name) != other.settings.get(name) for name in names)
        stacks = sync.kind.stack, other.kind.stack
        unlike = len(stacks[0] ^ stacks[1]) if all(stacks) else math.inf
        return unlike, "question" not in sync.coordinates, differ, -self.ratio.blocks


def _stem(label: str) -> str:
    """A label without what names the model."""
    return re.sub(r"\b(a?sync\d?|async-|-?a?sync)\b", "", label).strip(" ,-")


def questions(sync: Line, other: Line) -> list[Question]:
    """Questions, of the three, that two lines answer."""
    out: list[Question] = []
    if COST in sync.figures and COST in other.figures:
        out.append("cost")
    if RATE not in sync.figures or RATE not in other.figures:
        return out
    limits = {*tags(sync.limited), *tags(other.limited)}
    # Where the faster one met a limit beyond the application, the slower one's limit still was the application.
    slower = min((sync, other), key=lambda line: line.figures[RATE].mean or 0.0)
    if OF_APPLICATION.issuperset(tags(slower.limited)) and not limits & {*OF_WAITING, SCARCE_THREADS}:
        out.append("application-bound")
    elif all(_waits(line) for line in (sync, other)):
        out.append("waiting-bound")
    return out


def _waits(line: Line) -> bool:
    """Whether a line waited, and more threads would have changed nothing."""
    found = {*tags(line.limited)}
    return bool(found & OF_WAITING) and found <= {*OF_WAITING, SCARCE_THREADS}


def pairs(run: Run, lines: Sequence[Line]) -> list[ModelPair]:
    """All pairs of a result that is ok. Of pairs along an axis of waits, the one with the longest wait and the most threads:
    nothing but the wait is scarce there."""
    if run.result.verdict is not Verdict.OK:
        return []
    table = by_label(facts(run.trials, run.result.variants))
    where = f"{conditions_line(run.result.request)}, {run.result.started_at:%Y-%m-%d}"
    found = []
    for sync, other in _couples(run, lines):
        beyond = not OF_APPLICATION.issuperset(tags(other.limited))
        wanted = sync.coordinates.get("question")  # by a study that asks each under a condition of its own
        for question in questions(sync, other):
            if wanted in QUESTIONS and question != wanted:
                continue
            if of_both := _ratio(run, table, sync, other, COST if question == "cost" else RATE):
                at_least = question == "application-bound" and beyond
                of = question, sync.kind.language, sync, other, of_both, at_least
                found.append(ModelPair(*of, slug=run.slug, where=where))
    return found


def _one_program(one: Line, other: Line) -> bool:
    """Whether two are a pair: one sync, one async, of one language, and of the same parts at least in part."""
    stacks = one.kind.stack, other.kind.stack
    return (
        one.kind.language == other.kind.language != "other"
        and {one.kind.model, other.kind.model} == {"sync", "async"}
        and _stem(one.implementation) == _stem(other.implementation)
        and (not all(stacks) or bool(stacks[0] & stacks[1]))
    )


def _couples(run: Run, lines: Sequence[Line]) -> Iterator[tuple[Line, Line]]:
    """Lines of one program, sync and async: alike in what else they are, or compared by the study itself."""
    compared = [{one.of, one.to} for one in run.result.conclusions.contrasts]
    waits = [at for line in lines if isinstance(at := line.coordinates.get("wait_ms"), int)]
    for sync, other in product(lines, lines):
        shared = sync.coordinates.keys() & other.coordinates.keys()
        if (
            sync.kind.model == "sync"
            and _one_program(sync, other)
            and sync.scenario == other.scenario
            and all(sync.coordinates[name] == other.coordinates[name] for name in shared)
            and (not waits or sync.coordinates.get("wait_ms") == max(waits))
            and (_stem(sync.variant) == _stem(other.variant) or {sync.variant, other.variant} in compared)
        ):
            yield sync, other


def _ratio(run: Run, table: dict[str, list[Fact]], sync: Line, other: Line, metric: str) -> AsyncRatio | None:
    """Ratio as the study concluded it, where it ranked both; else block by block. None where it has no interval."""
    at = {**sync.coordinates, **other.coordinates}
    for one in run.result.conclusions.contrasts:
        if one.metric != metric or one.word == "not ranked" or (one.coordinates and one.coordinates != at):
            continue
        if {one.of, one.to} == {other.variant, sync.variant}:
            own = one if one.of == other.variant else turned(one)
            word = one.word if one.word in TESTED else None
            if own.ratio is None or own.interval is None:
                return None
            return AsyncRatio(own.ratio, own.interval, own.n, word)
    own, base = (
        at_full_load([one for one in table.get(line.trial_label, []) if one.good]) for line in (other, sync)
    )
    # Several windows of one start may be under conditions that differ: their mean is of none of them.
    alone = all(len({(one.made, one.round) for one in side}) == len(side) for side in (own, base))
    found = ratio(own, base, AT_FULL_LOAD[metric]) if alone else None
    if found is None or found.ratio is None or found.interval is None:
        return None
    return AsyncRatio(found.ratio, found.interval, found.n, verdict(found))


def best(found: Sequence[ModelPair]) -> dict[Question, list[ModelPair]]:
    """Question -> the best evidence of each language. found: the newest results first."""
    first: dict[tuple[str, str], ModelPair] = {}
    for pair in sorted(found, key=lambda pair: pair.rank):
        first.setdefault((pair.question, pair.language), pair)
    return {question: [first[at] for at in sorted(first) if at[0] == question] for question in QUESTIONS}
