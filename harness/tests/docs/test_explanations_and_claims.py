"""documents.explanations and documents.quoted: what is there, and what is not measured."""

from harness_experiments import experiment, made, reproduction, trials
from harness_places import ROOT

from documents import explanations, quoted
from documents.records import Records
from tandem.record.result import Result
from tandem.studies.explain.conclusions import Explained
from tandem.studies.explain.design import PROGRAMS
from tandem.studies.reproduce.conclusions import Reproduced

RECORDS = Records(ROOT)
NAME = "published-python"
MINE = {"source": "https://example.org/claim", "hypothesis": "Async wins."}


class Nothing(Records):
    """A repository in which nothing was measured yet."""

    def explanation(self, name: str) -> Result[Explained] | None:
        return None

    def quoted(self, name: str) -> Result[Reproduced] | None:
        return None


class Measured(Nothing):
    """One in which every claim was."""

    def quoted(self, name: str) -> Result[Reproduced] | None:
        rates = {"sync, 2 threads": 100.0, "async": 390.0, "async, ours": 389.0}
        return reproduction(trials(rates), experiment(**MINE))


def digits(ratio: float | None) -> str:
    """As the documents round."""
    assert ratio is not None
    return f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}"


def test_the_figures_of_an_explained_gap() -> None:
    found = RECORDS.explanation(NAME)
    assert found is not None
    assert explanations.told(RECORDS, NAME).startswith("python-async against python-sync: × ")
    group = next(share for share in found.conclusions.groups if share.name == "connections")
    told = explanations.factor(RECORDS, NAME, "A", "connections")
    assert told.startswith(f"≥ × {digits(group.ratio)} (")
    assert found.conclusions.cpu is not None
    programs = next(share for share in found.conclusions.cpu.factors if share.name == PROGRAMS)
    assert explanations.cpu_factor(RECORDS, NAME, "-", PROGRAMS).startswith(f"× {digits(programs.ratio)} (")
    assert explanations.factor(RECORDS, NAME, "A", "connections", "first") == f"× {digits(group.first)}"
    assert "the programs themselves" in explanations.factors(RECORDS, NAME)
    legs = [part.ratio for part in found.conclusions.legs]
    assert explanations.leg(RECORDS, NAME, "A").startswith(f"≥ × {digits(legs[0])}")
    assert explanations.leg(RECORDS, NAME, "B").startswith(f"× {digits(legs[2])}")
    cell = found.conclusions.cells[0]
    assert explanations.rate(RECORDS, NAME, cell.label) == f"{cell.goodput_rps:,.0f}/s"
    assert cell.label in explanations.model(RECORDS, NAME)
    gaps = explanations.gaps(RECORDS).splitlines()
    assert len(gaps) == 2 + 6
    assert any("4 ms away" in line and told_gap(found) in line for line in gaps)


def told_gap(found: Result[Explained]) -> str:
    return f"× {digits(found.conclusions.gap)}"


def test_what_was_not_measured_is_said_so() -> None:
    nothing = Nothing(ROOT)
    assert explanations.told(nothing, NAME) == "not measured"
    assert explanations.factor(nothing, NAME, "A", "connections") == "not measured"
    assert explanations.cpu_factor(nothing, NAME, "A", "connections") == "not measured"
    assert explanations.factors(nothing, NAME) == explanations.model(nothing, NAME) == "Not measured."
    assert explanations.gaps(nothing).count("not measured") == 6
    claims = nothing.claims()
    assert quoted.summary(nothing).count("`just reproduce ") == len(claims)
    told = quoted.details(nothing)
    assert told.count("| not measured |") == sum(len(claim.claims) for claim in claims.values())
    assert all(claim.source is not None and claim.source in told for claim in claims.values())


def test_a_measured_claim_has_its_verdicts_and_its_sentence() -> None:
    measured = Measured(ROOT)
    summary, details = quoted.summary(measured), quoted.details(measured)
    assert "not measured" not in (summary + details).lower()
    for told in (summary, details):
        assert "of its 2 statements 2 stand. The first stands: × 3.90" in told
    assert "**stands" in summary
    assert "scenario recipes, topology full, connections" not in summary, "numbers have their unit"
    assert "100 connections" in summary
    assert "**Hypothesis.** " in details


def test_a_row_that_failed_has_a_dash_and_its_reason() -> None:
    """Of a claim about overload, the row that is overloaded may well have no figures."""

    class Overloaded(Nothing):
        def quoted(self, name: str) -> Result[Reproduced] | None:
            good = trials({"sync, 2 threads": 100.0, "async, ours": 389.0})
            bad = [
                made("async", block, 1.0, verdict="invalid", figures={}, reason="refused") for block in (1, 2)
            ]
            return reproduction([*good, *bad], experiment(**MINE))

    failed = Overloaded(ROOT)
    assert "| async: –<br>sync, 2 threads: 100/s |" in quoted.details(failed)
    assert "The record is invalid: async, round 1: invalid: refused." in quoted.details(failed)
    assert "(the record is invalid)" in quoted.summary(failed)
