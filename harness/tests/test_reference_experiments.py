"""The committed results of the experiments: whole, of the experiments as they are, and what the pages say of them."""

import re
from pathlib import Path

import pytest

from tandem.reproduce.experiment import Experiment, read_all
from tandem.reproduce.report import ratio_text
from tandem.reproduce.result import Reproduction

ROOT = Path(__file__).parents[2]
REFERENCES = ROOT / "results/reference-experiments"
EXPERIMENTS = read_all(ROOT)
MADE = sorted(file.parent.name for file in REFERENCES.glob("*/reproduction.json"))
PENDING = "*After the reference run.*"


def reference(name: str) -> Reproduction:
    return Reproduction.model_validate_json((REFERENCES / name / "reproduction.json").read_text())


def found_in(page: str, experiment: Experiment) -> str:
    """What the page says was found, of one experiment."""
    section = next(part for part in page.split("\n## ") if f"(`{experiment.name}`" in part.partition("\n")[0])
    return section.partition("**Found.**")[2]


def unknown_figures(text: str, record: Reproduction) -> list[str]:
    """Ratios (× 1.23) and rates (1,234/s) of a text that neither the record nor the document has."""
    ratios = {f"{c.ratio.ratio:,.2f}" for c in record.claims if c.ratio.ratio is not None}
    ratios |= {f"{c.published:,.2f}" for c in record.claims if c.published is not None}
    rates = {f"{row.figures['goodput_rps'].mean:,.0f}" for row in record.rows if "goodput_rps" in row.figures}
    rates |= {f"{row.published['goodput_rps']:,.0f}" for row in record.rows if "goodput_rps" in row.published}
    told = [f"× {n}" for n in re.findall(r"× (\d[\d,]*\.\d\d)", text) if n not in ratios]
    return told + [f"{n}/s" for n in re.findall(r"(\d[\d,]*)/s", text) if n not in rates]


@pytest.mark.parametrize("name", MADE)
def test_a_reference_is_of_what_the_experiment_is_today(name: str) -> None:
    record, experiment = reference(name), EXPERIMENTS[name]
    assert record.experiment == name
    assert record.digest == experiment.digest(record.plan), "what is measured has changed: measure it again"
    assert any(environment.host.get("cpu_model") for environment in record.environment.values())


@pytest.mark.parametrize("name", MADE)
def test_the_page_says_what_the_record_says(name: str) -> None:
    record, experiment = reference(name), EXPERIMENTS[name]
    text = found_in((ROOT / "docs/origins.md").read_text(), experiment)
    assert experiment.sentence
    assert " ".join(experiment.sentence.split()) in " ".join(text.split())
    assert unknown_figures(text, record) == []


@pytest.mark.parametrize("name", sorted(EXPERIMENTS.keys() - set(MADE)))
def test_without_a_reference_nothing_is_said(name: str) -> None:
    experiment = EXPERIMENTS[name]
    assert not experiment.sentence
    assert found_in((ROOT / "docs/origins.md").read_text(), experiment).strip() == PENDING


def test_an_invented_figure_is_noticed() -> None:
    record = reference("sync-to-async-python")
    assert unknown_figures("it was × 98.76, 123,456/s", record) == ["× 98.76", "123,456/s"]
    known = next(claim for claim in record.claims if claim.ratio.ratio is not None)
    assert unknown_figures(ratio_text(known), record) == []
