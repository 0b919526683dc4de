"""Sessions are appended and never replaced; statements keep apart what is not the same."""

import math
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness_places import ROOT
from harness_samples import there
from harness_sessions import CATALOG, MILAN, PLACEMENT, XEON, contrast, program, session
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis.prediction import next_value, next_values, outside_by_chance
from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError, UsageError
from tandem.facts.session import (
    SessionControl,
    SessionMachine,
    SessionProgram,
    SessionRecord,
    append,
    name_of,
    read_sessions,
)
from tandem.facts.statement import (
    FILE,
    Known,
    beside,
    by_model,
    defaults_now,
    draws,
    every_statement,
    kept_apart,
    key_now,
    key_of,
    keys_now,
    known,
    newest,
    of_before,
    read_statements,
)

DEFAULTS = defaults_now(CATALOG, "falcon-sync", PLACEMENT)
OLD_EPYC = SessionMachine(cpu_model="AMD EPYC")
KEY = key_of(session(), contrast())


def programs(name: str = "falcon-sync", **changed: Any) -> dict[str, SessionProgram]:
    """The programs of a session, one of them changed."""
    return {**session().programs, name: program(name, **changed)}


def together(made: Sequence[SessionRecord]) -> Known:
    """What these sessions say of the one statement."""
    return there(known(draws(made, KEY)))


# ---- on disk ----


def test_a_session_is_never_replaced(tmp_path: Path) -> None:
    file = append(session(), tmp_path)
    assert read_sessions(tmp_path) == ([session()], [])
    before = file.read_bytes()
    with pytest.raises(TandemError, match="never replaced"):
        append(session(ratio=9.9), tmp_path)
    assert file.read_bytes() == before


@pytest.mark.parametrize(("length", "told"), [(200, "cannot be read"), (None, "its id is")])
def test_a_damaged_file_and_a_copy_are_named_and_the_rest_is_used(
    tmp_path: Path, length: int | None, told: str
) -> None:
    file = append(session(0), tmp_path)
    append(session(1), tmp_path)
    file.with_name("20200101T000000Z-copied.json").write_text(file.read_text()[:length])
    found, [damaged] = read_sessions(tmp_path)
    assert [record.id for record in found] == [session(0).id, session(1).id]
    assert re.search(f"20200101T000000Z-copied.json: .*{told}", damaged)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"programs": {}}, "is none of its programs"),
        ({"contrasts": [contrast().model_copy(update={"ratio": 0.0})]}, "0.0 is no ratio"),
        ({"contrasts": [contrast().model_copy(update={"ratio": -1.4})]}, "-1.4 is no ratio"),
        ({"started_at": datetime(2026, 11, 26, 12)}, "started_at: .*timezone"),
    ],
)
def test_a_file_with_which_nothing_can_be_computed_is_damaged(
    tmp_path: Path, changed: dict[str, Any], told: str
) -> None:
    append(session(0), tmp_path)
    append(session(1, **changed), tmp_path)
    found, [damaged] = read_sessions(tmp_path)
    assert [record.id for record in found] == [session(0).id]
    assert re.search(told, damaged)


COMMITTED, DAMAGED = read_sessions(ROOT / "results")


def test_committed_sessions_can_be_read_and_say_nothing_twice() -> None:
    """Also not the other way round: it would be two draws of one statement."""
    assert (bool(COMMITTED), DAMAGED) == (True, [])
    for record in COMMITTED:
        assert record.id == name_of(record.started_at, record.machine)
        keys = [key_of(record, one) for one in record.contrasts]
        assert len({min(key, key.turned) for key in keys}) == len(keys), record.id


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("app_cpu_us_per_request", ["1.322", "1.465", "1.460", "1.332", "1.416", "1.450"]),
        ("goodput_rps", ["1.085", "1.061", "1.047", "1.108", "1.032", "1.046"]),
    ],
)
def test_history_has_what_was_once_published(metric: str, expected: list[str]) -> None:
    """The figures of one pair that were published one after another, each from its own session."""
    told = ["20261123T002024", "20261125T102920", "20261125T123933", "20261125T221751"]
    told += ["20261126T013241", "20261126T054251"]
    found = {
        record.id.partition("Z")[0]: one
        for record in COMMITTED
        for one in record.contrasts
        if (one.metric, one.of, one.to) == (metric, "falcon-async", "falcon-sync")
        and record.scenario == "recipes"
    }
    assert [f"{found[start].ratio:.3f}" for start in told] == expected
    assert all(bool(found[start].not_ranked) is (metric == "goodput_rps") for start in told)


