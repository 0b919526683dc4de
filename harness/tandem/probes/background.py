"""What a probe does while a load runs: it looks again and again, with pauses that are not even."""

import random
import threading
from collections.abc import Callable

SPREAD = 0.3
"""The share of the mean by which a pause may be shorter or longer."""


def uneven_s(mean_s: float) -> float:
    """Seconds until the next look. Even pauses could keep step with what is watched: all looks would fall on the same
    part of something that comes and goes a whole number of times between two of them."""
    return mean_s * random.uniform(1 - SPREAD, 1 + SPREAD)


class Background:
    """A thread that looks after each pause, between `start` and `stop`; it can be started once.

    pause_s: of the next pause, in seconds.
    """

    def __init__(self, name: str, look: Callable[[], None], pause_s: Callable[[], float]) -> None:
        self._look, self._pause_s = look, pause_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._failure: Exception | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends it. Raises what a look met."""
        self._ended.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            while not self._ended.wait(self._pause_s()):
                self._look()
        except Exception as error:  # a container that died: told to the main thread, which knows the phase
            self._failure = error
