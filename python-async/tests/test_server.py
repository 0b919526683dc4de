"""What gunicorn makes of its configuration."""

import sys
from time import monotonic
from unittest.mock import MagicMock

import pytest
from gunicorn.app.wsgiapp import WSGIApplication
from gunicorn.arbiter import Arbiter


@pytest.fixture
def arbiter(monkeypatch: pytest.MonkeyPatch) -> Arbiter:
    monkeypatch.setattr(sys, "argv", ["gunicorn", "--config", "python:recipes.server"])
    return Arbiter(WSGIApplication())


@pytest.mark.parametrize(("silent_s", "kills"), [(20 * 60, 0), (2 * 60 * 60, 1)])
def test_a_worker_that_was_frozen_is_not_killed(
    arbiter: Arbiter, monkeypatch: pytest.MonkeyPatch, silent_s: float, kills: int
) -> None:
    worker = MagicMock(aborted=False)
    worker.tmp.last_update.return_value = monotonic() - silent_s
    kill = MagicMock()
    monkeypatch.setattr(arbiter, "WORKERS", {1: worker})
    monkeypatch.setattr(arbiter, "kill_worker", kill)
    arbiter.murder_workers()
    assert kill.call_count == kills
