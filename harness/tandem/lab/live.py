"""Tells a person how far a study has come: a live view on a terminal, plain lines elsewhere."""

import time
from collections import Counter, deque

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tandem.probes.sampler import Sample
from tandem.record.trial import Trial, WindowRecord
from tandem.record.window import Finding, Verdict
from tandem.wording import lasts

WINDOWS_SHOWN, BAR = 4, 24
LABEL_MOST = 34
"""Longer names of variants are cut, so that the view fits 100 columns."""


class View:
    """The view of a study while it runs: a line for each phase, for pipes, files and CI."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._trial = ""

    def note(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False)

    def expected(self, seconds: float) -> None:
        """Note how long it lasts from the first trial on."""

    def trial(self, title: str) -> None:
        self._trial = title
        self.note(title)

    def phase(self, name: str, expected_s: float | None) -> None:
        if expected_s is not None:
            self.note(f"  {name} ({expected_s:.0f} s)")

    def offered(self, rate_rps: float | None) -> None:
        pass

    def sample(self, before: Sample, now: Sample) -> None:
        pass

    def measured(self, record: WindowRecord) -> None:
        """A window that ended."""

    def counted(self, trial: Trial) -> None:
        """A trial that ended."""

    def close(self) -> None:
        pass


class LiveView(View):
    """Phase and time left, offered and achieved rate, p99 of the windows so far, CPU by role, checks; redrawn
    twice a second."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._above = True
        self._phase, self._phase_s, self._phase_began = "", 0.0, 0.0
        self._expected_s, self._began = 0.0, 0.0
        self._offered: float | None = None
        self._achieved: float | None = None
        self._cpu: dict[str, float] = {}
        self._windows: deque[tuple[str, str]] = deque(maxlen=WINDOWS_SHOWN)
        self._verdicts: Counter[Verdict] = Counter()
        self._findings: Counter[str] = Counter()
        self._last: Finding | None = None
        self._live = Live(console=console, refresh_per_second=2, get_renderable=self.render, transient=True)
        self._live.start()

    def expected(self, seconds: float) -> None:
        self._expected_s = seconds

    def trial(self, title: str) -> None:
        """Begin a trial. Its title heads the view until there is a note of it: then it stands once, above that."""
        self._began = self._began or time.monotonic()
        self._trial, self._above = title, False

    def note(self, text: str) -> None:
        if not self._above:
            self._above = True
            super().note(self._trial)
        super().note(text)

    def phase(self, name: str, expected_s: float | None) -> None:
        self._phase, self._phase_s, self._phase_began = name, expected_s or 0.0, time.monotonic()
        if expected_s is None:
            self._achieved, self._cpu = None, {}

    def offered(self, rate_rps: float | None) -> None:
        self._offered = rate_rps

    def sample(self, before: Sample, now: Sample) -> None:
        elapsed = now.at_s - before.at_s
        if now.responses_2xx is not None and before.responses_2xx is not None:
            self._achieved = (now.responses_2xx - before.responses_2xx) / elapsed
        self._cpu = {
            role: (usage.cpu_s - before.usage[role].cpu_s) / elapsed for role, usage in now.usage.items()
        }

    def measured(self, record: WindowRecord) -> None:
        for label, window in record.windows.items():
            times = window.response_time_ms or window.service_time_ms
            p99 = "p99 needs 10,000 answers" if times.p99 is None else f"p99 {times.p99:,.1f} ms"
            name = f"{record.spec.name}: {label}"[:LABEL_MOST]
            self._windows.append((name, f"{window.goodput_rps:,.0f}/s, {p99}"))

    def counted(self, trial: Trial) -> None:
        self._verdicts[trial.verdict] += 1
        for finding in trial.all_findings():
            self._findings[finding.severity] += 1
            self._last = finding

    def close(self) -> None:
        self._live.stop()

    def render(self) -> RenderableType:
        """The view as it is now."""
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim")
        table.add_column(overflow="ellipsis", no_wrap=True)
        if self._expected_s:
            table.add_row("study", self._study())
        table.add_row("phase", self._now())
        if self._cpu:
            offered = f"{self._offered:,.0f}/s" if self._offered else "closed loop"
            achieved = (
                f"{self._achieved:,.0f}/s" if self._achieved is not None else "not counted without the proxy"
            )
            table.add_row("offered", offered)
            table.add_row("achieved", achieved)
            used = sorted(self._cpu.items(), key=lambda item: -item[1])
            table.add_row("CPU, cores", "  ".join(f"{role} {cores:.2f}" for role, cores in used))
        for name, told in self._windows:
            # A percentile is known when the generator's rows are: at the end of a window.
            table.add_row("made", f"{name}  {told}")
        table.add_row("checks", self._checks())
        head = [] if self._above else [Text(self._trial, style="bold", no_wrap=True, overflow="ellipsis")]
        return Group(*head, table)

    def _study(self) -> RenderableType:
        spent = time.monotonic() - self._began if self._began else 0.0
        left = self._expected_s - spent
        told = f"about {lasts(left)} left" if left > 0 else f"{lasts(-left)} longer than estimated"
        return _bar(spent, self._expected_s, told)

    def _now(self) -> RenderableType:
        if not self._phase_s:
            return Text(self._phase or "starting")
        spent = time.monotonic() - self._phase_began
        return _bar(spent, self._phase_s, f"{max(0.0, self._phase_s - spent):.0f} s left  {self._phase}")

    def _checks(self) -> Text:
        trials = ", ".join(f"{number} {verdict}" for verdict, number in self._verdicts.items())
        noticed = ", ".join(f"{number} {severity}" for severity, number in self._findings.items())
        last = f"; last: {self._last.text}" if self._last else ""
        return Text(f"trials: {trials or 'none yet'}; findings: {noticed or 'none'}{last}")


def _bar(spent: float, expected: float, told: str) -> RenderableType:
    line = Table.grid(padding=(0, 1))
    line.add_column(width=BAR)
    line.add_column(overflow="ellipsis", no_wrap=True)
    line.add_row(ProgressBar(total=expected, completed=min(spent, expected), width=BAR), told)
    return line


def make_view(console: Console) -> View:
    """The live view on a terminal, lines elsewhere."""
    return LiveView(console) if console.is_terminal else View(console)
