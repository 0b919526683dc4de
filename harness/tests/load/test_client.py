"""How many answers are looked at before a load."""

import pytest

from tandem.catalog.catalog import Catalog
from tandem.catalog.golden import Exact
from tandem.load.client import Client, Look
from tandem.probes.sampler import Wrong


@pytest.mark.parametrize(
    ("answer_s", "asked"),
    [(0.01, 10), (0.15, 10), (0.31, 5), (0.65, 3), (4.0, 3)],
)
def test_slow_answers_are_fewer(
    real: Catalog, monkeypatch: pytest.MonkeyPatch, answer_s: float, asked: int
) -> None:
    now = 0.0

    def ask(self: Client) -> Wrong | None:
        nonlocal now
        now += answer_s
        return Wrong("late", body=False) if answer_s > 1 else None

    monkeypatch.setattr("tandem.load.client.time.monotonic", lambda: now)
    monkeypatch.setattr(Client, "ask", ask)
    own = Client(real.scenarios["index"], Exact(b""), "127.0.0.1:9")
    found = own.look(Look(10, 3, 1.5))
    assert len(found) == asked
    assert [wrong is not None for wrong in found] == [answer_s > 1] * asked, "each answer's fault is told"
    own.close()
