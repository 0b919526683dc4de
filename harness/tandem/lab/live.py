"""Tells a person how far a study has come: a live table on a terminal, plain lines elsewhere."""

import time
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tandem.probes.sampler import Sample


class View(Protocol):
    """What a study tells while it runs."""

    def note(self, text: str) -> None: ...
    def trial(self, title: str) -> None: ...
    def phase(self, name: str, expected_s: float | None) -> None: ...
    def offered(self, rate_rps: float | None) -> None: ...
    def sample(self, before: Sample, now: Sample) -> None: ...
    def close(self) -> None: ...


class Lines:
    """One line per phase, for pipes, files and CI."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._trial = ""

    def note(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False)

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

    def close(self) -> None:
        pass


class LiveTable(Lines):
    """Phase, time left, offered and achieved rate, CPU per role; redrawn twice a second."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._phase, self._expected_s, self._began = "", None, 0.0
        self._offered: float | None = None
        self._achieved: float | None = None
        self._cpu: dict[str, float] = {}
        self._live = Live(console=console, refresh_per_second=2, get_renderable=self._render, transient=True)
        self._live.start()

    _expected_s: float | None

    def phase(self, name: str, expected_s: float | None) -> None:
        self._phase, self._expected_s, self._began = name, expected_s, time.monotonic()
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

    def close(self) -> None:
        self._live.stop()

    def _render(self) -> RenderableType:
        spent = time.monotonic() - self._began
        head = Text.assemble((self._trial, "bold"), "  ", self._phase)
        parts: list[RenderableType] = [head]
        if self._expected_s:
            left = max(0.0, self._expected_s - spent)
            parts.append(
                ProgressBar(total=self._expected_s, completed=min(spent, self._expected_s), width=40)
            )
            parts.append(Text(f"{left:.0f} s left", style="dim"))
        if self._cpu:
            rates = Table.grid(padding=(0, 2))
            offered = f"{self._offered:,.0f}/s" if self._offered else "as fast as answered"
            achieved = (
                f"{self._achieved:,.0f}/s" if self._achieved is not None else "not counted without the proxy"
            )
            rates.add_row("offered", offered)
            rates.add_row("achieved", achieved)
            for role, cores in sorted(self._cpu.items(), key=lambda item: -item[1]):
                rates.add_row(role, Text(f"{cores:4.0%} of a core"))
            parts.append(rates)
        return Group(*parts)


def make_view(console: Console) -> View:
    """The live table on a terminal, lines elsewhere."""
    return LiveTable(console) if console.is_terminal else Lines(console)
