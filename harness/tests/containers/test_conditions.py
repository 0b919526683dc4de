"""One stack, many fresh starts: every topology, a near distance, what a window itself must notice."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness_commands import ONE_TRIAL

from tandem.catalog.catalog import Catalog
from tandem.lab.stack import Stack
from tandem.old.lab import BenchLab
from tandem.old.prepare import DEFAULT_TOPOLOGY, Conditions, Prepared, build, refuse_or_clean_up, start
from tandem.record.window import Verdict, Window

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]

FAST, BROKEN = "rust-async", "contract/broken"
TRIES = 3
"""A window that the host disturbed is made again."""
LIARS = {
    "missing-statement": ("recipe", "sql-mismatch"),
    "extra-statement": ("recipe", "sql-extra"),
    "wrong-body": ("recipe", "wrong-body"),
    "spaces-in-json": ("recipe", "wrong-answers"),
    "note-lost-under-load": ("note-write", "not-stored"),
    "short-keep-alive": ("idle", "idle-lost"),
}
"""Fault of contract/broken -> the scenario in which a window must notice it, and the finding that says so. What the
self-test's liars do (tandem.selftest.liars) is not among them."""


@dataclass
class OneStack:
    """The shared services, up. `window` is a fresh start with one closed window of four seconds."""

    catalog: Catalog
    folder: Path
    starts: int = 0

    def prepare(
        self, implementation: str, scenario: str, topology: str | None = None, rtt_ms: int | None = None
    ) -> Prepared:
        asked, plan = self.catalog.scenarios[scenario], self.catalog.plan(ONE_TRIAL)
        placement = self.catalog.default_placement(os.cpu_count() or 1).name
        topology = topology or asked.topology or DEFAULT_TOPOLOGY
        under = Conditions(self.catalog, topology, placement, plan, {}, rtt_ms)
        self.starts += 1
        return under.prepare(
            self.catalog.implementation(implementation), asked, self.folder / f"{self.starts:02}"
        )

    def window(self, prepared: Prepared, fault: str = "") -> Window:
        """The last try, whatever it is. fault: of contract/broken."""
        variables = {**prepared.stack.variables, "FAULT": fault}
        env_file = self.folder / f"{prepared.name}.env"
        stack = Stack(self.catalog.root, prepared.stack.project, variables, env_file)
        lab = BenchLab(stack, prepared.cell, self.folder / prepared.name, lambda *_: None, lambda _: None)
        try:
            lab.start()
            lab.wait_ready()
            lab.verify()
            lab.warm_up(1)
            for _ in range(TRIES):
                window = lab.measure("closed", 4, None)
                if window.verdict is not Verdict.VOID:
                    break
            return window
        finally:
            lab.collect()
            lab.stop()


@pytest.fixture(scope="module")
def one(real: Catalog, kept: Path) -> Iterator[OneStack]:
    stack = OneStack(real, kept)
    refuse_or_clean_up(real.root, kept, print)
    first = stack.prepare(FAST, "recipe", rtt_ms=1)  # with the latency proxy, which is not always in the path
    try:
        build([first, stack.prepare(BROKEN, "recipe")], print)
        start(first.stack, print)
        yield stack
    finally:
        first.stack.down()


def codes(window: Window) -> set[str]:
    return {finding.code for finding in window.findings}


def texts(window: Window) -> list[str]:
    return [finding.text for finding in window.findings]


# ---- what stands in the path ----


@pytest.mark.parametrize("topology", ["direct", "pooled", "proxied"])
def test_every_topology(topology: str, one: OneStack) -> None:
    found = one.window(one.prepare(FAST, "recipe", topology))
    assert found.verdict in ("ok", "void"), texts(found)
    assert found.goodput_rps > 0
    assert (found.proxy is not None) == (topology == "proxied")
    assert (found.pooler is not None) == (topology == "pooled")


def test_a_database_that_is_far_away_without_a_pooler(one: OneStack) -> None:
    found = one.window(one.prepare(FAST, "recipe", "direct", rtt_ms=5))
    assert found.verdict in ("ok", "void"), texts(found)
    assert found.db_rtt_ms is not None
    assert 4 <= found.db_rtt_ms.before_p50 < 10
    assert found.pooler is None


# ---- what is wrong ----


@pytest.mark.parametrize("fault", LIARS)
def test_a_window_notices_a_liar(fault: str, one: OneStack) -> None:
    scenario, code = LIARS[fault]
    found = one.window(one.prepare(BROKEN, scenario), fault)
    assert found.verdict == "invalid", texts(found)
    assert code in codes(found), texts(found)


@pytest.mark.parametrize("scenario", sorted({scenario for scenario, _ in LIARS.values()}))
def test_the_same_backend_without_a_fault_is_no_liar(scenario: str, one: OneStack) -> None:
    found = one.window(one.prepare(BROKEN, scenario))
    assert found.verdict in ("ok", "void"), texts(found)
    assert not codes(found) & {code for _, code in LIARS.values()}, texts(found)
