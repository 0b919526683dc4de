"""loadgen/claims/*.toml: claims that people quote, tested like the published experiments."""

import json
from pathlib import Path

import pytest
from harness_engine import text
from harness_experiments import experiment, reproduction, trials
from typer.testing import CliRunner

import tandem.commands.main  # noqa: F401 (it adds the commands)
from tandem.catalog.catalog import Catalog
from tandem.cli.options import app
from tandem.errors import UsageError
from tandem.studies.reproduce.experiment import PlanName, published_ratio, read_all, read_claims
from tandem.studies.reproduce.http import HttpRows
from tandem.studies.reproduce.report import judgement, markdown, report
from tandem.studies.reproduce.study import Reproduce, request_for

NAMES = {
    "async-is-threads",
    "async-overload",
    "async-tails",
    "asyncpg-prepared",
    "pooled-django",
    "small-pools",
}
SOURCE = {"source": "https://example.org/claim", "hypothesis": "Async wins."}


@pytest.mark.parametrize("plan", ["smoke", "core", "wide", "full"])
def test_each_claim_can_be_measured(real: Catalog, root: Path, plan: PlanName) -> None:
    claims = read_claims(root)
    assert set(claims) == NAMES
    for name, own in claims.items():
        assert own.claims
        assert [one.row for one in HttpRows(real, own, plan, 2).known.values()] == own.measured(plan)
        asked = request_for(real, name, own, plan, 2, seed=1)
        assert Reproduce(real, asked).experiment == own
        assert all({claim.of, claim.to} <= {row.label for row in own.measured(plan)} for claim in own.claims)


def test_ratios_are_those_of_the_sources(root: Path) -> None:
    """5,415 and 4,952 requests per second, a p99 of 37 and 75 ms; 1,822, 669 and 409 requests per second."""
    claims = read_claims(root)
    tails, django = claims["async-tails"], claims["pooled-django"]
    assert published_ratio(tails, tails.claims[0]) == pytest.approx(0.914, abs=0.001)
    assert published_ratio(tails, tails.claims[1]) == pytest.approx(2.03, abs=0.01)
    assert published_ratio(django, django.claims[0]) == pytest.approx(4.45, abs=0.01)
    assert published_ratio(django, django.claims[2]) == pytest.approx(2.72, abs=0.01)


def test_no_name_is_both_published_and_quoted(root: Path) -> None:
    assert not read_all(root).keys() & read_claims(root).keys()
    assert all(own.source is None for own in read_all(root).values())


@pytest.mark.parametrize("missing", ["source", "hypothesis"])
def test_a_claim_without_its_source_is_refused(root: Path, tmp_path: Path, missing: str) -> None:
    lines = (root / "loadgen/claims/small-pools.toml").read_text().splitlines()
    (tmp_path / "loadgen/claims").mkdir(parents=True)
    kept = [line for line in lines if not line.startswith(missing)]
    (tmp_path / "loadgen/claims/mine.toml").write_text("\n".join(kept))
    with pytest.raises(UsageError, match=r"mine\.toml: a claim needs `source`, an address, and `hypothesis`"):
        read_claims(tmp_path)


def test_an_address_is_one(root: Path, tmp_path: Path) -> None:
    text_ = (root / "loadgen/claims/small-pools.toml").read_text()
    (tmp_path / "loadgen/claims").mkdir(parents=True)
    (tmp_path / "loadgen/claims/mine.toml").write_text(text_.replace("https://", ""))
    with pytest.raises(UsageError, match="source"):
        read_claims(tmp_path)


def test_the_report_has_source_hypothesis_and_one_sentence() -> None:
    made = reproduction(
        trials({"sync, 2 threads": 100, "async": 390, "async, ours": 389}), experiment(**SOURCE)
    )
    told = text(report(made), width=300)
    assert "https://example.org/claim" in told
    assert "hypothesis: Async wins." in told
    sentence = judgement(made.conclusions)
    assert sentence.startswith("“Waiting”: of its 2 statements 2 stand. The first stands: × 3.90")
    assert sentence in told
    assert f"**{sentence}**" in markdown(made)


def test_an_experiment_has_no_such_sentence() -> None:
    assert judgement(reproduction(trials({"async": 390, "async, ours": 389})).conclusions) == ""


def test_the_list_has_them_in_a_group_of_their_own() -> None:
    told = CliRunner().invoke(app, ["reproduce", "list", "--json"]).stdout
    groups = {entry["name"]: entry["group"] for entry in json.loads(told)}
    assert {name for name, group in groups.items() if group == "quoted"} == NAMES
    assert groups["hyper-delay"] == "published"
