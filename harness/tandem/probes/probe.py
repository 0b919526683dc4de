"""What a probe is: something that watches a load from just before it to just after it."""

from typing import Protocol


class Probe[P](Protocol):
    """`start`, the load, `stop`, then `part`. `stop` is called whatever happened, if `start` returned."""

    def start(self) -> None:
        """Begins to watch. Raises OSError, KeyError, httpx.HTTPError or psycopg.Error where that cannot be done."""

    def stop(self) -> None:
        """Ends it. Raises the same."""

    def part(self, app: str) -> P:
        """The probe's part of a window: a part of tandem.record.window.Window, or what tandem.judge.measure makes one of.
        app: label of one of the loaded variants; what all of them share is in the part of each."""
