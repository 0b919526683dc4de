import os

import psycopg
import pytest
from django.db import connection
from psycopg.pq import Format, PGconn

from recipes.config import Environment, evaluate, load


@pytest.mark.parametrize(
    ("formula", "value"), [("3", 3), ("cpus", 4), ("2*cpus", 8), ("2*cpus+1", 9), ("10*cpus+0", 40)]
)
def test_formulas(monkeypatch: pytest.MonkeyPatch, formula: str, value: int) -> None:
    monkeypatch.setattr(os, "process_cpu_count", lambda: 4)
    assert evaluate(formula) == value


def test_empty_means_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PORT", "WORKERS", "DB_POOL_MAX", "DB_PERSISTENT", "DB_TIME_ZONE", "DATABASE_URL"):
        monkeypatch.setenv(name, "")
    settings = Environment()
    assert settings.port == 8080
    assert settings.workers >= 1
    assert settings.db_persistent
    assert settings.db_time_zone == "connection"
    assert str(settings.database_url) == "postgresql://app:app@pgbouncer:6432/tandem?sslmode=disable"


@pytest.mark.parametrize(("workers", "processes", "share"), [("1", 1, 20), ("3", 3, 6), ("40", 20, 1)])
def test_pool_is_split_over_workers(monkeypatch: pytest.MonkeyPatch, workers: str, processes: int, share: int) -> None:
    monkeypatch.setenv("WORKERS", workers)
    settings = Environment()
    assert (settings.processes, settings.pool_size) == (processes, share)


@pytest.mark.parametrize(("workers", "persistent", "tells"), [("1", "1", True), ("2", "1", False), ("1", "0", False)])
def test_one_pool_tells(monkeypatch: pytest.MonkeyPatch, workers: str, persistent: str, tells: bool) -> None:
    monkeypatch.setenv("WORKERS", workers)
    monkeypatch.setenv("DB_PERSISTENT", persistent)
    assert Environment().pool_tells is tells


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "0"),
        ("WORKERS", "many"),
        ("WORKERS", "0"),
        ("THREADS", "1.5"),
        ("DB_POOL_MAX", "-1"),
        ("DB_PREPARE", "yes"),
        ("DB_TIME_ZONE", "UTC"),
        ("LOG_LEVEL", "loud"),
        ("DATABASE_URL", "mysql://app:secret@db/tandem"),
    ],
)
def test_bad_value_is_one_line_and_exit_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as exit_:
        load()
    assert exit_.value.code == 2
    message = capsys.readouterr().err
    assert message.startswith(f"{name} must be ")
    assert message.count("\n") == 1
    assert "secret" not in message


def test_moments_are_read_in_c() -> None:
    options = connection.get_connection_params()
    unconnected = psycopg.Connection(PGconn.connect_start(b"host=/nowhere"))
    results: Format = options["cursor_factory"](unconnected).format
    loader = options["context"].adapters.get_loader(psycopg.adapters.types["timestamptz"].oid, results)
    assert loader.__module__ == "psycopg_c._psycopg"
