"""documents.reports and documents.published: figures of records, and what is not measured."""

from types import SimpleNamespace
from typing import Any

import pytest
from harness_experiments import experiment, made, reproduction, trials
from harness_places import ROOT

from documents import published, reports
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


def quoting(found: Result[Reproduced]) -> Any:
    """Records in which one folder has this result of a claim."""
    return SimpleNamespace(result=lambda _: found, below=lambda _: ["reference-claims/mine"])


def test_a_quoted_claim_has_its_source_our_conditions_and_its_verdicts() -> None:
    rates = {"sync, 2 threads": 100.0, "async": 390.0, "async, ours": 389.0}
    told = published.quoted(quoting(reproduction(trials(rates), experiment(**MINE))), "reference-claims")
    assert told.startswith("## ")
    assert f"]({MINE['source']}); " in told
    assert "Ours: scenario " in told
    assert told.count("As published (") == 1
    every = published.quoted(RECORDS, "reference-claims")
    assert every.count("## ") == len(RECORDS.below("reference-claims")) > 5
    assert "100 connections" in every


def test_a_claim_of_a_row_that_failed_has_the_reason() -> None:
    """Of a claim about overload, the row that is overloaded may well have no figures."""
    good = trials({"sync, 2 threads": 100.0, "async, ours": 389.0})
    bad = [made("async", block, 1.0, verdict="invalid", figures={}, reason="refused") for block in (1, 2)]
    told = published.quoted(quoting(reproduction([*good, *bad], experiment(**MINE))), "reference-claims")
    assert "The record is invalid: async, round 1: invalid: refused." in told


def test_a_claim_comes_once_from_the_first_record_that_has_it() -> None:
    first, wide = (f"reference-experiments/{name}" for name in ("chatbot-pool", "chatbot-pool.wide"))
    told = published.claims_table(RECORDS, first, wide)
    known, every = ([one.text for one in RECORDS.result(at).conclusions.contrasts] for at in (first, wide))
    assert all(text.replace("<", "&lt;") in told for text in every)
    assert told.count("\\*") == len({*every} - {*known})


def test_a_claim_that_stands_as_published_is_named_and_has_no_row() -> None:
    told = published.claims_table(RECORDS, "reference-experiments/hyper-delay")
    assert "| so it is at 200 ms |" not in told
    assert "As published (5): so it is at 200 ms; " in told


def test_a_record_of_nothing_published_has_no_sentence() -> None:
    with pytest.raises(ValueError, match="comparisons/falcon measures nothing"):
        published.sentence(RECORDS, "comparisons/falcon")


def test_a_program_against_itself_is_in_the_middle_of_the_records() -> None:
    one, other, far = (f"comparisons/{name}" for name in ("falcon", "rust-async", "shared-cpp-async"))
    assert "| requests answered | 1.5 % | 2.1 % |" in reports.with_itself(RECORDS, "goodput_rps", one)
    told = reports.with_itself(RECORDS, "goodput_rps + none", one, far, other).splitlines()
    assert told[2:] == ["| requests answered | 1.5 % | 2.2 % |"], "and nothing of what nobody measured"
