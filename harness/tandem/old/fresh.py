"""A fresh start for the sessions that choose their own windows: everything before the first and after the last."""

from collections.abc import Iterator
from contextlib import contextmanager

from tandem.errors import TandemError
from tandem.old.lab import BenchLab
from tandem.record.window import Verdict, Window


@contextmanager
def fresh_start(lab: BenchLab, warm_up_s: int) -> Iterator[BenchLab]:
    """Starts, verifies and warms up; yields what can measure; collects and stops whatever happens.

    Raises TandemError if the application does not get ready or its answers or statements are wrong.
    """
    try:
        lab.start()
        lab.wait_ready()
        wrong = lab.verify()
        if wrong:
            raise TandemError(wrong[0].text)
        if warm_up_s:
            lab.warm_up(warm_up_s)
        yield lab
    finally:
        lab.collect()
        lab.stop()


def accepted(window: Window) -> Window:
    """The window itself. Raises TandemError with the first reason if its verdict is not ok."""
    if window.verdict is not Verdict.OK:
        texts = [finding.text for finding in window.findings if finding.severity != "warning"]
        raise TandemError(f"{window.verdict}: {texts[0]}")
    return window
