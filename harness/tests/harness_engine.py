"""What tests of the engine, the journal and the studies need: trials that are good, a request, a floor and a
laboratory that start nothing, a result and its report."""

import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness_places import FIXTURES
from harness_samples import NOW, finding, good_window
from rich.console import Console, RenderableType
from rich.text import Text

from tandem.catalog.catalog import Catalog
from tandem.engine.journal import Journal
from tandem.engine.run import Session, drive
from tandem.engine.study import Study, Windows, in_order
from tandem.errors import TandemError
from tandem.judge.judge import verdict as verdict_of
from tandem.lab.live import View
from tandem.lab.visit import Visit
from tandem.record.request import Conditions, Request, Variant
from tandem.record.result import Baselines, Concluded, Conclusions, Environment, Result
from tandem.record.trial import Challenge, Start, Trial, TrialSpec, WarmUp, WindowRecord, WindowSpec
from tandem.record.window import Finding, Verdict, Window

WARM_UP = WarmUp(least_s=10, requests_per_worker=1000, cap_s=30)

type Answer = Callable[[TrialSpec, WindowSpec], Window]
"""The window that a spec leads to. May raise TandemError."""


def request(*implementations: str, **changes: Any) -> Request:
    """Of these variants; default: rust-async."""
    variants = [Variant(label=name, implementation=name) for name in implementations or ["rust-async"]]
    under = Conditions(topology="full", placement="shared")
    how = {"study": "bench", "scenario": "recipes", "plan": "smoke", "seed": 1}
    return Request(**{**how, "variants": variants, "conditions": under, **changes})


def window_spec(name: str = "closed", *labels: str, **changes: Any) -> WindowSpec:
    """A window of the variant `one`, closed unless its name begins with open: then at 60 % of the goodput of the
    window with closed in its place."""
    closed = name.replace("open", "closed", 1)
    opened: dict[str, Any] = {} if closed == name else {"load": "open", "share": 0.6, "share_of": closed}
    how = {"seconds": 25 if opened else 20, "trim_start_s": 2.0, "trim_end_s": 1.0}
    return WindowSpec(**{"name": name, "variants": list(labels) or ["one"], **how, **opened, **changes})


def trial_spec(name: str = "1-one", *labels: str, **changes: Any) -> TrialSpec:
    """A fresh start of the variants (default: `one`), each with a closed and an open window (several:
    `closed-one`, …)."""
    several = list(labels) or ["one"]
    windows = [
        window_spec(load if len(several) == 1 else f"{load}-{label}", label)
        for label in several
        for load in ("closed", "open")
    ]
    how = {"block": 1, "variants": several, "warm_up": WARM_UP, "windows": windows}
    return TrialSpec(**{"name": name, **how, **changes})


def made_trial(spec: TrialSpec | None = None, verdict: Verdict = Verdict.OK, **windows: Any) -> Trial:
    """A trial of a spec with one variant as it comes out of a visit. windows: `closed`, `open`: a Window or None."""
    spec = spec or trial_spec()
    found: dict[str, Window | None] = {
        "closed": good_window("closed", bottleneck="app-cpu", evidence=["app 0.95 of 1 cores (95%)"]),
        "open": good_window("open", bottleneck="offered-load"),
        **windows,
    }
    label = spec.variants[0]
    records = [
        WindowRecord(spec=window_spec(name, label), windows={label: window}, duration_s=window.duration_s + 1)
        for name, window in found.items()
        if window is not None
    ]
    return Trial(
        spec=spec,
        started_at=NOW,
        verdict=verdict,
        starts={label: Start(warm_up_s=10.0, warm_up_requests=5000)},
        windows=records,
        overhead_s=5.0,
    )


def trial(label: str, block: int, *windows: Window, attempt: int = 1) -> Trial:
    """A trial of one variant; its windows are called closed and open. Its verdict follows from theirs."""
    made = [WindowRecord(spec=window_spec(window.load, label), windows={label: window}) for window in windows]
    specs = [record.spec for record in made]
    spec = trial_spec(f"{block}-{label}", label, block=block, windows=specs, attempt=attempt)
    found = verdict_of([finding for window in windows for finding in window.findings])
    return Trial(spec=spec, started_at=NOW, verdict=found, windows=made)


def void_window(text: str = "20 % steal", **changes: Any) -> Window:
    """A window that the host disturbed."""
    return good_window(findings=[finding("void", "steal", text)], verdict=Verdict.VOID, **changes)


def invalid_window(text: str = "wrong", **changes: Any) -> Window:
    """A window whose application did wrong."""
    return good_window(findings=[finding("invalid", "wrong-body", text)], verdict=Verdict.INVALID, **changes)


def refusing(*_: object) -> Window:
    """An answer: it breaks."""
    raise TandemError("it broke")


