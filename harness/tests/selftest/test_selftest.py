"""tandem.selftest: the models against hand-made figures, and every check of the unit class."""

import subprocess
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from harness_engine import Quiet
from harness_samples import NOW

from tandem.cli import measure
from tandem.errors import TandemError, UsageError
from tandem.hosts.host import HostCpu
from tandem.record import selftest as result
from tandem.record.selftest import Outcome, Selftest
from tandem.selftest import registry, session
from tandem.selftest.units import Pause, lindley, mean_error, paced


def test_a_stall_depends_on_the_duration_and_takes_longer_on_few_connections() -> None:
    """What waits behind the stall is sent over ten connections at 5 ms each: 2,000 a second."""
    many, few = (paced(30, number, server=Pause(10, 2)) for number in (10_000, 10))
    assert many.response_s.mean() == pytest.approx(0.005 + 2 * 2 / 2 / 30, rel=0.01)
    assert np.quantile(many.response_s, 0.99) == pytest.approx(2 - 0.01 * 30, rel=0.01)
    assert few.response_s.mean() > 1.2 * many.response_s.mean()
    assert few.response_s.max() == pytest.approx(2.005, abs=0.01)
    assert np.quantile(few.service_s, 0.99) == pytest.approx(0.005)


def test_lindley_by_hand() -> None:
    arrival, service = np.array([0.0, 1.0, 2.0, 10.0]), np.array([3.0, 1.0, 1.0, 2.0])
    assert lindley(arrival, service).tolist() == [3.0, 3.0, 3.0, 2.0]


def test_more_requests_make_the_mean_more_certain() -> None:
    assert mean_error(0.7, 8000, runs=100) < 0.5 * mean_error(0.7, 500, runs=100)


# ---- what a kept self-test is worth ----

CAUGHT = {"negative_control": "broken", "negative_control_failed": True}


def outcome(**changes: Any) -> Outcome:
    fields = {"name": "a check", "expected": "1", "measured": "1", "passed": True}
    return Outcome.model_validate({**fields, **CAUGHT, **changes})


def kept(**changes: Any) -> Selftest:
    where = {"git_commit": "abc", "source": "s1", "oha_version": "1.16.0", "cpus": 2}
    when = {"started_at": NOW - timedelta(minutes=5), "finished_at": NOW}
    return Selftest.model_validate(
        {"kind": "end to end", "outcomes": [outcome()], **where, **when, **changes}
    )


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (None, "missing"),
        (kept(), "passed"),
        (kept(kind="weekly"), "passed"),
        (kept(outcomes=[outcome(negative_control=None, negative_control_failed=None)]), "passed"),
        (kept(kind="unit"), "missing"),
        (kept(outcomes=[outcome(), outcome(passed=False)]), "failing"),
        (kept(outcomes=[outcome(negative_control_failed=False)]), "failing"),
        (kept(outcomes=[]), "failing"),
        (kept(source="s2"), "stale"),
        (kept(finished_at=NOW - timedelta(days=15)), "stale"),
        (kept(finished_at=NOW - timedelta(days=13)), "passed"),
        (kept(source="s2", outcomes=[outcome(passed=False)]), "failing"),
    ],
)
def test_the_status(found: Selftest | None, wanted: str) -> None:
    state = result.status(found, "s1", NOW)
    assert state == wanted
    said = result.sentence(state, found)
    assert wanted in said
    assert ("run just selftest" in said) == (wanted != "passed")


def test_it_is_kept_and_read_again(tmp_path: Path) -> None:
    assert result.load(tmp_path) is None
    result.save(kept(), tmp_path)
    assert result.load(tmp_path) == kept()
    (tmp_path / result.FILE).write_text('{"kind": "weekly"')
    assert result.load(tmp_path) is None


def test_the_hash_changes_with_names_and_contents(tmp_path: Path) -> None:
    def hashed(**files: str) -> str:
        root = tmp_path / str(len(list(tmp_path.iterdir())))
        (root / "harness/tandem").mkdir(parents=True)
        for name, content in files.items():
            (root / f"harness/tandem/{name}.py").write_text(content)
        return result.harness_source(root)

    differing = [{"a": "1", "b": "2"}, {"a": "2", "b": "1"}, {"a": "12"}, {"a": "1"}, {"b": "1"}]
    assert len({hashed(**files) for files in [*differing, *differing]}) == 5


