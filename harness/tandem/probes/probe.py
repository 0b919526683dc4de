"""What a probe is: something that watches a load from just before it to just after it. How most of them look."""

import random
import threading
from collections.abc import Callable, Mapping
from typing import Protocol


class Probe[P](Protocol):
    """`start`, the load, `stop`, then `part`. `stop` is called whatever happened, if `start` returned."""

    def start(self) -> None:
        """Begins to watch. Raises OSError, KeyError, httpx.HTTPError or psycopg.Error where that cannot be done."""

    def stop(self) -> None:
        """Ends watching. Raises the same as `start`."""

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


class BeforeAndAfter[V, P]:
    """A Probe that looks just before a load and just after it. look: label -> what is there, of the applications that tell it.
    between: what both looks say together; an application that one of them misses has no part."""

    def __init__(self, look: Callable[[], Mapping[str, V]], between: Callable[[V, V], P]) -> None:
        self._look, self._between = look, between
        self._before: Mapping[str, V] = {}
        self._after: Mapping[str, V] = {}

    def start(self) -> None:
        self._before = self._look()

    def stop(self) -> None:
        self._after = self._look()

    def part(self, app: str) -> P | None:
        both = app in self._before and app in self._after
        return self._between(self._before[app], self._after[app]) if both else None


SPREAD = 0.3
"""The share of the mean by which a pause may be shorter or longer."""


def uneven_s(mean_s: float) -> float:
    """Seconds until the next look. Even pauses could keep step with what is watched: all looks would fall on the same
    part of something that comes and goes a whole number of times between two of them."""
    return mean_s * random.uniform(1 - SPREAD, 1 + SPREAD)


class Background:
    """A thread that looks after each pause, between `start` and `stop`; it can be started once.

    pause_s: of the next pause, in seconds. ended: set by `stop`, for a look that takes long.
    """

    def __init__(self, name: str, look: Callable[[], None], pause_s: Callable[[], float]) -> None:
        self._look, self._pause_s = look, pause_s
        self.ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._failure: Exception | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread. Raises what a look met."""
        self.ended.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            while not self.ended.wait(self._pause_s()):
                self._look()
        except Exception as error:  # a container that died: told to the main thread, which knows the phase
            self._failure = error
