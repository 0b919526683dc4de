"""The committed records are sound: they passed their own checks and are of what is measured today."""

import pytest
from harness_places import ROOT

from tandem.analysis.host_speed import host_speed
from tandem.docs.records import CAMPAIGN, Records
from tandem.record.run import Verdict
from tandem.selftest import registry
from tandem.selftest.result import good

RECORDS = Records(ROOT)
FOLDERS = RECORDS.reproductions()


def test_the_reference_campaign_passed_its_own_checks() -> None:
    runs = RECORDS.campaign()
    assert len(runs) == 6
    for run in runs:
        assert run.verdict is Verdict.OK
        assert run.environment.git_dirty is False
        for trial in run.trials:
            assert (ROOT / CAMPAIGN / run.run / f"trial-{trial.index}" / "psrecord.log").is_file()


@pytest.mark.parametrize("implementation", sorted(run.implementation for run in RECORDS.campaign()))
def test_the_host_was_seen_to_change(implementation: str) -> None:
    """`host-speed` on real windows; the control is a start beside itself."""
    closed = [window for name, window in RECORDS.windows("closed") if name == implementation]
    assert host_speed(closed) is not None
    assert host_speed([closed[0], closed[0]]) is None


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_reproduction_is_of_what_the_experiment_is_today(folder: str) -> None:
    name, _, plan = folder.partition(".")
    record, experiment = RECORDS.reproduction(folder), RECORDS.experiments()[name]
    assert plan in ("", record.plan)
    assert record.verdict is Verdict.OK
    assert record.digest == experiment.digest(record.plan), "what is measured has changed: measure it again"
    assert any(environment.host.get("cpu_model") for environment in record.environment.values())


def test_every_experiment_has_a_reproduction_and_a_conclusion() -> None:
    experiments = RECORDS.experiments()
    assert {folder.partition(".")[0] for folder in FOLDERS} == experiments.keys()
    assert [name for name, one in experiments.items() if not one.sentence] == []


def test_the_weekly_self_test_passed_and_caught_every_negative_control() -> None:
    groups = RECORDS.selftest()
    outcomes = [outcome for group in groups.values() for outcome in group]
    assert len(outcomes) > 55
    assert [outcome.name for outcome in outcomes if not good(outcome)] == []
    # The short queues were a part of `timing` then.
    assert {*groups, "queueing"} == {"unit", *registry.END_TO_END, *registry.WEEKLY}
