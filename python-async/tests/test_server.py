"""What gunicorn makes of its configuration."""

import pytest
from gunicorn.app.wsgiapp import WSGIApplication
from pydantic import ValidationError

from recipes.server import Own, Worker


def test_gunicorn_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["gunicorn", "--config", "python:recipes.server"])
    config = WSGIApplication().cfg
    assert (config.worker_class_str, config.timeout, config.graceful_timeout) == ("Worker", 30, 11)


def test_the_loop_is_the_one_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Worker.CONFIG_KWARGS["loop"] == "uvloop"
    for told, loop in (("asyncio", "asyncio"), ("", "uvloop")):
        monkeypatch.setenv("LOOP", told)
        assert Own().loop == loop
    monkeypatch.setenv("LOOP", "trio")
    with pytest.raises(ValidationError, match="loop"):
        Own()
