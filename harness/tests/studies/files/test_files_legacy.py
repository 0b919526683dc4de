"""Records of experiments with files that an older Tandem made. Expected figures are the older program's own words."""

import json
from pathlib import Path

import pytest

from tandem.analysis.ratios import ALPHA
from tandem.catalog.catalog import Catalog
from tandem.record.result import Baselines
from tandem.record.window import Verdict
from tandem.studies.files.conclusions import row_trial
from tandem.studies.files.study import Files
from tandem.studies.registry import read_folder


@pytest.fixture
def old(fixtures: Path) -> Path:
    """`reproduce tiny-files --seed 5`, made by the last program of schema 1, and the table that it printed."""
    return fixtures / "old-records/files"


def broken(old: Path, into: Path, **values: object) -> Path:
    """The record with one start of its first row changed."""
    record = json.loads((old / "reproduction.json").read_text())
    record["rows"][0]["starts"][0].update(values)
    (into / "reproduction.json").write_text(json.dumps(record))
    return into


def test_an_old_record_gives_the_same_table(old: Path) -> None:
    kind, result, _ = read_folder(old)
    assert (kind, result.verdict, result.request.seed) == (Files, Verdict.OK, 5)
    assert kind.markdown(result) == (old / "table.md").read_text().removesuffix("\n")
    assert sum(len(row.trials) for row in result.conclusions.rows) == 10
    assert [one.settings["way"] for one in result.request.variants[:2]] == ["test00", "test04"]
    assert result.phases_s.keys() >= {"builds", "measuring", "container"}
    assert result.environments["file-io"].versions["tokio"]


def test_its_trials_are_of_the_cases(old: Path) -> None:
    _, result, trials = read_folder(old)
    found = {trial.spec.name: trial for trial in trials}
    assert found.keys() == {f"{block}-2-400000-8192-{cache}" for block in (1, 2) for cache in ("hot", "cold")}
    assert found["2-2-400000-8192-cold"].spec.variants == ["one thread, cold"]
    again = [
        row_trial(row.label, trial)
        for row in result.conclusions.rows
        for trial in trials
        if row.label in trial.facts
    ]
    left_out = {"trial"}
    recorded = [one for row in result.conclusions.rows for one in row.trials]
    assert [one.model_dump(exclude=left_out) for one in again] == [
        one.model_dump(exclude=left_out) for one in recorded
    ]


def test_a_start_that_did_not_count_does_not_count(old: Path, tmp_path: Path) -> None:
    _, result, _ = read_folder(broken(old, tmp_path, verdict="void", reason="stolen", figures={}))
    assert result.trials == {Verdict.OK: 3, Verdict.VOID: 1}
    [void] = [one for row in result.conclusions.rows for one in row.trials if one.verdict is Verdict.VOID]
    assert (void.row, void.reason) == ("tokio tasks", "stolen")
    assert " 1 of 2 " in (Files.markdown(result) or "")


@pytest.fixture
def converted(fixtures: Path) -> Path:
    """The reference that such a program made, converted."""
    return fixtures / "converted-records/file-io"


def test_the_reference_says_the_same_when_it_is_concluded_again(real: Catalog) -> None:
    _, result, trials = read_folder(real.root / "results/reference-experiments/file-io")
    again = Files(real, result.request).conclude(trials, Baselines())
    assert again.verdict is result.verdict
    assert again.conclusions.model_dump(mode="json") == result.conclusions.model_dump(mode="json")


def test_a_converted_record_says_the_same_when_it_is_concluded_again(real: Catalog, converted: Path) -> None:
    _, result, trials = read_folder(converted)
    again = Files(real, result.request).conclude(trials, Baselines())
    assert again.verdict is result.verdict
    made, kept = (one.conclusions.model_dump(mode="json") for one in (again, result))
    for part in ("digest", "settings", "columns"):
        assert made[part] == kept[part]
    for now, then in zip(made["claims"], kept["claims"], strict=True):
        p = now.pop("p_adjusted")
        if p > ALPHA:  # the record's claims were judged one by one
            assert now["verdict"] == "not decided"
            now |= {"verdict": then["verdict"], "size": then["size"]}
        assert {"p_adjusted": None, **then} == {"p_adjusted": None, **now}
    for row, recorded in zip(made["rows"], kept["rows"], strict=True):
        assert row | {"trials": []} == recorded | {"trials": []}


def test_figures_of_a_converted_record(converted: Path) -> None:
    """As the older program told them."""
    _, result, _ = read_folder(converted)
    table = Files.markdown(result) or ""
    for line in (
        "| tokio tasks, 10/10M | 6 | 3,116.0 (3,237.0) | 498.3 ± 46.9 | 11.90 ± 2.20 | the application's CPU |",
        "| tokio tasks, Arc<Mutex>, 10/10M | 6 | 2,737.0 (3,018.0) | 452.6 ± 49.5 | 10.92 ± 2.77 | the application's CPU |",
        "| sync, rayon, 10/10M | 6 | 2,075.0 (2,554.0) | 51.3 ± 6.7 | 1.23 ± 0.30 | the application's CPU |",
        "| sync, one thread, 10/10M, cold | 6 | – | 228.2 ± 150.2 | – | the disk |",
        "| 5/1M: rayon is ahead of one thread | time: sync, rayon, 5/1M / sync, one thread, 5/1M | × 0.72 | × 0.61 (0.50 to 0.75) | stands |",
        "| 5/1M: async-std's tasks against tokio's | time: async-std tasks, 5/1M / tokio tasks, 5/1M | × 1.02 | × 0.61 (0.45 to 0.81) | gone |",
    ):
        assert line in table
