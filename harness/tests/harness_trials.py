"""Trials as an engine would make them, with no containers: what a study is told."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness_samples import NOW, good_window
from rich.console import Console, RenderableType

from tandem.catalog.catalog import Catalog
from tandem.engine.run import Session, drive
from tandem.engine.study import Study, Windows
from tandem.errors import TandemError
from tandem.judge.judge import verdict
from tandem.lab.live import Lines
from tandem.lab.visit import Visit
from tandem.record.request import Conditions, Request, Variant
from tandem.record.result import Environment
from tandem.record.trial import Trial, TrialSpec, WarmUp, WindowRecord, WindowSpec
from tandem.record.window import Finding, Verdict, Window

type Answer = Callable[[TrialSpec, WindowSpec], Window]
"""The window that a spec leads to. May raise TandemError."""


def request(study: str, *names: str, **changes: Any) -> Request:
    """A request for implementations with their defaults."""
    fields: dict[str, Any] = {
        "study": study,
        "variants": [Variant(label=name, implementation=name) for name in names],
        "scenario": "recipes",
        "conditions": Conditions(topology="full", placement="shared"),
        "plan": "ceiling",
        "seed": 7,
        **changes,
    }
    return Request.model_validate(fields)


def trial(label: str, block: int, *windows: Window, attempt: int = 1, name: str | None = None) -> Trial:
    """A trial of one variant; its windows are called closed and open. Its verdict follows from theirs."""
    made = [
        WindowRecord(
            spec=WindowSpec(
                name=window.load,
                variants=[label],
                seconds=8,
                load=window.load,
                trim_start_s=2,
                trim_end_s=1,
            ),
            windows={label: window},
        )
        for window in windows
    ]
    spec = TrialSpec(
        name=name or f"{block}-{label}",
        block=block,
        variants=[label],
        warm_up=WarmUp(least_s=3, cap_s=3),
        windows=[record.spec for record in made],
        attempt=attempt,
    )
    findings = [finding for window in windows for finding in window.findings]
    return Trial(spec=spec, started_at=NOW, verdict=verdict(findings), windows=made)


def void_window(text: str = "20 % steal", **changes: Any) -> Window:
    """A window that the host disturbed."""
    found = Finding(code="steal", severity="void", text=text)
    return good_window(findings=[found], verdict=Verdict.VOID, **changes)


def invalid_window(text: str = "wrong", **changes: Any) -> Window:
    """A window whose application did wrong."""
    found = Finding(code="wrong-body", severity="invalid", text=text)
    return good_window(findings=[found], verdict=Verdict.INVALID, **changes)


class QuietFloor:
    """A laboratory in which everything works and no time passes."""

    def __init__(self, spec: TrialSpec, answer: Answer) -> None:
        self._spec, self._answer = spec, answer

    def measure(self, spec: WindowSpec) -> WindowRecord:
        return WindowRecord(
            spec=spec, windows={label: self._answer(self._spec, spec) for label in spec.variants}
        )

    def workers(self, label: str) -> int:
        return 1

    def warm_up(self, label: str, duration_s: int) -> list[int]:
        return [100] * duration_s

    def __getattr__(self, name: str) -> Any:
        return lambda *_: []


def visit(spec: TrialSpec, script: Windows, answer: Answer) -> Trial:
    """The real visit, in that laboratory."""
    return Visit(QuietFloor(spec, answer), spec, Lines(Console(quiet=True))).run(script)


def play(study: Study[Any], answer: Answer) -> list[Trial]:
    """Runs a study's plan to its end."""
    return drive(study.plan(), lambda spec: visit(spec, study.windows(spec), answer))


class Place:
    """In place of the laboratory. made: names of the trials."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.made: list[str] = []
        self.environments: dict[str, Environment] = {}
        self.phases_s: dict[str, float] = {}

    @contextmanager
    def up(self) -> Iterator[None]:
        yield

    def visit(self, spec: TrialSpec, windows: Windows, folder: Path) -> Trial:
        self.made.append(spec.key)
        return visit(spec, windows, self.answer)

    def session(self, catalog: Catalog, results: Path) -> Session:
        return Session(catalog, results, Lines(Console(quiet=True)), lambda *_: self)


def refusing(*_: object) -> Window:
    """An answer: it breaks."""
    raise TandemError("it broke")


def text(report: RenderableType) -> str:
    """A report as it is printed on a wide terminal."""
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(report)
    return console.export_text()
