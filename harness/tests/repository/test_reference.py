"""The committed reference campaign is sound, and the README says what it says."""

from harness_places import ROOT

from tandem.campaign.report import markdown
from tandem.record.run import Verdict
from tandem.record.store import read_runs

REFERENCE = ROOT / "results/reference"
IMPLEMENTATIONS = {"cpp-async", "node", "python-async", "python-sync", "rust-async", "rust-sync"}


def test_the_readme_shows_the_reference_campaign() -> None:
    assert markdown(read_runs(REFERENCE)) in (ROOT / "README.md").read_text()


def test_the_reference_campaign_passed_its_own_checks() -> None:
    runs = read_runs(REFERENCE)
    assert {run.implementation for run in runs} == IMPLEMENTATIONS
    for run in runs:
        assert run.verdict is Verdict.OK
        assert run.environment.git_dirty is False
        for trial in run.trials:
            folder = REFERENCE / run.run / f"trial-{trial.index}"
            assert (folder / "psrecord.log").is_file()
            assert trial.closed is not None
            assert trial.closed.goodput_rps > 0
