"""A self-test that was interrupted goes on after the groups that it has done."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
from harness_engine import Quiet

from tandem.errors import UsageError
from tandem.record.selftest import Outcome, Selftest
from tandem.selftest import registry, session


class FakeStage:
    def __init__(self, *_: object) -> None: ...

    def up(self) -> AbstractContextManager["FakeStage"]:
        return nullcontext(self)


def outcome(name: str) -> Outcome:
    return Outcome(
        name=name, group=name, expected="1", measured="1", tolerance="none", passed=True,
        negative_control="2", negative_control_failed=True,
    )  # fmt: skip


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The groups in the order in which they were made; the one named `ctrl-c` is interrupted the first time."""
    order: list[str] = []

    def check(name: str) -> Callable[[object], list[Outcome]]:
        def run(_: object) -> list[Outcome]:
            order.append(name)
            if name == "ctrl-c" and order.count(name) == 1:
                raise KeyboardInterrupt
            return [outcome(name)]

        return run

    def unit() -> Outcome:
        order.append("unit")
        return outcome("unit")

    monkeypatch.setattr(registry, "units", lambda: [unit])
    monkeypatch.setattr(registry, "END_TO_END", {name: check(name) for name in ("first", "ctrl-c", "last")})
    monkeypatch.setattr(session, "Stage", FakeStage)
    monkeypatch.setattr(session, "oha_version", lambda _: "1.2.3")
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
    again = run(root, tmp_path, resume=True)
    assert made[5:] == []
    assert again.outcomes == found.outcomes
    session.forget(tmp_path)
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
