"""documents.reports and documents.experiments: figures of records, and what is not measured."""

from types import SimpleNamespace
from typing import Any

import pytest
from harness_experiments import experiment, made, reproduction, trials
from harness_places import ROOT

from documents import experiments, reports
from documents.records import Records
from tandem.record.result import Result
from tandem.studies.reproduce.conclusions import Reproduced

RECORDS = Records(ROOT)
GAP = "explanations/published-python"
MINE = {"source": "https://example.org/claim", "hypothesis": "Async wins."}


def test_a_table_has_the_columns_that_are_asked_for() -> None:
    whole = reports.table(RECORDS, GAP, "goodput").splitlines()
    some = reports.table(RECORDS, GAP, "goodput", "factor & ratio & #5").splitlines()
    assert whole[0].startswith("| part | factor | changed | ratio | 95 % interval |")
    assert some[:2] == ["| factor | ratio | 95 % interval |", "| --- | ---: | ---: |"]
    assert len(whole) == len(some)


def test_a_cell_is_that_of_the_report() -> None:
    told = reports.cell(
        RECORDS, GAP, "goodput", "settings of A, python-sync & handlers", "ratio & 95 % interval"
    )
    lines = reports.table(RECORDS, GAP, "goodput").splitlines()
    [line] = [line for line in lines if "| settings of A, python-sync | handlers |" in line]
    ratio, interval = line.split(" | ")[3:5]
    assert told == f"{ratio} ({interval})"
    rows = reports.across(RECORDS, "goodput", "B / A + the programs themselves", "ratio", GAP).splitlines()
    assert rows[0] == "| record | B / A | the programs themselves |"
    assert rows[2].startswith(f"| `{GAP}` | {reports.cell(RECORDS, GAP, 'goodput', 'B / A', 'ratio')} |")


@pytest.mark.parametrize(
    ("title", "row", "columns", "told"),
    [
        ("goodput", "handlers", "ratio", "2 rows"),
        ("goodput", "none", "ratio", "0 rows"),
        ("goodput", "B / A", "rati", "no table"),
        ("rate", "B / A", "ratio", "no table"),
    ],
)
def test_a_cell_that_is_not_one_is_an_error(title: str, row: str, columns: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        reports.cell(RECORDS, GAP, title, row, columns)


def quoting(found: Result[Reproduced] | None) -> Any:
    """Records in which each claim has this result."""
    return SimpleNamespace(claims=RECORDS.claims, quoted=lambda _: found)


def test_a_claim_that_nobody_measured_says_how_to() -> None:
    claims = RECORDS.claims()
    told = experiments.quoted(quoting(None))
    assert told.count("Not measured: `just reproduce ") == len(claims)
    assert all(claim.source is not None and claim.source in told for claim in claims.values())
    assert "100 connections" in told


def test_a_measured_claim_has_its_verdicts() -> None:
    rates = {"sync, 2 threads": 100.0, "async": 390.0, "async, ours": 389.0}
    told = experiments.quoted(quoting(reproduction(trials(rates), experiment(**MINE))))
    assert "Not measured" not in told
    assert told.count("As published (") == len(RECORDS.claims())


def test_a_claim_of_a_row_that_failed_has_the_reason() -> None:
    """Of a claim about overload, the row that is overloaded may well have no figures."""
    good = trials({"sync, 2 threads": 100.0, "async, ours": 389.0})
    bad = [made("async", block, 1.0, verdict="invalid", figures={}, reason="refused") for block in (1, 2)]
    told = experiments.quoted(quoting(reproduction([*good, *bad], experiment(**MINE))))
    assert "The record is invalid: async, round 1: invalid: refused." in told


def test_a_claim_comes_once_from_the_first_result_that_has_it() -> None:
    first, wide = (RECORDS.reproduction(name) for name in ("chatbot-pool", "chatbot-pool.wide"))
    told = experiments.claims_table(first, wide)
    claims = [str(one.found.text).replace("<", "&lt;") for one in wide.conclusions.judged]
    assert all(text in told for text in claims)
    assert told.count("\\*") == len(claims) - len(first.conclusions.judged)


def test_a_claim_that_stands_as_published_is_named_and_has_no_row() -> None:
    told = experiments.claims_table(RECORDS.reproduction("hyper-delay"))
    assert "| so it is at 200 ms |" not in told
    assert "As published (5): so it is at 200 ms; " in told
