import os

import pytest
from pydantic import ValidationError

from shared.config import Settings, evaluate


@pytest.mark.parametrize(
    ("formula", "value"), [("3", 3), ("cpus", 4), ("2*cpus", 8), ("2*cpus+1", 9), ("10*cpus+0", 40)]
)
def test_formulas(monkeypatch: pytest.MonkeyPatch, formula: str, value: int) -> None:
    monkeypatch.setattr(os, "process_cpu_count", lambda: 4)
    assert evaluate(formula) == value


def test_empty_means_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PORT", "WORKERS", "DB_POOL_MAX", "DB_PERSISTENT", "DATABASE_URL"):
        monkeypatch.setenv(name, "")
    settings = Settings()
    assert (settings.port, settings.db_pool_max, settings.db_persistent) == (8080, 20, True)
    assert settings.workers >= 1


@pytest.mark.parametrize(("workers", "processes", "share"), [("1", 1, 20), ("3", 3, 6), ("20", 20, 1), ("40", 20, 1)])
def test_the_pool_is_split_over_workers(
    monkeypatch: pytest.MonkeyPatch, workers: str, processes: int, share: int
) -> None:
    monkeypatch.setenv("WORKERS", workers)
    settings = Settings()
    assert (settings.processes, settings.pool_size) == (processes, share)


@pytest.mark.parametrize(("workers", "persistent", "tells"), [("1", "1", True), ("2", "1", False), ("1", "0", False)])
def test_one_pool_tells(monkeypatch: pytest.MonkeyPatch, workers: str, persistent: str, tells: bool) -> None:
    monkeypatch.setenv("WORKERS", workers)
    monkeypatch.setenv("DB_PERSISTENT", persistent)
    assert Settings().pool_tells is tells


@pytest.mark.parametrize(("name", "value"), [("WORKERS", "many"), ("WORKERS", "0"), ("LOG_LEVEL", "secret")])
def test_a_bad_value_is_refused_and_not_repeated(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError) as refused:
        Settings()
    assert name.lower() in str(refused.value)
    assert "secret" not in str(refused.value)
