"""What a probe is: something that watches a load from just before it to just after it."""

from typing import Protocol


class Probe(Protocol):
    """`start`, the load, `stop`, then `fields`. `stop` is called whatever happened, if `start` returned."""

    def start(self) -> None:
        """Begins to watch. Raises OSError, KeyError, httpx.HTTPError or psycopg.Error where that cannot be done."""

    def stop(self) -> None:
        """Ends it. Raises the same."""

    def fields(self, app: str) -> dict[str, object]:
        """What it found out: fields of tandem.judge.measure.Measured or, under the same name, of
        tandem.record.window.Window. app: label of one of the loaded variants; what is of all is told for each."""
