"""tandem.lab.readiness: how long services and applications have, how often they are asked, what is said where they are late."""

import re
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from tandem.errors import TandemError, UsageError
from tandem.lab import readiness
from tandem.lab.laboratory import refuse_lost_placement
from tandem.lab.readiness import SEEDED, SEEDS, NotReadyError, await_health, await_services, limit_s
from tandem.lab.sites import ALONE


class Clock:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.now_s, self.waits = 0.0, 0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        self.waits += 1


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(readiness, "time", found)
    monkeypatch.delenv(readiness.LIMIT, raising=False)
    return found


def waited(monkeypatch: pytest.MonkeyPatch, clock: Clock, answers_s: float, log: str) -> list[str]:
    """The notes while a database starts that answers from this moment on. Raises TandemError where that is too late."""

    def ask(address: str) -> None:
        if clock.now_s < answers_s:
            raise psycopg.OperationalError("connection refused")

    notes: list[str] = []
    monkeypatch.setitem(readiness._ASK, "db", ask)
    stack: Any = SimpleNamespace(
        service=lambda name: SimpleNamespace(address="x"), log=lambda name, lines=25: log, overlay={}
    )
    await_services(stack, ["db", "loadgen"], notes.append)
    return notes


def test_a_database_that_makes_its_data_has_longer(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    [note] = waited(monkeypatch, clock, 300, SEEDS)
    assert note == "  db: still making its data after 60 s; it has 600 s for that"


@pytest.mark.parametrize(
    ("log", "limit", "told"),
    [
        ("", "", "not healthy after 60 s: db. If this machine is slow, TANDEM_START_S=300 before"),
        (f"{SEEDS}\n{SEEDED}", "", "not healthy after 60 s: db. If"),
        (SEEDS, "", "not healthy after 600 s: db, which was still making its data. If"),
        ("", "90", "not healthy after 90 s: db. If this machine is slow, TANDEM_START_S=450 before"),
    ],
)  # fmt: skip
def test_what_never_answers_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, log: str, limit: str, told: str
) -> None:
    monkeypatch.setenv(readiness.LIMIT, limit)
    with pytest.raises(TandemError, match=re.escape(told)):
        waited(monkeypatch, clock, float("inf"), log)
    with pytest.raises(NotReadyError, match=f"not ready after {limit or 60} s: .*TANDEM_START_S"):
        await_health("127.0.0.1:1", lambda: None)


@pytest.mark.parametrize(("answers_s", "least", "most"), [(1, 15, 20), (55, 100, 200)])
def test_it_is_asked_less_often_with_time(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, answers_s: float, least: int, most: int
) -> None:
    """One that is fast is known at once; a slow one is asked each 0.5 s from its tenth second on."""
    assert waited(monkeypatch, clock, answers_s, "") == []
    assert least <= clock.waits <= most


@pytest.mark.parametrize("wrong", ["0", "-1", "a minute", "inf", "nan"])
def test_a_limit_is_a_number_of_seconds(wrong: str) -> None:
    assert [limit_s({readiness.LIMIT: said}) for said in ("1.5", "")] == [1.5, readiness.LIMIT_S]
    with pytest.raises(UsageError, match="TANDEM_START_S must be a number of seconds"):
        limit_s({readiness.LIMIT: wrong})


def test_the_database_and_the_launcher_know_these_names(root: Path) -> None:
    script = (root / "compose/db/start").read_text()
    places = [script.index(text) for text in (f'echo "{SEEDS}"', "initdb", "seed.sql", f'echo "{SEEDED}"')]
    assert places == sorted(places)
    assert f"--env {readiness.LIMIT}" in (root / "harness/run").read_text()


@pytest.mark.parametrize(("cpuset", "placing"), [("1", True), ("1", False), ("", False)])
def test_a_placement_that_the_engine_would_lose_is_refused(cpuset: str, placing: bool) -> None:
    docker = SimpleNamespace(system=SimpleNamespace(info=lambda: SimpleNamespace(cpu_set=placing)))
    variables = {"DATABASE_ADDRESS": "db:5432", "APP_CPUSET": cpuset}
    stack: Any = SimpleNamespace(
        variables=variables, generators=["loadgen"], beside=[], sites=ALONE, at=lambda service: docker
    )
    refused = pytest.raises(TandemError, match="the placement would be lost")
    with refused if cpuset and not placing else nullcontext():
        refuse_lost_placement([stack])