def test_what_stands_at_the_top_of_a_report(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "RESULTS", tmp_path)
    monkeypatch.setattr(measure, "ROOT", root)
    missing = measure.proof()
    assert (missing.plain, missing.style) == ("self-test: missing, run just selftest", "bold yellow")
    result.save(kept(source=result.harness_source(root)), tmp_path)
    assert result.line(tmp_path, root, NOW) == (
        "passed",
        "self-test: passed, 1 checks on 2026-11-21 (end to end)",
    )


def broken() -> Outcome:
    raise TandemError("no clock")


def test_only_a_host_that_disturbs_excuses() -> None:
    """What does not hold while the hypervisor takes more than a window may have unwarned; a quiet host excuses nothing."""
    during, bad = HostCpu(1, 0, steal_s=0.5, total_s=10), [outcome(), outcome(passed=False)]
    noisy, quiet = session.with_steal(bad, during), session.with_steal(bad, replace(during, steal_s=0.1))
    assert result.excuse(noisy) == "the hypervisor took 5.0% of the CPUs"
    assert noisy[0] == bad[0]
    assert (quiet, result.excuse(quiet)) == (bad, None)
    assert result.excuse([*noisy, bad[1]]) is None, "one without an excuse is enough"
    assert result.excuse([bad[0]]) is None
    blind = [outcome(passed=False, negative_control_failed=False), *session.made("a", broken)]
    assert session.with_steal(blind, during) == blind, "nor where the check sees nothing"
    assert "took 5.0% of the CPUs" in result.sentence(result.Status.FAILING, kept(outcomes=noisy))
    assert "make it again" in session.sentence(kept(outcomes=noisy))


# ---- the session ----


def test_the_unit_class_alone_needs_no_engine(root: Path, tmp_path: Path) -> None:
    found = session.run(root, tmp_path, Quiet(), ["unit"], False)
    assert [one for one in found.outcomes if not (one.passed and one.negative_control_failed)] == []
    assert found.passed
    assert found.kind == "unit"
    names = {(outcome.group, outcome.name) for outcome in found.outcomes}
    assert len(names) == len(found.outcomes) == len(registry.UNIT), "each has a name of its own"
    assert {group for group, _ in names} == {"unit"}
    assert f"{len(found.outcomes)} of {len(found.outcomes)} checks hold" in session.sentence(found)


def test_a_check_that_raises_has_not_passed(
    monkeypatch: pytest.MonkeyPatch, root: Path, tmp_path: Path
) -> None:
    monkeypatch.setattr(registry, "UNIT", [broken])
    found = session.run(root, tmp_path, Quiet(), ["unit"], False)
    assert not found.passed
    assert "no clock" in found.outcomes[0].measured


def test_an_unknown_group_is_refused() -> None:
    with pytest.raises(UsageError, match="Did you mean 'timing'"):
        session.chosen(["timings"], False)
    assert session.chosen([], False) == ["unit", *registry.END_TO_END]
    assert session.chosen([], True) == registry.names()


# ---- end to end ----


