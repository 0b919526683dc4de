"""Ratios: those that studies judged, and those of sync and async of one language, which answer the three questions. Pure."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tandem.analysis.ratios import MARGIN, Ratio, compare, verdict
from tandem.engine.blocks import counting
from tandem.judge.bottleneck import tags
from tandem.page.measured import Line
from tandem.page.read import Run
from tandem.record.trial import Trial
from tandem.record.window import Verdict, Window
from tandem.studies.bench.conclusions import TOTAL, Benched
from tandem.studies.compare.conclusions import METRICS, Compared, ln_ratios, word
from tandem.studies.crossover.conclusions import SAME, Crossed
from tandem.studies.questions.conclusions import Answered
from tandem.studies.questions.conditions import APP_BOUND
from tandem.studies.questions.conditions import COST as AS_ASKED
from tandem.studies.reproduce.claims import ratio
from tandem.studies.reproduce.conclusions import Reproduced, RowResult

Question = Literal["cost", "application-bound", "waiting-bound"]
QUESTIONS: tuple[Question, ...] = ("cost", "application-bound", "waiting-bound")
RATE, COST = "goodput_rps", "app_cpu_us_per_request"
OF_APPLICATION = {"app-cpu", "app-thread"}
OF_WAITING = {"pool-wait", "distance", "latency-bound"}
SCARCE_THREADS = "thread-pool"
"""Beside a wait it is one more name of it. Alone it is a setting, and none of the model: more threads would answer more."""
STUDIES = ("questions", "compare", "crossover", "bench", "reproduce")
"""The better a study is made for a ratio, the earlier it comes."""


@dataclass(frozen=True)
class JudgedRatio:
    """A ratio and the word that was found for it."""

    figure: str
    of: str
    to: str
    ratio: Ratio
    word: str
    text: str = ""
    """Of a claim."""
    published: float | None = None


def judged(run: Run) -> list[JudgedRatio]:
    """The ratios that a result holds."""
    found = run.result.conclusions
    if isinstance(found, Compared):
        out = [
            JudgedRatio(name, entry.variant, found.reference, one.ratio, word(found, entry, name))
            for entry in found.entries
            for name, one in entry.against_reference.items()
        ]
        again = [
            JudgedRatio(name, f"{found.reference} again", found.reference, one.ratio, one.verdict)
            for name, one in found.same_against_itself.items()
        ]
        return out + again
    if isinstance(found, Reproduced):
        return [
            JudgedRatio(c.figure, c.of, c.to, c.ratio, c.verdict, c.text, c.published) for c in found.claims
        ]
    benches = found.conditions.values() if isinstance(found, Answered) else [found]
    return [
        JudgedRatio(figure, row.label, bench.rows[0].label, own.ratio, own.word)
        for bench in benches
        if isinstance(bench, Benched)
        for figure in (RATE, TOTAL, COST)
        for row in bench.rows
        if (own := row.against_first.get(figure)) is not None and own.ratio.interval is not None
    ]


def _values(trials: Sequence[Trial], label: str, figure: str) -> dict[int, float]:
    """Block -> figure of the closed window."""
    good = counting([t for t in trials if t.verdict is Verdict.OK and t.spec.variants == [label]])
    found = {t.spec.block: _figure(w, figure) for t in good for w in t.of(label, "closed")}
    return {block: value for block, value in found.items() if value}


def _figure(window: Window, figure: str) -> float | None:
    return window.goodput_rps if figure == RATE else window.app_cpu_us_per_request


@dataclass(frozen=True)
class ModelPair:
    """Sync and async of one language, otherwise alike as far as there are such."""

    question: Question
    language: str
    sync: Line
    other: Line
    """The async one."""
    ratio: Ratio
    """Async by sync."""
    at_least: bool
    """The async one met another limit first, so more may be in it."""
    rank: tuple[float, ...]
    """The smallest is the best evidence."""
    by_interval: bool = True
    """Whether its interval alone decides, as for the claims of a document; else the tests of a comparison as well."""
    slug: str = ""
    told: str = ""
    """Where and when."""

    @property
    def decided(self) -> bool:
        """The interval lies on one side of 1, and not all of it within the margin."""
        if self.ratio.interval is None:
            return False
        if not self.by_interval and verdict(self.ratio) not in ("faster", "slower"):
            return False
        low, high = self.ratio.interval
        within = low >= 1 / (1 + MARGIN) and high <= 1 + MARGIN
        return (low > 1 or high < 1) and not within

    @property
    def alike(self) -> bool:
        """No difference was found, and none above SAME would have been missed."""
        if self.decided or self.ratio.interval is None:
            return False
        low, high = self.ratio.interval
        return low >= 1 / SAME and high <= SAME


def _stem(label: str) -> str:
    """A label without what names the model."""
    return re.sub(r"\b(a?sync\d?|async-|-?a?sync)\b", "", label).strip(" ,-")


def questions(sync: Line, other: Line) -> list[Question]:
    """Which of the three two lines answer."""
    out: list[Question] = []
    if COST in sync.figures and COST in other.figures:
        out.append("cost")
    if RATE not in sync.figures or RATE not in other.figures:
        return out
    limits = {*tags(sync.limited), *tags(other.limited)}
    # Where the faster one met a limit beyond the application, the slower one's limit still was the application.
    slower = min((sync, other), key=lambda line: line.figures[RATE].mean)
    if OF_APPLICATION.issuperset(tags(slower.limited)) and not limits & {*OF_WAITING, SCARCE_THREADS}:
        out.append("application-bound")
    elif all(_waits(line) for line in (sync, other)):
        out.append("waiting-bound")
    return out


def _waits(line: Line) -> bool:
    """Whether it waited, and more threads would have changed nothing."""
    found = {*tags(line.limited)}
    return bool(found & OF_WAITING) and found <= {*OF_WAITING, SCARCE_THREADS}


def pairs(run: Run, lines: Sequence[Line]) -> list[ModelPair]:
    """All of a result that is ok."""
    if run.result.verdict is not Verdict.OK or run.result.request.study not in STUDIES:
        return []
    by_interval = isinstance(run.result.conclusions, Reproduced | Crossed)
    return [
        ModelPair(
            question=question,
            language=sync.kind.language,
            sync=sync,
            other=other,
            ratio=found,
            at_least=question == "application-bound" and not OF_APPLICATION.issuperset(tags(other.limited)),
            rank=_rank(run, sync, other, found),
            by_interval=by_interval,
        )
        for question, sync, other, found in _compared(run, lines)
        if found is not None and found.ratio is not None and found.interval is not None
    ]


def _compared(run: Run, lines: Sequence[Line]) -> Iterator[tuple[Question, Line, Line, Ratio | None]]:
    """What answers which question, sync, async, and their ratio. What answers it best comes first."""
    found = run.result.conclusions
    if isinstance(found, Crossed):
        yield from _crossed(found, lines)
        return
    by_label = {line.label: line for line in lines}
    for sync, other in _couples(run, by_label):
        for question in questions(sync, other):
            if not isinstance(found, Answered) or question == _asked(sync):
                yield question, sync, other, _ratio(run, sync, other, COST if question == "cost" else RATE)


def _asked(line: Line) -> Question:
    """Which of the questions the condition of a line is about."""
    known: dict[str, Question] = {AS_ASKED: "cost", APP_BOUND.name: "application-bound"}
    return known.get(line.label.partition(" @ ")[2], "waiting-bound")


def _crossed(found: Crossed, lines: Sequence[Line]) -> Iterator[tuple[Question, Line, Line, Ratio | None]]:
    """The cells with the most threads and the longest wait first: nothing but the wait is scarce there."""
    places = sorted(
        range(len(found.cells)),
        key=lambda n: (found.cells[n].at.threads or math.inf, found.cells[n].at.wait_ms),
        reverse=True,
    )
    for place in places:
        cell, sides = found.cells[place], lines[2 * place : 2 * place + 2]
        if not all(side.figures for side in sides) or cell.ratio is None or not _one_program(*sides):
            continue
        told = dict.fromkeys(("sd_ln", "p_t", "p_sign_flip", "p_equivalent", "detectable_ratio"))
        ratio = Ratio(ratio=cell.ratio, interval=cell.interval, n=cell.blocks, **told)
        sync, other = sides
        if other.kind.model == "sync":
            sync, other, ratio = other, sync, turned(ratio)
        if "waiting-bound" in questions(sync, other):
            yield "waiting-bound", sync, other, ratio


def _one_program(one: Line, other: Line) -> bool:
    """Whether two are a pair: one sync, one async, of one language, and of the same parts at least in part."""
    stacks = one.kind.stack, other.kind.stack
    return (
        one.kind.language == other.kind.language != "other"
        and {one.kind.model, other.kind.model} == {"sync", "async"}
        and _stem(one.implementation) == _stem(other.implementation)
        and (not all(stacks) or bool(stacks[0] & stacks[1]))
    )


def _couples(run: Run, by_label: Mapping[str, Line]) -> Iterator[tuple[Line, Line]]:
    """Lines of one program, sync and async: alike in what else they are, or claimed to be comparable by a document."""
    claimed = set()
    if isinstance(run.result.conclusions, Reproduced):
        claimed = {frozenset((claim.of, claim.to)) for claim in run.result.conclusions.claims}
    for sync in by_label.values():
        for other in by_label.values():
            if sync.kind.model != "sync" or not _one_program(sync, other) or sync.scenario != other.scenario:
                continue
            if isinstance(run.result.conclusions, Reproduced):
                same = _stem(sync.label) == _stem(other.label)
            else:  # of the three questions, each has conditions of its own
                same = sync.label.partition(" @ ")[2] == other.label.partition(" @ ")[2]
            if same or frozenset((sync.label, other.label)) in claimed:
                yield sync, other


def _rank(run: Run, sync: Line, other: Line, found: Ratio) -> tuple[float, ...]:
    """The fewest parts of the stack that differ; the study that is made for it; the fewest settings that differ; the
    most blocks. Never the size of the difference, nor its interval: who picks the narrowest of many picks too narrow a
    one."""
    names = {*sync.settings, *other.settings} - {"implementation"}
    differ = sum(sync.settings.get(name) != other.settings.get(name) for name in names)
    stacks = sync.kind.stack, other.kind.stack
    return (
        len(stacks[0] ^ stacks[1]) if all(stacks) else math.inf,
        STUDIES.index(run.result.request.study),
        differ,
        -found.n,
    )


def _ratio(run: Run, sync: Line, other: Line, figure: str) -> Ratio | None:
    """Async by sync, block by block."""
    found = run.result.conclusions
    if isinstance(found, Benched | Answered):
        return ratio(*(_values(run.trials, one.label, figure) for one in (other, sync)))
    if isinstance(found, Reproduced):
        rows = {row.label: row for row in found.rows}
        return ratio(*(_of_row(rows[one.label], figure) for one in (other, sync)))
    if isinstance(found, Compared):
        entries = {entry.variant: entry for entry in found.entries}
        if sync.label == found.reference and figure in entries[other.label].against_reference:
            return entries[other.label].against_reference[figure].ratio
        if other.label == found.reference and figure in entries[sync.label].against_reference:
            return turned(entries[sync.label].against_reference[figure].ratio)
        if found.reference not in (sync.label, other.label):
            return compare(ln_ratios(counting(run.trials), other.label, [sync.label], METRICS[figure]))
    return None


def turned(found: Ratio) -> Ratio:
    """The ratio of the two the other way round."""
    if found.ratio is None or found.interval is None:
        return found
    low, high = found.interval
    return found.model_copy(update={"ratio": 1 / found.ratio, "interval": (1 / high, 1 / low)})


def _of_row(row: RowResult, figure: str) -> dict[tuple[int, int], float]:
    return {
        (one.block, one.attempt): one.figures[figure]
        for one in row.trials
        if one.verdict is Verdict.OK and one.figures.get(figure, 0) > 0
    }


def best(found: Sequence[ModelPair]) -> dict[Question, list[ModelPair]]:
    """For each question the best evidence of each language. found: the newest results first."""
    out: dict[Question, list[ModelPair]] = {}
    for question in QUESTIONS:
        of = [pair for pair in found if pair.question == question]
        languages = sorted({pair.language for pair in of})
        out[question] = [
            min((pair for pair in of if pair.language == language), key=lambda pair: pair.rank)
            for language in languages
        ]
    return out
