"""documents.statements: figures that say on how many sessions they rest, and captions of single ones."""

import re
from types import SimpleNamespace
from typing import Any, cast

import pytest
from harness_places import ROOT

from documents import statements
from documents.records import Records
from tandem.facts.session import SessionRecord
from tandem.facts.statement import Known, OfModel, defaults_now
from tandem.record.conclusion import Estimate
from tandem.wording import expected_range, known_told, metric_told

REAL = Records(ROOT)
APP, TOTAL = "app_cpu_us_per_request", "total_cpu_us_per_request"


def summary(sessions: int, models: int, **changed: Any) -> Known:
    made = Known(
        sessions=sessions,
        first="2026-11-21",
        last="2026-11-26",
        models=[OfModel(model=f"CPU {n}", sessions=1, ratio=1.4, interval=None) for n in range(models)],
        ratio=1.41,
        interval=None,
        sd_ln=0.04,
        expected=(1.24, 1.6),
    )
    return made.model_copy(update=changed)


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (summary(9, 2), "× 1.41, next session 1.24 to 1.60 (9 sessions, 2 CPU models)"),
        (summary(9, 5), "× 1.41, next machine 1.24 to 1.60 (9 sessions, 5 CPU models)"),
        (summary(4, 2), "× 1.41, next session 1.24 to 1.60 (4 sessions, 2 CPU models: no finding)"),
        (summary(9, 1), "× 1.41, next session 1.24 to 1.60 (9 sessions, one CPU model: no finding)"),
        (summary(1, 1, expected=None), "× 1.41 (one session, one CPU model: no finding)"),
        (
            summary(9, 2, control_failed=1),
            "× 1.41, next session 1.24 to 1.60 (9 sessions, 2 CPU models, 1 with a failed control)",
        ),
        (None, "not measured"),
    ],
)
def test_a_figure_says_on_what_it_rests(known: Known | None, told: str) -> None:
    assert known_told(known) == told


def test_where_the_next_one_is_expected() -> None:
    assert expected_range(summary(9, 2)) == "1.24 to 1.60"
    assert expected_range(summary(1, 1, expected=None)) == "–"
    assert metric_told(f"{TOTAL}_at_60") == "total CPU per request at 60 % of the slowest's rate"


def records(*sessions: SessionRecord) -> Records:
    return cast(
        Records,
        SimpleNamespace(sessions=lambda: list(sessions), statements=REAL.statements, catalog=REAL.catalog),
    )


def test_nothing_is_told_of_what_no_session_has() -> None:
    none = records()
    assert statements.known(none, "falcon-async", "falcon-sync", APP) == "not measured"
    assert statements.costs_table(none) == "Not measured: `just session`."
    table = statements.statements_table(none).splitlines()
    assert len(table) == 2 + len(REAL.statements().pairs)
    assert all("not measured" in line for line in table[2:])
    assert statements.picture(none).startswith("<svg")


def test_tables_have_at_most_five_columns_and_every_ratio_its_basis() -> None:
    sessions = REAL.sessions()
    if not sessions:
        pytest.skip("no session is committed")
    for table in (
        statements.statements_table(REAL),
        statements.costs_table(REAL),
        statements.pairs_table(REAL, APP, "recipes", "index"),
    ):
        lines = table.splitlines()
        assert lines[0].count("|") <= 6
        assert all("session" in line for line in lines[2:] if "×" in line)


def test_what_was_spent_is_the_defaults_of_the_present_version() -> None:
    record = next(reversed(REAL.sessions()), None)
    if record is None:
        pytest.skip("no session is committed")
    label, program = next(iter(record.programs.items()))
    defaults = defaults_now(REAL.catalog(), program.implementation, "two-cores")

    def spent(mean: float = 1234.0, **changed: Any) -> SessionRecord:
        where = {"scenario": "recipes", "topology": "full", "placement": "two-cores", "db_rtt_ms": None}
        cost = [Estimate(metric=TOTAL, variant=label, mean=mean, n=6)]
        version = REAL.catalog().implementation(program.implementation).version
        today = {"settings": {}, "version": version, "effective": defaults}
        mine = program.model_copy(update={**today, **changed})
        return record.model_copy(update={**where, "estimates": cost, "programs": {label: mine}})

    def told(*sessions: SessionRecord) -> str:
        return statements._spent(records(*sessions), program.implementation)

    assert (
        told(spent()) == told(spent(1, version=0), spent()) == told(spent(), spent(1, version=0)) == "1,234"
    )
    assert told(spent(1, settings={"THREADS": "4"})) == "–"
    # Of what nobody has measured today the newest work that has a session is told, alone.
    other = {**defaults, "THREADS": "4"}
    assert told(spent(1, version=0), spent(2, effective=other), spent(3, effective=other)) == "2 to 3"


def test_a_single_session_is_told_with_machine_day_commit_and_conditions() -> None:
    told = statements.one_session(REAL, "crossovers/python")
    assert told.startswith(
        "one session, AMD EPYC, 2026-11-23, commit df7fb3b, changed, scenario recipes, full path"
    )
    assert told.endswith("plan crossover")
    table = statements.single_sessions(REAL, "crossovers/python", "questions").splitlines()
    assert len(table) == 4
    assert table[0].count("|") == 6


def test_a_crossover_says_how_far_its_model_was_off() -> None:
    """In cells that were predicted from others; the shortest wait predicts none."""
    told = statements.predicted_cells(REAL, "crossovers/python")
    within, of = map(int, re.findall(r"\d+", told)[:2])
    made = REAL.result("crossovers/python").conclusions.predictions
    assert 0 < within <= of < len(made)
    assert of == sum(not one.calibrated for one in made)


def test_sessions_say_how_often_equal_images_are_told_apart() -> None:
    right, of = map(int, statements.equal_images(REAL).split(" of "))
    assert 0.9 * of < right < of
