"""tandem.studies.compare.legacy: what an older Tandem recorded, as today's."""

import json

import pytest
from harness_places import ROOT

from tandem.record.window import Verdict
from tandem.studies.compare.conclusions import METRICS, conclude, round_of, values
from tandem.studies.registry import read_folder

OLD = ROOT / "harness/tests/fixtures/old-records/compare"


def test_an_old_record_is_read() -> None:
    kind, result, trials = read_folder(OLD)
    assert kind.name == result.request.study == "compare"
    old = json.loads((OLD / "compare.json").read_text())
    assert (result.id, result.schema_version, result.verdict) == (old["campaign"], 3, Verdict.VOID)
    assert result.reasons == ["3 of 11 windows are void (limit 20%): the host is too busy"]
    _, small = result.request.variants
    assert (small.implementation, small.settings) == ("rust-async", {"DB_POOL_MAX": "2"})
    assert result.environments["rust-async"].configuration
    assert result.environments[small.label].settings["DB_POOL_MAX"] == "2"
    [trial] = trials
    assert trial.verdict is Verdict.VOID
    assert kind.report(result)
    markdown = kind.markdown(result)
    assert markdown is not None
    assert "| rust-async~2 | – | 0.983 | too few |" in markdown


def test_its_windows_give_the_figures_that_it_had() -> None:
    _, result, trials = read_folder(OLD)
    labels = [variant.label for variant in result.request.variants]
    again = conclude(trials, labels, result.baselines)
    assert again.reasons == result.reasons
    for metric, found in result.conclusions.same_against_itself.items():
        assert again.conclusions.same_against_itself[metric].ratio.ratio == pytest.approx(
            found.ratio.ratio, rel=1e-5
        )
    [trial] = trials
    shots = json.loads((OLD / "blocks/block-1.json").read_text())
    assert len(trial.windows) == len(shots["shots"]) + len({shot["round"] for shot in shots["duets"]})
    # Of a window that was made again because it was void the second counts, in the same round.
    rounds = [round_of(record) for record in trial.windows if record.spec.variants == [labels[1]]]
    assert sorted(rounds) != sorted(set(rounds))
    assert values(trial, labels[0], METRICS["goodput_rps"]).keys() == {1, 2}
