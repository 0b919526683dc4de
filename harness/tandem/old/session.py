"""What the sessions that choose their own windows share: their folder, their stack up and down, their labs."""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tandem.catalog.scenario import Scenario
from tandem.lab.live import View
from tandem.old.fresh import accepted, fresh_start
from tandem.old.lab import BenchLab
from tandem.old.prepare import Conditions, Prepared, build, refuse_or_clean_up, shared, start
from tandem.old.provenance import environment
from tandem.old.run import Environment
from tandem.old.store import give
from tandem.record.window import Verdict, Window

VISIT_OVERHEAD_S = 10
"""What a fresh start takes besides its warm-up and windows."""
WINDOW_OVERHEAD_S = 4
"""What a window takes besides its seconds: the host gets quiet, files come home."""
BEFORE_AGAIN_S = 5.0
"""A disturbance is waited for so long before a void window is repeated."""


def lasts(seconds: float) -> str:
    """A duration for people."""
    return f"{seconds / 60:.0f} min" if seconds > 90 else f"{seconds:.0f} s"


def folder_for(results: Path, what: str, now: datetime) -> Path:
    """The folder of a session: its start, then what it is."""
    return results / f"{now:%Y%m%dT%H%M%SZ}-{what.replace('/', '-')}"


@dataclass
class Session:
    """One run of a measuring command. under.plan: its warm-up and windows are used."""

    under: Conditions
    scenario: Scenario
    results: Path
    view: View
    seed: int
    phases_s: dict[str, float] = field(init=False, default_factory=lambda: defaultdict(float))
    """Where the time went."""

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Counts what it is around as this phase."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.phases_s[phase] += time.monotonic() - began

    def now(self) -> datetime:
        return datetime.now(UTC)

    @contextmanager
    def stack(self, runs: Sequence[Prepared], folder: Path) -> Iterator[None]:
        """The images built and the shared services up; removed at the end whatever happens, and the folder is
        the repository owner's. Raises TandemError where that cannot be done."""
        root = self.under.catalog.root
        try:
            try:
                with self.timed("build, start the stack"):
                    self.view.phase("build", None)
                    build(list(runs), self.view.note, folder)
                    self.view.phase("start the stack", None)
                    start(runs[0].stack, self.view.note)
                yield
            finally:
                runs[0].stack.down()
        finally:
            with suppress(OSError):
                give(folder, root)

    def clean_up(self) -> None:
        """Raises TandemError while something else measures; removes what was left behind."""
        refuse_or_clean_up(self.under.catalog.root, self.results, self.view.note)

    def lab(self, prepared: Prepared, folder: Path) -> BenchLab:
        return BenchLab(prepared.stack, prepared.cell, folder, self.view.sample, self.view.offered)

    @contextmanager
    def fresh(self, prepared: Prepared, folder: Path) -> Iterator[BenchLab]:
        """A fresh start, verified and warm; see tandem.old.fresh."""
        warm_up_s = self.under.plan.warm_up_s
        self.view.phase("fresh start and warm-up", warm_up_s + VISIT_OVERHEAD_S)
        with ExitStack() as end:
            with self.timed("start, warm up"):
                lab = end.enter_context(fresh_start(self.lab(prepared, folder), warm_up_s))
            try:
                with self.timed("windows and around them"):
                    yield lab
            finally:
                with self.timed("stop"):
                    end.close()

    def closed(self, lab: BenchLab, seconds: int) -> Window:
        """A closed window; once more if the host disturbed it. Raises TandemError if its verdict is not ok."""
        self.view.phase("closed", seconds)
        window = lab.measure("closed", seconds, None)
        if window.verdict is Verdict.VOID:
            self.view.note("  void, once more")
            time.sleep(BEFORE_AGAIN_S)
            window = lab.measure("closed", seconds, None)
        return accepted(window)

    def environment(self, prepared: Prepared) -> Environment:
        """The stack must be up."""
        images = {service: prepared.stack.service(service).image for service in shared(prepared.stack)}
        return environment(self.under.catalog.root, prepared.stack, prepared.knobs, images)
