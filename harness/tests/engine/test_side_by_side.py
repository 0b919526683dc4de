"""tandem.engine.side_by_side: several labs take blocks of one study."""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from harness_engine import ALL, FakeLab, Quiet, Static, environment_of, request, session

from tandem.catalog.catalog import Catalog
from tandem.engine.journal import ASIDE, CLAIMS, Journal
from tandem.engine.run import Session, further, run
from tandem.engine.side_by_side import LAB, by_lab
from tandem.engine.study import Windows
from tandem.errors import TandemError
from tandem.record import store
from tandem.record.request import Conditions
from tandem.record.trial import Trial, TrialSpec
from tandem.record.window import Verdict
from tandem.report.parts import conditions_line

UNDER = Conditions(topology="full", placement="shared", lab="near", further_labs=["far"])
ASKED = request("rust-async", study="static", conditions=UNDER)
WAITS_S = 10


@pytest.fixture(autouse=True)
def _room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "NEEDED_BYTES", 1)


@dataclass
class Far(FakeLab):
    """Its second trial waits until the near lab has made a block, and is followed by the end of its process if that is told."""

    lost: bool = False
    fails: bool = False
    begun: threading.Event = field(default_factory=threading.Event)
    near_made: threading.Event = field(default_factory=threading.Event)

    def visit(self, spec: TrialSpec, script: Windows, folder: Path) -> Trial:
        if self.visited:
            self.begun.set()
            assert self.near_made.wait(WAITS_S)
            if self.lost:
                raise KeyboardInterrupt
        made = super().visit(spec, script, folder)
        if self.fails and spec.key == "2-b":
            made.verdict = Verdict.FAILED
        return made


@dataclass
class Near(FakeLab):
    far: Far | None = None
    tells_after: str = "1-b"

    def visit(self, spec: TrialSpec, script: Windows, folder: Path) -> Trial:
        made = super().visit(spec, script, folder)
        if self.far is not None and spec.key == self.tells_after:
            self.far.near_made.set()
        return made


class Helping:
    """A Helper in a thread."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.ended = False

        def until_lost() -> None:
            with suppress(KeyboardInterrupt, TandemError):
                work()

        self._thread = threading.Thread(target=until_lost, daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def end(self) -> None:
        self.ended = True
        self._thread.join(WAITS_S)


def helped(real: Catalog, results: Path, near: Near, far: Far, view: Quiet) -> tuple[Session, list[Helping]]:
    """A session whose further lab is helped in by a thread, which has begun once the study goes on."""
    near.far, helpers = far, list[Helping]()
    made = session(real, results, near, view)

    def help_(lab: str, journal: Journal) -> Helping:
        hosts = {"one": {"cpus": 2}}
        apart = session(real, results, far)
        place = apart.lab

        def with_hosts(*told: object) -> FakeLab:
            found = place(*told)  # type: ignore[arg-type]
            far.environments = {"rust-async": environment_of(hosts=hosts)}
            assert isinstance(found, FakeLab)
            return found

        object.__setattr__(apart, "lab", with_hosts)
        (journal.folder / "labs").mkdir(exist_ok=True)
        helpers.append(Helping(lambda: further(Static, journal, lab, apart)))
        assert far.begun.wait(WAITS_S)
        return helpers[0]

    object.__setattr__(made, "help", help_)
    return made, helpers


def test_each_block_is_made_in_one_lab_and_once(real: Catalog, tmp_path: Path) -> None:
    near, far = Near(), Far()
    asked, _ = helped(real, tmp_path, near, far, Quiet())
    result, journal = run(Static, ASKED, asked)
    assert (near.visited, far.visited) == (ALL[:2], ALL[2:])
    assert [trial.spec.key for trial in sorted(journal.trials(), key=lambda t: t.spec.key)] == ALL
    assert by_lab(journal.trials()) == {"near": 2, "far": 2}
    assert sum(result.trials.values()) == 4
    assert result.environments["rust-async"].hosts == {"far/one": {"cpus": 2}}
    assert not (journal.folder / CLAIMS).exists()
    assert "lab near and far" in conditions_line(result.request)


def test_a_lab_that_is_lost_loses_its_block_and_nothing_else(real: Catalog, tmp_path: Path) -> None:
    view, near, far = Quiet(), Near(), Far(lost=True)
    asked, helpers = helped(real, tmp_path, near, far, view)
    result, journal = run(Static, ASKED, asked)
    assert far.visited == ["2-a"]
    assert near.visited == ALL, "what it had made of the block is made again: a block is of one lab"
    assert by_lab(journal.trials()) == {"near": 4}
    assert sum(result.trials.values()) == 4
    assert len(list((journal.folder / ASIDE).iterdir())) == 1
    assert any("lab far was lost: block 2 is measured in lab near" in line for line in view.said)
    assert helpers[0].ended


def test_what_fails_in_a_further_lab_is_tried_in_the_first(real: Catalog, tmp_path: Path) -> None:
    """It may be the lab that failed."""
    near, far = Near(), Far(fails=True)
    asked, _ = helped(real, tmp_path, near, far, Quiet())
    result, journal = run(Static, ASKED, asked)
    assert (near.visited, far.visited) == (ALL, ALL[2:])
    assert by_lab(journal.trials()) == {"near": 4}
    assert result.trials == {Verdict.OK: 4}


def test_an_interruption_ends_it_and_the_study_goes_on_later(real: Catalog, tmp_path: Path) -> None:
    near, far = Near(raises={2: KeyboardInterrupt()}, tells_after="1-a"), Far()
    asked, helpers = helped(real, tmp_path, near, far, Quiet())
    with pytest.raises(KeyboardInterrupt):
        run(Static, ASKED, asked)
    assert helpers[0].ended
    again = session(real, tmp_path, later := Near())
    result, _ = run(Static, ASKED, again, resume=True)
    made = set(near.visited[:1]) | set(far.visited)
    assert later.visited == [key for key in ALL if key not in made]
    assert sum(result.trials.values()) == 4


def test_one_lab_leaves_no_trace_of_several(real: Catalog, tmp_path: Path) -> None:
    asked = ASKED.model_copy(update={"conditions": UNDER.model_copy(update={"further_labs": []})})
    _, journal = run(Static, asked, session(real, tmp_path, FakeLab()))
    assert by_lab(journal.trials()) == {}
    assert not (journal.folder / CLAIMS).exists()
    assert all(LAB not in trial.facts for trial in journal.trials())
