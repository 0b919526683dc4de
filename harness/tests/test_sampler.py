"""tandem.sampler.Prober: every probe is counted, whatever becomes of it."""

import threading
from collections.abc import Callable

import pytest

from tandem import sampler
from tandem.sampler import Prober, Wrong

NOT_GOLDEN = Wrong("/: not the golden one", body=True)
REFUSED = Wrong("/: refused", body=False)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "INTERVAL_S", 0.001)


def probed(*answers: Callable[[], Wrong | None]) -> Prober:
    """A prober that was stopped after it had asked for these answers; later ones are right."""
    left, done = list(answers), threading.Event()

    def ask() -> Wrong | None:
        if left:
            return left.pop(0)()
        done.set()
        return None

    prober = Prober(ask)
    prober.start()
    assert done.wait(10), "the thread died"
    prober.stop()
    return prober


def broken() -> Wrong | None:
    raise ValueError("no such thing")


def test_right_answers_are_counted() -> None:
    prober = probed(lambda: None, lambda: None)
    assert prober.asked >= 3
    assert prober.wrong == []


def test_wrong_answers_are_kept_in_order() -> None:
    prober = probed(lambda: NOT_GOLDEN, lambda: None, lambda: REFUSED)
    assert prober.asked >= 4
    assert prober.wrong == [NOT_GOLDEN, REFUSED]


def test_a_probe_that_breaks_is_told_and_the_next_is_sent() -> None:
    """A thread that died would look like one that found nothing."""
    prober = probed(broken, lambda: NOT_GOLDEN)
    assert prober.asked >= 3
    assert prober.wrong == [
        Wrong("the probe itself failed: ValueError('no such thing')", body=True),
        NOT_GOLDEN,
    ]


def test_nothing_is_asked_after_the_end() -> None:
    prober = probed()
    asked = prober.asked
    prober.stop()
    assert not any(thread.name == "prober" for thread in threading.enumerate())
    assert prober.asked == asked
