"""HAProxy's `maxconn`, counted inside the application: servers made by `server-template` must not exceed it in a burst."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness_places import ROOT
from rich.console import Console

from tandem.errors import TandemError
from tandem.lab.live import View
from tandem.probes.haproxy import admit
from tandem.record.trial import WindowSpec
from tandem.selftest.stage import Running, Served, Stage, control

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]

ADMITTED, CLIENTS = 5, 100
SLEEPS = "kind=constant&us=20000"


def at_once(served: Served) -> int:
    """Most requests that were inside at the same time."""
    moments = np.concatenate([served.arrival_s, served.finish_s])
    changes = np.concatenate([np.ones(len(served)), -np.ones(len(served))])
    # An end comes before an arrival at the same microsecond.
    return int(np.cumsum(changes[np.lexsort((changes, moments))]).max())


@pytest.fixture(scope="module")
def stage(kept: Path) -> Iterator[Stage]:
    with Stage(ROOT, kept, View(Console(quiet=True)), "shared").up() as stage:
        yield stage


def most_at_once(several: Running) -> list[int]:
    """Of each slot the most requests inside at once, while many clients of each come together."""
    apps = several.floor.apps
    logs = dict[str, str]()

    def arm() -> None:
        for app in apps.values():
            control(app, f"arm?{SLEEPS}", wait_s=5)

    def read() -> None:
        logs.update({label: control(app, "log", wait_s=30) for label, app in apps.items()})

    # They are frozen but in a window, and the log is read as the next begins.
    for number, several.floor.beginning in enumerate((arm, read)):
        spec = WindowSpec(
            name=f"together-{number}",
            variants=several.labels,
            seconds=2,
            scenario_changes={"connections": CLIENTS},
            trim_start_s=0.0,
            trim_end_s=0.0,
            settled=False,
        )
        several.visit.measure(spec, several.labels)
    return [at_once(Served.parse(text)) for text in logs.values()]


@pytest.mark.parametrize(
    ("chosen", "admitted"),
    [
        ({"variables": {"APP_MAXCONN": str(ADMITTED)}}, ADMITTED),
        # Of a scenario that asks the database: twice the pool. The server here answers without one.
        ({"scenario": "recipe", "settings": {"DB_POOL_MAX": "3"}}, 6),
        # No limit: a slow host may not have all of them inside at once.
        ({}, None),
    ],
)
def test_the_server_of_one_application_admits_what_it_may(
    stage: Stage, chosen: dict[str, Any], admitted: int | None
) -> None:
    with stage.running(**chosen) as running:
        most = at_once(running.window(2, SLEEPS, connections=CLIENTS).served)
    assert most == admitted if admitted else most > 2 * ADMITTED


def test_each_slot_admits_what_it_may(stage: Stage) -> None:
    with stage.running(number=3, variables={"APP_MAXCONN": str(ADMITTED)}) as several:
        assert most_at_once(several) == [ADMITTED] * 3
        proxy = next(iter(several.floor.apps.values())).services["proxy"].address
        with pytest.raises(TandemError, match="does not limit slots/slot-99"):
            admit(proxy, "slot-99", ADMITTED)
    with stage.running(number=2) as unlimited:
        assert min(most_at_once(unlimited)) > ADMITTED, "the count sees more where more are admitted"