def selftest(*groups: str) -> tuple[list[Outcome], str]:
    """What came of these groups on containers, and what was told meanwhile."""
    only = [argument for group in groups for argument in ("--only", group)]
    command = ["python3", "-m", "tandem", "selftest", *only, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.stdout, done.stderr
    return Selftest.model_validate_json(done.stdout).outcomes, done.stderr


@pytest.fixture(scope="module")
def end_to_end(request: pytest.FixtureRequest) -> tuple[list[Outcome], str]:
    """All groups on one stack; of groups that are run once more, those alone."""
    items = [item.nodeid for item in request.session.items]
    return selftest(
        *(g for g in registry.END_TO_END if any(f"test_end_to_end[{g}]" in item for item in items))
    )


@pytest.mark.docker
@pytest.mark.parametrize("group", list(registry.END_TO_END))
def test_end_to_end(
    group: str, end_to_end: tuple[list[Outcome], str], request: pytest.FixtureRequest
) -> None:
    """On a host that disturbs it, a group is made once more, when nothing else runs; then it is skipped, and says why."""
    outcomes, said = end_to_end
    own = [one for one in outcomes if one.group == group]
    assert own
    if request.config.getoption("lf", False) and (why := result.excuse(own)):
        pytest.skip(f"cannot be judged here: {why}")
    assert [one.name for one in own if not result.good(one)] == [], said


@pytest.mark.docker
@pytest.mark.weekly
@pytest.mark.timeout(6 * 3600)
@pytest.mark.parametrize("group", list(registry.WEEKLY))
def test_weekly(group: str) -> None:
    outcomes, said = selftest(group)
    assert outcomes
    assert [one.name for one in outcomes if not result.good(one)] == [], said


# ---- A self-test that was interrupted goes on after the groups that it has done ----


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The groups in the order in which they were made; the one named `ctrl-c` is interrupted the first time."""
    order: list[str] = []

    def make(name: str, *_: object) -> list[Outcome]:
        order.append(name)
        if name == "ctrl-c" and order.count(name) == 1:
            raise KeyboardInterrupt
        return [outcome(name=name)]

    staged = {name: partial(make, name) for name in ("first", "ctrl-c", "last")}
    environment = SimpleNamespace(versions={"oha": "1.2.3"})
    stage = SimpleNamespace(laboratory=SimpleNamespace(environments={"a": environment}))
    monkeypatch.setattr(registry, "UNIT", [partial(make, "unit")])
    monkeypatch.setattr(registry, "END_TO_END", staged)
    monkeypatch.setattr(session, "Stage", lambda *_: SimpleNamespace(up=lambda: nullcontext(stage)))
    return order


def run(root: Path, results: Path, *only: str, full: bool = False, resume: bool = False) -> Selftest:
    return session.run(root, results, Quiet(), list(only), full, resume)


def test_what_is_done_is_not_made_again(root: Path, tmp_path: Path, made: list[str]) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(root, tmp_path)
    assert made == ["unit", "first", "ctrl-c"]
    found = run(root, tmp_path, resume=True)
    assert made == ["unit", "first", "ctrl-c", "ctrl-c", "last"]
    assert [one.name for one in found.outcomes] == ["unit", "first", "ctrl-c", "last"]
    assert (found.kind, found.oha_version) == ("end to end", "1.2.3")
    assert found.duration_s is not None
    assert [one.group for one in found.outcomes] == ["unit", "first", "ctrl-c", "last"]
    again = run(root, tmp_path, resume=True)
    assert made[5:] == []
    assert again.outcomes == found.outcomes
    (tmp_path / session.FILE).unlink()
    with pytest.raises(UsageError, match="no unfinished self-test"):
        run(root, tmp_path, resume=True)


def test_without_resume_everything_is_made_anew(root: Path, tmp_path: Path, made: list[str]) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(root, tmp_path)
    run(root, tmp_path)
    assert made == ["unit", "first", "ctrl-c", "unit", "first", "ctrl-c", "last"]


def test_a_part_leaves_no_progress(root: Path, tmp_path: Path, made: list[str]) -> None:
    run(root, tmp_path, "unit", "first")
    assert made == ["unit", "first"]
    assert not (tmp_path / session.FILE).exists()


def test_another_harness_or_class_cannot_go_on(
    root: Path, tmp_path: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(root, tmp_path)
    with pytest.raises(UsageError, match="started without --full"):
        run(root, tmp_path, full=True, resume=True)
    monkeypatch.setattr(session, "harness_source", lambda _: "another")
    with pytest.raises(UsageError, match="harness has changed"):
        run(root, tmp_path, resume=True)
    (tmp_path / session.FILE).write_text("{")
    with pytest.raises(UsageError, match="cannot be read"):
        run(root, tmp_path, resume=True)
    assert made == ["unit", "first", "ctrl-c"]