def result_of[C: Conclusions](asked: Request, found: Concluded[C], **changes: Any) -> Result[C]:
    """As the engine makes it of a study's answer."""
    concluded = {name: value for name, value in found if name not in ("variants", "complete")}
    how = {"id": "x", "request": asked, "started_at": NOW, "finished_at": NOW, "trials": {}}
    more = {"baselines": Baselines(), "phases_s": {"stop": 3.0}, "variants": found.variants or []}
    kind: Any = Result[type(found.conclusions)]  # type: ignore[misc]
    made: Result[C] = kind(**{**how, **more, **concluded, **changes})
    return made


def text(report: RenderableType, width: int = 200) -> str:
    """A report as it is printed on a wide terminal."""
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(report)
    return console.export_text()


def is_golden(report: RenderableType, name: str, width: int = 260) -> None:
    """Compares a report with the one that is kept. To look at it and take a new one: what is printed when this fails."""
    told = "\n".join(line.rstrip() for line in text(report, width).splitlines()).rstrip() + "\n"
    print(told)
    assert told == (FIXTURES / "reports" / f"{name}.txt").read_text()


def environment_of(implementation: str = "rust-async", **changes: Any) -> Environment:
    sources = {"tandem_version": "0.1.0", "git_commit": "0" * 40, "git_dirty": False}
    machine = {"host": {"cpus": 2}, "images": {"app": "sha256:0"}, "versions": {"oha": "1.16.0"}}
    settings = {"WORKERS": "1", "DB_POOL_MAX": "20", "THREADS": ""}
    own = {"settings": settings, "variables": {"IMPL": implementation}}
    return Environment(**{**sources, **machine, **own, **changes})


LONG = {
    "reset": 0.5,
    "launch": 0.5,
    "ready": 2.0,
    "verify": 0.5,
    "challenge": 0.0,
    "drain": 0.25,
    "collect": 0.125,
    "stop": 1.125,
}
"""Seconds of the calls that are no load: 5 together for one variant."""


@dataclass
class FakeFloor:
    """Notes each call, lets the clock run on, and fails where it is told to.

    Calls of variants are noted as `call label`; the windows as `measure name`. answer: gives the windows.
    """

    answer: Answer | None = None
    takes_s: dict[str, float] = field(default_factory=lambda: LONG)
    answers_per_s: float = 1000
    goodput_rps: float = 999.9
    worker_count: int = 1
    idle_cores: float | None = 0.002
    failures: dict[str, BaseException] = field(default_factory=dict)
    """Call -> what it raises."""
    verified: list[Finding] = field(default_factory=list)
    challenged: list[Finding] = field(default_factory=list)
    stopped: list[Finding] = field(default_factory=list)
    judged: dict[str, list[Finding]] = field(default_factory=dict)
    """Name of a window -> its findings."""
    ramp: Callable[[int], float] = lambda second: 1.0
    calls: list[str] = field(default_factory=list)
    asked: list[WindowSpec] = field(default_factory=list)
    warm_ups: list[int] = field(default_factory=list)
    frozen: set[str] = field(default_factory=set)
    now_s: float = 100.0
    visited: TrialSpec = field(default_factory=trial_spec)

    def _note(self, call: str, label: str = "", duration_s: float | None = None) -> None:
        name = f"{call} {label}".strip()
        self.calls.append(name)
        self.now_s += self.takes_s.get(call, 0.0) if duration_s is None else duration_s
        for known in (name, call):
            if known in self.failures:
                raise self.failures[known]

    def reset(self) -> None:
        self._note("reset")

    def workers(self, label: str) -> int:
        return self.worker_count

    def launch(self, label: str) -> None:
        self._note("launch", label)

    def wait_ready(self, label: str) -> None:
        self._note("ready", label)

    def verify(self, label: str) -> list[Finding]:
        self._note("verify", label)
        return list(self.verified)

    def idle(self, label: str) -> float | None:
        self._note("idle", label)
        return self.idle_cores

    def warm_up(self, label: str, duration_s: int) -> list[int]:
        before = sum(self.warm_ups)
        self.warm_ups.append(duration_s)
        self._note("warm up", label, duration_s)
        return [int(self.answers_per_s * self.ramp(before + second)) for second in range(duration_s)]

    def rest(self, labels: Sequence[str]) -> None:
        self.frozen |= set(labels)

    def wake(self, labels: Sequence[str]) -> None:
        self.frozen -= set(labels)

    def measure(self, spec: WindowSpec) -> WindowRecord:
        self.asked.append(spec)
        assert not self.frozen & set(spec.variants), "who is loaded has to be awake"
        began_s = dict.fromkeys(spec.variants, self.now_s)
        self._note("measure", spec.name, spec.seconds)
        answer = self.answer or self._good
        windows = {label: answer(self.visited, spec) for label in spec.variants}
        return WindowRecord(spec=spec, windows=windows, began_s=began_s)

    def _good(self, _: TrialSpec, spec: WindowSpec) -> Window:
        how = {"goodput_rps": self.goodput_rps, "duration_s": spec.seconds}
        return good_window(spec.load, findings=self.judged.get(spec.name, []), **how)

    def challenge(self, label: str) -> tuple[Challenge | None, list[Finding]]:
        self._note("challenge", label)
        return None, list(self.challenged)

    def drain(self) -> None:
        self._note("drain")

    def collect(self, label: str) -> None:
        self._note("collect", label)

    def stop(self, label: str) -> list[Finding]:
        self._note("stop", label)
        return list(self.stopped)

    def phase(self, name: str, expected_s: float | None) -> None:
        """The floor is the view too."""

    def note(self, text: str) -> None: ...

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds

    def visit(self, spec: TrialSpec, script: Windows | None = None) -> Trial:
        self.visited = spec
        visit = Visit(self, spec, self, clock=lambda: self.now_s, sleep=self.sleep)
        return visit.run(script or in_order(spec.windows))


