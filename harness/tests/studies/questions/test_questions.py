"""tandem.studies.questions: the conditions, and what their windows say of the three questions."""

from pathlib import Path
from typing import Any

import pytest
from harness_engine import FakeLab, Quiet, play, request, result_of, session, text
from harness_samples import good_window, quiet_roles, role

from tandem.catalog.catalog import Catalog
from tandem.engine.run import run
from tandem.lab.prepare import check
from tandem.record import store
from tandem.record.request import Variant
from tandem.record.result import Baselines
from tandem.record.trial import TrialSpec, WindowSpec
from tandem.record.window import Resource, Verdict, Window
from tandem.report.markdown import of_result
from tandem.studies.questions.conclusions import Answered
from tandem.studies.questions.conditions import APP_BOUND, CONDITIONS, CONNECTIONS
from tandem.studies.questions.study import Questions

ASKED = request("rust-async", "python-sync", study="questions", plan="smoke")


def variant(study: Questions, label: str) -> Variant:
    return next(one for one in study.variants if one.label == label)


def test_each_implementation_under_each_condition(real: Catalog) -> None:
    study = Questions(real, ASKED)
    assert len(study.variants) == 2 * len(CONDITIONS) == 12
    plain = variant(study, "rust-async @ as asked")
    assert plain == Variant(
        label="rust-async @ as asked",
        base="rust-async",
        coordinates={"question": "cost"},
        implementation="rust-async",
    )
    bound = variant(study, "rust-async @ direct, pool 4")
    assert (bound.topology, bound.settings, bound.db_rtt_ms) == ("direct", {"DB_POOL_MAX": "4"}, None)
    far = variant(study, "rust-async @ 15 ms, pool 80")
    assert (far.db_rtt_ms, far.settings) == (15, {"DB_POOL_MAX": "80"})
    assert far.scenario_changes == {"connections": CONNECTIONS}
    check(real, ASKED, study.variants)


def test_what_is_compared_stands_side_by_side(real: Catalog) -> None:
    """A block is one condition with every implementation: the host has half a minute to drift, not minutes."""
    blocks = Questions(real, ASKED).outline()
    assert len(blocks) == 3 * len(CONDITIONS)
    told = [{spec.variants[0].partition(" @ ")[2] for spec in block} for block in blocks]
    assert all(len(conditions) == 1 for conditions in told)
    for n in range(0, len(told), len(CONDITIONS)):
        assert set.union(*told[n : n + len(CONDITIONS)]) == {one.name for one in CONDITIONS}, (
            "each once in a round"
        )
    assert all(len({spec.variants[0] for spec in block}) == len(block) == 2 for block in blocks)
    orders = {tuple(spec.variants[0].partition(" @ ")[0] for spec in block) for block in blocks}
    assert len(orders) == 2, "in either order"


def test_handler_threads_are_enough_for_the_pool(real: Catalog) -> None:
    """Two workers of ten threads hold twenty connections; for eighty there have to be more."""
    study = Questions(real, ASKED)
    assert "THREADS" not in variant(study, "python-sync @ 5 ms, pool 20").settings
    assert variant(study, "python-sync @ 5 ms, pool 80").settings["THREADS"] == "80"
    chosen = Variant(label="x", implementation="python-sync", settings={"THREADS": "3"})
    assert CONDITIONS[-1].of(chosen, real).settings["THREADS"] == "3", "what was chosen stays"


def answer(spec: TrialSpec, asked: WindowSpec) -> Window:
    """rust-async is limited by core 0 even directly, python-sync by itself; far away both reach nine tenths."""
    label = spec.variants[0]
    changes: dict[str, Any] = {"app_cpu_us_per_request": 300.0, "bottleneck": "database"}
    changes["roles"] = quiet_roles(db=role(0.95, "2"))
    if label.startswith("python"):
        changes |= {"app_cpu_us_per_request": 900.0, "bottleneck": "app-cpu"}
        changes["roles"] = quiet_roles(app=role(0.97, "4", busiest_thread_cores=0.97))
    found = good_window(**changes)
    if " ms" in label:
        found.resources = [Resource(name="d", tag="distance", utilisation=0.9, limit=0.8)]
    return found


def answered(real: Catalog) -> Answered:
    study = Questions(real, ASKED)
    found = study.conclude(play(study, answer), Baselines())
    assert found.verdict is Verdict.OK
    return found.conclusions


def test_what_the_windows_say(real: Catalog) -> None:
    found = answered(real)
    assert found.application_bound == {
        f"rust-async @ {APP_BOUND.name}": False,
        f"python-sync @ {APP_BOUND.name}": True,
    }
    assert len(found.waited) == 8
    one = found.waited["python-sync @ 15 ms, pool 80"]
    assert one.share == pytest.approx(0.9)
    assert one.ceiling_rps == pytest.approx(400 / 0.9)
    cost = found.conditions["as asked"].rows[1].against_first["app_cpu_us_per_request"]
    assert cost.ratio.ratio == pytest.approx(3.0)
    assert found.conditions["as asked"].rows[0].against_first == {}
    assert Questions.headline(found.model_dump(mode="json")) == (
        "rust-async 3,333 per core-s, python-sync 1,111 per core-s"
    )


def test_one_table_answers_the_three(real: Catalog) -> None:
    study = Questions(real, ASKED)
    result = result_of(ASKED, study.conclude(play(study, answer), Baselines()), environments={})
    rows = [
        line
        for line in of_result(study.report(result), result).splitlines()
        if line.startswith(("| rust", "| python"))
    ]
    assert len(rows) == 2
    assert rows[0].startswith("| rust-async | 1,230 ± 0 | 1 | 300 ± 0 | 1 |")
    assert "| 900 ± 0 | 3.000 (3.000–3.000) |" in rows[1]
    assert [row.split(" | ")[8] for row in rows] == ["core 2: database 95 %", "core 4: application 97 %"]
    assert rows[0].count("90 ± 0 %") == 4
    told = " ".join(text(study.report(result)).split())
    assert "rust-async @ direct, pool 4: the application was not the limit (core 2: database 95 %)" in told
    assert "python-sync @ direct, pool 4: the application was not" not in told


def test_a_session_to_its_end(real: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "NEEDED_BYTES", 1)
    view = Quiet()
    result, _ = run(Questions, ASKED, session(real, tmp_path, FakeLab(answer=answer), view))
    assert (result.verdict, result.trials) == (Verdict.OK, {Verdict.OK: 36})
    assert any("3 blocks cannot show that two variants differ" in line for line in view.said)