# ---- machines ----


def test_other_caches_make_another_machine_and_an_update_does_not() -> None:
    small, large = (MILAN.model_copy(update={"caches_bytes": {"l3": size}}) for size in (16 << 20, 256 << 20))
    assert small.identity != large.identity
    assert small.model != large.model
    assert len(set(by_model([small, large]))) == 2
    newer = MILAN.model_copy(update={"kernel": "7.0", "engine": "28", "microcode": "0x2"})
    assert newer.identity == MILAN.identity


def test_an_old_record_adds_no_cpu_model() -> None:
    assert len(set(by_model([MILAN, OLD_EPYC, XEON]))) == 2
    other = MILAN.model_copy(update={"cpu_model_number": "17"})
    assert len(set(by_model([MILAN, other, OLD_EPYC]))) == 3  # it may be of either
    assert by_model([OLD_EPYC, OLD_EPYC]) == ["AMD EPYC", "AMD EPYC"]


# ---- what is one statement ----


@pytest.mark.parametrize(
    "changed",
    [
        {"scenario_version": 2},
        {"scenario": "index"},
        {"topology": "direct"},
        {"placement": "four-cores"},
        {"db_rtt_ms": 5},
        {"arrivals": "Poisson arrivals"},
        {"services": "forky"},
        {"programs": programs("falcon-async", version=99)},
        {"programs": programs(effective={**DEFAULTS, "THREADS": "4"})},
        {"programs": programs(effective=None)},
    ],
)
def test_another_version_or_condition_is_kept_apart(changed: dict[str, Any]) -> None:
    other = session(1, **changed)
    assert [draw.session.id for draw in draws([session(), other], KEY)] == [session().id]
    assert len(every_statement([session(), other])) == 2


@pytest.mark.parametrize("same", [{"settings": {"THREADS": "20"}}, {"image": "sha256:1"}])
def test_a_setting_chosen_as_its_default_and_another_image_are_the_same_program(same: dict[str, Any]) -> None:
    """The control of those above: what ran is compared, not who chose it."""
    assert len(draws([session(), session(1, programs=programs(**same))], KEY)) == 2


def test_a_default_that_changes_without_a_raised_version_is_kept_apart_and_named() -> None:
    statements, metric = read_statements(ROOT), contrast().metric
    key = key_now(statements, CATALOG, metric, "falcon-async", "falcon-sync")
    made = [session(), session(1, programs=programs(effective={**DEFAULTS, "THREADS": "4"}))]
    made.append(session(2, programs=programs(effective=None)))
    assert [draw.session for draw in draws(made, key)] == [session()]
    assert kept_apart(made, key) == {
        "falcon-sync with THREADS=4": 1,
        "falcon-sync with other settings unknown": 1,
    }


def test_what_is_kept_apart_for_its_version_is_named() -> None:
    older = programs("falcon-async", version=0)
    back = contrast(0.5, of="falcon-sync", to="falcon-async")
    made = [
        session(0),
        session(1, programs=older),
        session(2, programs=older, contrasts=[back]),
        session(3, scenario_version=2, programs=older),
        session(4, scenario="index"),
    ]
    told = {"falcon-async version 0": 2, "recipes version 2, falcon-async version 0": 1}
    assert kept_apart(made, KEY) == told


