"""What a probe is: something that watches a load from just before it to just after it."""

from collections.abc import Callable, Mapping
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


class Watcher(Protocol):
    """Watcher of one application between its start and its stop."""

    def start(self) -> None: ...
    def stop(self) -> None: ...


class EachApplication[W: Watcher, P]:
    """A Probe with a watcher for each application. watchers: by label. part: of a watcher that has stopped."""

    def __init__(self, watchers: Mapping[str, W], part: Callable[[W], P]) -> None:
        self._watchers, self._part = watchers, part

    def start(self) -> None:
        for watcher in self._watchers.values():
            watcher.start()

    def stop(self) -> None:
        for watcher in self._watchers.values():
            watcher.stop()

    def part(self, app: str) -> P:
        return self._part(self._watchers[app])