class Quiet(View):
    """A view that keeps the notes that it is told."""

    def __init__(self) -> None:
        super().__init__(Console(quiet=True))
        self.said: list[str] = []

    def note(self, text: str) -> None:
        self.said.append(text)

    def trial(self, title: str) -> None: ...
    def phase(self, name: str, expected_s: float | None) -> None: ...


@dataclass
class FakeLab:
    """A laboratory whose visits run on fake floors. verdicts: what the n-th visit's closed window is found to be."""

    answer: Answer | None = None
    """Gives the windows."""
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    raises: dict[int, BaseException] = field(default_factory=dict)
    """Instead of the n-th visit."""
    visited: list[str] = field(default_factory=list)
    environments: dict[str, Environment] = field(default_factory=dict)
    phases_s: dict[str, float] = field(default_factory=dict)
    is_up: bool = False
    goodput_rps: Callable[[TrialSpec], float] = lambda spec: 1000.0

    @contextmanager
    def up(self) -> Iterator[None]:
        self.is_up = True
        try:
            yield
        finally:
            self.is_up = False

    def visit(self, spec: TrialSpec, script: Windows, folder: Path) -> Trial:
        assert self.is_up
        assert folder.is_dir()
        (folder / "app.log").write_text("a line\n")
        self.visited.append(spec.key)
        number = len(self.visited)
        if number in self.raises:
            raise self.raises[number]
        return self.floor(spec, number).visit(spec, script)

    def floor(self, spec: TrialSpec, number: int) -> FakeFloor:
        """Of the n-th visit."""
        floor = FakeFloor(answer=self.answer, goodput_rps=self.goodput_rps(spec))
        severity: Any = self.verdicts.get(number)
        if severity is not None:
            floor.judged["closed"] = [finding(severity, "odd", f"visit {number} was odd")]
        return floor


def play(study: Study[Any], answer: Answer) -> list[Trial]:
    """Runs a study's plan to its end."""
    return drive(study.plan(), lambda spec: FakeFloor(answer=answer).visit(spec, study.windows(spec)))


def session(catalog: Catalog, results: Path, lab: FakeLab, view: Any = None) -> Session:
    """The engine with a fake laboratory."""

    def place(study: Study[Any], variants: Sequence[Variant], journal: Journal) -> FakeLab:
        lab.environments = {one.label: environment_of(one.implementation) for one in variants}
        return lab

    return Session(catalog, results, view or Quiet(), place, "self-test: passed")


class Found(Conclusions):
    """Key of each trial -> what it reached."""

    reached: dict[str, float]


class Static(Study[Found]):
    """Two blocks of two variants, known before."""

    name = "static"
    kind = Found

    def outline(self) -> list[list[TrialSpec]]:
        return [[trial_spec(f"{block}-{name}", name, block=block) for name in "ab"] for block in (1, 2)]

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[Found]:
        reached = {
            trial.spec.key: window.goodput_rps
            for trial in trials
            for record in trial.windows
            for window in record.windows.values()
        }
        void = any(trial.verdict is Verdict.VOID for trial in trials)
        verdict = Verdict.VOID if void else Verdict.OK
        return Concluded(verdict=verdict, conclusions=Found(reached=reached))

    @classmethod
    def report(cls, result: Result[Found]) -> RenderableType:
        return Text(f"{len(result.trials)} verdicts")


ALL = ["1-a", "1-b", "2-a", "2-b"]
"""The keys of its trials, in their order."""


PROSE = {"text", "note", "evidence", "sentence", "reasons", "reason", "warnings"}
"""Keys of what is told in words, which may be told better later."""


def as_recorded(found: Conclusions, *less: str) -> Any:
    """Conclusions as a record has them: numbers with six digits, without prose. less: further keys that are left out."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(one) for key, one in value.items() if key not in {*PROSE, *less}}
        return [plain(one) for one in value] if isinstance(value, list) else value

    return plain(json.loads(found.model_dump_json()))


def told_to(study: Study[Any]) -> list[str]:
    """What a study tells a person from now on."""
    said: list[str] = []
    study.tell = said.append
    return said


def told_before(study: Study[Any]) -> list[str]:
    """What a study tells a person before its first block."""
    said = told_to(study)
    next(study.plan())
    return said
