"""tandem.lab.observe, challenge and doctor without containers: what each window sees, bodies that nobody has sent, and a
machine that grants less."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from harness_samples import there
from harness_windows import series

from tandem.catalog.bodies import drawn
from tandem.catalog.catalog import Catalog
from tandem.hosts.host import Usage
from tandem.lab import doctor
from tandem.lab.challenge import clients_of, new_body
from tandem.lab.observe import Counters
from tandem.probes.sampler import Series


def test_each_window_sees_its_own_application_and_forgets_none() -> None:
    both = [
        replace(
            one,
            connected={"10.0.0.2": 19 + n % 2, "10.0.0.3": n, "10.0.0.9": 500},
            usage={
                **{role: usage for role, usage in one.usage.items() if role != "app"},
                "app A": one.usage["app"],
                "app B": Usage(cpu_s=10.0 + 3 * n, anonymous_bytes=7, throttled_s=0.0),
            },
        )
        for n, one in enumerate(series().samples)
    ]
    seen = Counters.__new__(Counters)
    seen._apps = {"A": "app A", "B": "app B"}
    seen._series, seen._busiest = Series(both), {"A": 1.0, "B": 2.0}
    seen._addresses = {"A": {"10.0.0.2"}, "B": {"10.0.0.3"}}
    first, second = (seen.part(label).series for label in ("A", "B"))
    assert second.samples[0].usage["app"].cpu_s == 10.0
    assert second.samples[0].usage["app A"] == first.samples[0].usage["app"] == both[0].usage["app A"]
    used = [
        [sum(u.cpu_s for u in one.usage.values()) for one in samples] for samples in (second.samples, both)
    ]
    assert used[0] == used[1]
    assert seen.part("B").busiest_thread_s == 2.0
    assert [seen.part(label).db_connections_max for label in ("A", "B")] == [20, len(both) - 1]
    seen._addresses = {}
    assert seen.part("A").db_connections_max is None, "nobody knows whose they are"


def test_a_new_body_is_as_long_and_has_another_sum(real: Catalog) -> None:
    body = there(real.scenarios["work-large"].body)
    [known] = drawn(body.model_copy(update={"drawn": 1}), 7, "")
    made = [new_body(known) for _ in range(20)]
    assert len({one.body for one in made}) > 1
    for one in made:
        assert len(one.body) == len(known.body)
        assert one.answer == f"Sum: {sum(json.loads(one.body))}".encode() != known.answer


@pytest.mark.parametrize(
    ("connections", "answers_per_s", "clients"),
    [(50, None, 50), (100, 4000.0, 50), (50, 60.0, 30), (50, 5.0, 6), (4, 5.0, 4), (8, 4000.0, 8)],
)
def test_a_slow_application_meets_the_lock_with_fewer(
    connections: int, answers_per_s: float | None, clients: int
) -> None:
    assert clients_of(connections, answers_per_s) == clients


@pytest.mark.parametrize(("granted", "state"), [(True, "good"), (False, "limited")])
def test_a_machine_on_which_nothing_can_be_captured_is_told_so(granted: bool, state: str) -> None:
    found = doctor.capture(cast(Any, SimpleNamespace(can_capture=lambda: granted)))
    assert (found.state, "NET_RAW" in found.means) == (state, not granted)
