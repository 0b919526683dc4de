"""The study behind `crosscheck`: one warm application, loaded in turn by oha and by vegeta; and its table."""

from collections.abc import Sequence

from rich.console import Group
from rich.text import Text

from tandem.catalog.catalog import Catalog
from tandem.engine.findings import first_rate, warnings, why
from tandem.engine.grid import fresh_start
from tandem.engine.study import Options, Study, Windows
from tandem.errors import UsageError
from tandem.facts.metric import metric
from tandem.record.request import Request
from tandem.record.result import Baselines, Concluded, Result
from tandem.record.trial import Trial, TrialSpec, WindowSpec
from tandem.record.window import Verdict
from tandem.report.parts import findings, spent
from tandem.report.table import Column, table
from tandem.studies.crosscheck.conclusions import (
    CRITERIA,
    GENERATORS,
    OHA,
    VEGETA,
    CrossChecked,
    compared,
    conclude,
    disturbances,
    is_disturbed,
    means,
    pairs_of,
)
from tandem.wording import number, ratio_with_interval

CLOSED = "closed"
"""The window that the rate follows from."""
RATE_SHARE = 0.5
"""The rate is this share of the goodput of a short closed window, unless it is given."""
TRIM_START_S, TRIM_END_S = 1.0, 0.5
"""Trims of a window: both generators open their connections when it begins."""
STYLES = {"agree": "green", "disagree": "red", "undecided": "yellow", "not compared": "dim"}


class CrossCheckOptions(Options):
    needs = "a cross-check needs pairs and the seconds of a window"
    pairs: int
    window_s: int
    rate_rps: int | None = None
    """Offered rate; None: it follows from a closed window."""


class CrossCheck(Study[CrossChecked]):
    """One trial: pairs of windows at one rate, by the one generator and by the other. Of the plan its warm-up is used."""

    name = "crosscheck"
    kind = CrossChecked

    def __init__(self, catalog: Catalog, request: Request) -> None:
        super().__init__(catalog, request)
        self.asked = CrossCheckOptions.read(request)
        if len(request.variants) != 1:
            raise UsageError("a cross-check takes one implementation")

    def outline(self) -> list[list[TrialSpec]]:
        """oha first in odd pairs, vegeta first in even ones: what drifts meets both alike."""
        label, rate = self.request.variants[0].label, self.asked.rate_rps
        closed = WindowSpec(
            name=CLOSED,
            variants=[label],
            seconds=self.asked.window_s,
            trim_start_s=TRIM_START_S,
            trim_end_s=TRIM_END_S,
        )
        how = {"share": RATE_SHARE, "share_of": CLOSED} if rate is None else {"rates_rps": {label: rate}}
        pairs = [
            closed.model_copy(
                update={"name": f"{number}-{generator}", "generator": generator, "load": "open", **how}
            )
            for number in range(1, self.asked.pairs + 1)
            for generator in (GENERATORS if number % 2 else GENERATORS[::-1])
        ]
        windows = [closed, *pairs] if rate is None else pairs
        spec = fresh_start(self.timing, 1, label)
        return [[spec.model_copy(update={"name": label, "windows": windows})]]

    def windows(self, spec: TrialSpec) -> Windows:
        for window in spec.windows:
            record = yield window
            if window.name == CLOSED and record.only.verdict is Verdict.INVALID:
                return  # what answers wrongly says nothing of generators

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[CrossChecked]:
        """Conclude from the trial, or from that attempt of it in which more pairs were left alone."""
        every = [(trial, pairs_of(trial)) for trial in trials]
        trial, pairs = max(every, key=lambda made: sum(not is_disturbed(pair) for pair in made[1]))
        kept = [pair for pair in pairs if not is_disturbed(pair)]
        found = [compared(name, kept, self.request.variants[0].label) for name in CRITERIA]
        estimates = [one for both, _ in found for one in both]
        contrasts = [contrast for _, contrast in found]
        word, reasons = conclude(kept, estimates, contrasts)
        verdict = Verdict.INVALID if word == "disagree" else Verdict.OK
        if not pairs:
            verdict = trial.verdict if trial.verdict is not Verdict.OK else Verdict.INVALID
            reasons = [f"{trial.verdict}: {why(trial)}"]
        return Concluded(
            verdict=verdict,
            reasons=reasons if verdict is not Verdict.OK else [],
            findings=warnings([trial]),
            headline=f"the generators: {word}, {len(kept)} pairs",
            conclusions=CrossChecked(
                estimates=estimates,
                contrasts=contrasts,
                rate_rps=first_rate([trial]) or self.asked.rate_rps,
                window_s=self.asked.window_s,
                pairs=len(kept),
                disturbed=len(pairs) - len(kept),
                word=word,
                reasons=[*reasons, *disturbances(pairs)],
            ),
        )

    @classmethod
    def report(cls, result: Result[CrossChecked]) -> Group:
        found, request = result.conclusions, result.request
        out = table(
            f"{request.variants[0].label}, {request.scenario}: oha and vegeta at {number(found.rate_rps)}/s,"
            f" {found.pairs} pairs of {found.window_s:.0f} s",
            [(one, means(one.metric, found.estimates), CRITERIA[one.metric]) for one in found.contrasts],
            Column("figure", lambda row: metric(row[0].metric).heading, text=True),
            Column(OHA, lambda row: number(row[1][0] if row[1] else None, 2)),
            Column(VEGETA, lambda row: number(row[1][1] if row[1] else None, 2)),
            Column("vegeta / oha", lambda row: ratio_with_interval(row[0].ratio, row[0].interval)),
            Column("tolerance", lambda row: number(row[2].tolerance(row[1]) if row[1] else None, 2)),
            Column("verdict", lambda row: Text(row[0].word or "", STYLES[row[0].word or ""]), text=True),
        )
        left = f"{found.disturbed} disturbed pairs were left out. " if found.disturbed else ""
        note = f"{left}agree: the 95 % interval of the difference over the pairs lies within the tolerance"
        verdict = Text(f"the generators: {found.word}", STYLES[found.word])
        return Group(
            out, Text(note, "dim"), verdict, *map(Text, found.reasons), spent(result), *findings(result)
        )