def test_what_nobody_measured_in_its_present_version_is_told_of_the_newest_earlier_one() -> None:
    def earlier(number: int, version: int, ratio: float, **changed: Any) -> SessionRecord:
        own = programs("falcon-async", version=version, **changed)
        back = contrast(1 / ratio, of="falcon-sync", to="falcon-async")
        return session(number, programs=own, contrasts=[back])

    made = [
        earlier(0, 0, 1.1),
        earlier(1, -1, 1.2),
        earlier(2, -1, 1.2),
        earlier(3, -2, 1.3, settings={"THREADS": "4"}),
    ]
    told = there(known(newest(made, KEY), KEY))
    assert told.ratio == pytest.approx(1.2)
    assert (told.sessions, told.earlier) == (2, True)
    assert told.basis == "2 sessions, one CPU model, of earlier versions"
    now = there(known(newest([*made, session(4)], KEY), KEY))
    assert (now.sessions, now.basis) == (1, "one session, one CPU model")
    assert newest([session(0, scenario="index")], KEY) == []
    assert of_before([session(4)], KEY) == []
    assert len(of_before([*made, session(4)], KEY)) == 2


def test_memory_of_two_versions_of_control_groups_is_never_one_statement() -> None:
    old, new = (MILAN.model_copy(update={"cgroup_version": version}) for version in (1, 2))
    for metric, statements in (("memory_peak_bytes", 2), ("app_cpu_us_per_request", 1)):
        made = [session(n, own, contrasts=[contrast(metric=metric)]) for n, own in enumerate((old, new))]
        assert len(every_statement(made)) == statements


def test_a_contrast_the_other_way_round_is_turned() -> None:
    back = session(1, contrasts=[contrast(0.5, of="falcon-sync", to="falcon-async", interval=(0.4, 0.6))])
    found = draws([session(), back], KEY)
    assert found[1].contrast.ratio == pytest.approx(2.0)
    assert found[1].contrast.interval == pytest.approx((1 / 0.6, 2.5))
    assert len(every_statement([session(), back])) == 1


# ---- what they say together ----


@given(st.lists(st.floats(0.2, 5.0), min_size=2, max_size=8), st.floats(0.1, 10.0))
def test_a_factor_on_all_sessions_is_a_factor_on_all_figures(ratios: list[float], factor: float) -> None:
    plain, scaled = (
        together([session(n, XEON if n % 2 else MILAN, ratio * times) for n, ratio in enumerate(ratios)])
        for times in (1.0, factor)
    )
    assert scaled.ratio == pytest.approx(plain.ratio * factor, rel=1e-6)
    low, high = there(plain.expected)
    assert low <= high
    assert scaled.expected == pytest.approx((low * factor, high * factor), rel=1e-6)


def test_models_weigh_alike_however_many_sessions_each_has() -> None:
    found = together([session(n, MILAN, 2.0) for n in range(4)] + [session(4, XEON, 1.0)])
    assert found.ratio == pytest.approx(math.sqrt(2))
    assert [one.sessions for one in found.models] == [4, 1]
    assert [one.ratio for one in found.models] == pytest.approx([2, 1])
    assert found.basis == "5 sessions, 2 CPU models"
    assert found.finding
    assert found.next_one == "the next session on such a machine"


def test_few_sessions_or_one_model_are_no_finding() -> None:
    four = [session(n, (MILAN, XEON)[n % 2], 1.4 + n / 100) for n in range(4)]
    alike = [session(n, MILAN, 1.4 + n / 100) for n in range(9)]
    assert not any(together(made).finding for made in (four, alike))
    assert together(four[:1]).expected is None
    assert known([]) is None


def test_a_failed_control_is_counted() -> None:
    metrics = ("app_cpu_us_per_request", "goodput_rps")
    own, another = (SessionControl(contrasts=[], failed=[metric]) for metric in metrics)
    assert together([session(0), session(1, control=own), session(2, control=another)]).control_failed == 1


# ---- a new one beside them ----


def test_a_new_session_is_told_whether_it_is_as_expected() -> None:
    others = [session(n, MILAN, 1.4 + n / 50) for n in range(5)]
    for ratio, told in ((1.45, ("as expected", False)), (2.8, ("outside", True))):
        [found] = beside(session(9, XEON, ratio), others)
        assert (found.outcome, found.outside_alone) == told


