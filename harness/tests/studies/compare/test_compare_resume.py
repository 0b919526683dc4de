"""`compare` through the engine with a laboratory that starts nothing: a trial for each block, interrupted and gone on with."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from harness_engine import FakeFloor, FakeLab, Quiet, request, session
from harness_places import PLANS
from harness_samples import finding
from pydantic import JsonValue

from tandem.catalog.catalog import Catalog
from tandem.engine.run import run
from tandem.errors import TandemError
from tandem.record.request import Request
from tandem.record.trial import TrialSpec
from tandem.record.window import Verdict
from tandem.studies.compare.study import Compare
from tandem.studies.registry import read_folder

TWO_BLOCKS = (PLANS / "one-trial.toml").read_text().replace("blocks = 1", "blocks = 2")


@dataclass
class ManyLab(FakeLab):
    """absent: a variant that does not start. void: a visit -> the window that the host disturbs in it."""

    absent: str = ""
    void: dict[int, str] = field(default_factory=dict)

    def floor(self, spec: TrialSpec, number: int) -> FakeFloor:
        floor = super().floor(spec, number)
        if self.absent:
            floor.failures[f"ready {self.absent}"] = TandemError("it never answered")
        if number in self.void:
            floor.judged[self.void[number]] = [finding("void", text="busy")]
        return floor


@pytest.fixture
def asked(tmp_path: Path) -> Request:
    file = tmp_path / "two.toml"
    file.write_text(TWO_BLOCKS)
    return request("rust-async", "rust-sync", study="compare", plan=str(file))


def test_a_comparison_is_a_trial_for_each_block(real: Catalog, tmp_path: Path, asked: Request) -> None:
    result, journal = run(Compare, asked, session(real, tmp_path, ManyLab()))
    assert result.verdict is Verdict.OK
    assert result.trials == {Verdict.OK: 2}
    kind, again, trials = read_folder(journal.folder)
    assert (kind, again) == (Compare, result)
    for trial in trials:
        *turns, duet = trial.windows
        assert len(turns) == 6
        assert duet.spec.rates_rps.keys() == duet.windows.keys() == set(trial.spec.variants)
        assert list(duet.spec.rates_rps.values()) == [200, 201, 202]
    assert set(result.environments) == {"rust-async", "rust-sync", "rust-async~2"}
    assert kind.report(again)


def test_a_void_window_voids_its_block(real: Catalog, tmp_path: Path, asked: Request) -> None:
    lab = ManyLab(void={1: "round-2-rust-sync"})
    result, _ = run(Compare, asked, session(real, tmp_path, lab))
    assert lab.visited == ["block-1", "block-2", "block-1.2"]
    assert result.verdict is Verdict.OK
    assert result.trials == {Verdict.VOID: 1, Verdict.OK: 2}
    assert [one.text for one in result.findings] == ["rust-sync: block-1: busy"]


def test_one_that_does_not_start_leaves_the_others_their_figures(
    real: Catalog, tmp_path: Path, asked: Request
) -> None:
    lab = ManyLab(absent="rust-sync")
    result, journal = run(Compare, asked, session(real, tmp_path, lab))
    assert result.verdict is Verdict.FAILED
    found = result.conclusions
    verdicts = [found.verdict(label)[0] for label in found.variants]
    assert verdicts == [Verdict.OK, Verdict.FAILED]
    assert found.mean("rust-async", "duet_cpu_us_per_request") == 900.0
    assert [record.spec.variants for record in journal.trials()[0].windows].count([]) == 1


def test_a_reference_that_does_not_start_voids_the_session(
    real: Catalog, tmp_path: Path, asked: Request
) -> None:
    result, _ = run(Compare, asked, session(real, tmp_path, ManyLab(absent="rust-async~2")))
    assert result.verdict is result.conclusions.session is Verdict.VOID
    assert result.reasons[0] == "rust-async~2 is failed: block-1: it never answered"


def test_what_it_needs_is_told_once_the_first_blocks_say_so(
    real: Catalog, tmp_path: Path, asked: Request
) -> None:
    """One program against itself decides nothing, so it goes on; told again to whoever goes on with it."""
    options: dict[str, JsonValue] = {"detect": 0.03, "budget_s": 3600}
    alone = asked.model_copy(update={"variants": asked.variants[:1], "options": options})
    view = Quiet()
    with pytest.raises(KeyboardInterrupt):
        run(Compare, alone, session(real, tmp_path, ManyLab(raises={9: KeyboardInterrupt()}), view))
    needs = "after 6 blocks: to detect 3 % with a power of 80 % this host needs 12 blocks: 6 more"
    assert [line.startswith(needs) for line in view.said].count(True) == 1
    lab, again = ManyLab(), Quiet()
    result, _ = run(Compare, alone, session(real, tmp_path, lab, again), resume=True)
    assert lab.visited == [f"block-{number}" for number in range(9, 13)]
    assert any(line.startswith(needs) for line in again.said)
    assert result.conclusions.looks == [6, 12]
