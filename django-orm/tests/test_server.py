"""What gunicorn makes of its configuration."""

import pytest
from gunicorn.app.wsgiapp import WSGIApplication


def test_gunicorn_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["gunicorn", "--config", "python:recipes.server"])
    config = WSGIApplication().cfg
    assert (config.worker_class_str, config.timeout, config.graceful_timeout) == ("gthread", 30, 11)