def test_many_contrasts_share_one_limit() -> None:
    metrics = [f"m{number}_us" for number in range(40)]
    others = [
        session(n, contrasts=[contrast(1.4 + n / 50, metric=metric) for metric in metrics]) for n in range(5)
    ]
    alone = beside(session(9, ratio=1.55), [session(n, MILAN, 1.4 + n / 50) for n in range(5)])
    together = beside(session(9, contrasts=[contrast(1.55, metric=metric) for metric in metrics]), others)
    assert together[0].limits[1] > alone[0].limits[1]
    assert len(together) == 40


def test_what_nobody_else_measured_is_left_out() -> None:
    assert beside(session(9), []) == []
    assert beside(session(9), [session(1)]) == []  # one session expects nothing
    assert beside(session(9), [session(9), session(1)]) == []  # nor does a session stand beside itself


# ---- the file of the main statements ----


@pytest.mark.parametrize("file", [None, *(ROOT / "loadgen").glob("statements-*.toml")])
def test_statements_name_what_there_is(file: Path | None) -> None:
    statements, catalog = read_statements(ROOT, file), Catalog(ROOT)
    assert statements.scenario in catalog.scenarios
    assert statements.placement in catalog.placements
    assert statements.topology in catalog.topologies
    assert set(statements.implementations) <= set(catalog.implementations)
    names = [one.name for one in statements.statement]
    assert len(names) == len(set(names))
    assert len(keys_now(statements, catalog, {one.metric for one in statements.statement})) == len(names)


@pytest.mark.parametrize("text", ["nonsense", "plan = 'session'\n", "plan = 1\nthirteen = 2\n"])
def test_a_file_that_is_not_as_it_must_be_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).parent.mkdir(parents=True)
    (tmp_path / FILE).write_text(text)
    with pytest.raises(UsageError, match=r"statements\.toml"):
        read_statements(tmp_path)


# ---- The prediction interval covers the next session, and calls a shifted one outside ----


SIMULATED = 20_000
WITHIN = 0.01
"""Error of the logarithm within a session."""


def sessions(n: int, between: float, seed: int) -> np.ndarray:
    """Shape (SIMULATED, n + 1): the logarithms of n sessions and of the next one."""
    chance = np.random.default_rng(seed)
    shape = (SIMULATED, n + 1)
    return chance.normal(0, between, shape) + chance.normal(0, WITHIN, shape)


def outside(values: np.ndarray, shift: float = 0.0) -> float:
    """The share of simulations whose last value, shifted, lies outside the interval of those before it."""
    low, high = next_values(values[:, :-1])
    new = values[:, -1] + shift
    return float(((new < low) | (new > high)).mean())


@pytest.mark.parametrize("n", [5, 8, 12])
def test_covers_the_next_session_and_a_shifted_one_is_outside_where_the_scatter_is_small(n: int) -> None:
    for between in (0.0, 0.02, 0.05, 0.10):
        assert 0.93 <= 1 - outside(sessions(n, between, seed=n)) <= 0.97, between
    assert outside(sessions(n, 0.03, seed=n), shift=math.log(1.2)) >= 0.90


def test_the_error_within_a_session_alone_would_not_cover() -> None:
    """Control: what was printed before there were sessions."""
    values = sessions(6, 0.05, seed=1)
    half = 1.96 * WITHIN
    assert (np.abs(values[:, -1] - values[:, 0]) <= half).mean() < 0.5


def test_the_interval_is_the_textbooks() -> None:
    """Hahn and Meeker, section 4.8: mean +- t(n - 1) s sqrt(1 + 1 / n), with t(4) of 95 % = 2.776 from a table."""
    values = [51.4, 49.5, 48.7, 49.3, 51.6]
    half = 2.776 * math.sqrt(sum((one - 50.1) ** 2 for one in values) / 4) * math.sqrt(1 + 1 / 5)
    assert next_value(values) == pytest.approx((50.1 - half, 50.1 + half), abs=0.002)
    assert next_value([0.3, 0.3]) == pytest.approx((0.3, 0.3))
    assert next_value([]) is next_value([0.3]) is None, "one value predicts nothing"


def test_some_of_many_are_outside_by_chance() -> None:
    assert outside_by_chance(0, 60) == pytest.approx(1.0)
    assert outside_by_chance(3, 60) > 0.5
    assert outside_by_chance(10, 60) < 0.01
