"""Adds numbers, then waits."""

import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from config import Config
from errors import TEXT, Answer, Failure
from models import decode

if TYPE_CHECKING:
    from handlers import Load

LOW, HIGH = -(2**31), 2**31 - 1


class Work:
    """`OFFLOAD` says what runs on the pool instead of the handler's own thread."""

    def __init__(self, config: Config, load: "Load") -> None:
        self._fault, self._load = config.fault, load
        self._offload = "none" if config.fault == "offload-ignored" else config.offload
        self._pool = ThreadPoolExecutor(2 if config.fault == "threads-ignored" else config.threads, "offload")
        self._turn = threading.Lock()
        self._known: dict[bytes, int] = {}

    def answer(self, query: str, body: Callable[[], bytes]) -> Answer:
        """POST /work"""
        delay_s = self._delay(query) / 1000
        data = body()
        if self._fault == "large-refused" and len(data) > 100_000 and self._load.busy > 4:
            raise Failure(503)
        total = self._total(data)
        if self._fault == "delays-in-turn":
            with self._turn:
                time.sleep(delay_s)
        elif self._fault != "delay-ignored":
            short = self._fault == "delay-shortened" and self._load.busy > 4
            time.sleep(delay_s / 2 if short else delay_s)
        return Answer(200, f"Sum: {total}".encode(), TEXT)

    def _total(self, data: bytes) -> int:
        if self._fault != "work-remembered-under-load" or self._load.busy <= 4:
            return self._added(data)
        if data not in self._known:
            self._known[data] = self._added(data)
        return self._known[data]

    def _added(self, data: bytes) -> int:
        if self._offload != "none" and self._fault == "offload-pretended":
            self._pool.submit(lambda: None).result()
            total = sum(self._numbers(data))
        elif self._offload == "parse+sum":
            total = self._pool.submit(lambda: sum(self._numbers(data))).result()
        elif self._offload == "sum":
            total = self._pool.submit(sum, self._numbers(data)).result()
        else:
            total = sum(self._numbers(data))
        if self._fault == "sum-of-32-bits":
            return (total - LOW) % 2**32 + LOW
        return total + 1 if self._offload != "none" and self._fault == "offload-wrong" else total

    def _delay(self, query: str) -> int:
        pairs = parse_qsl(query, keep_blank_values=True, errors="replace", encoding="utf-8")
        values = [value for name, value in pairs if name == "delay_ms"]
        if len(values) > 1:
            raise Failure(400)
        text = values[-1] if values else "0"
        if not re.fullmatch("[0-9]{1,9}", text) or int(text) > 10_000:
            if self._fault == "sloppy-delay":
                return 0
            raise Failure(400)
        return int(text)

    def _numbers(self, data: bytes) -> list[int]:
        found: Any = decode(data)
        if self._fault == "lenient-json" and isinstance(found, list):
            return [item for item in found if isinstance(item, int | float)]  # type: ignore[misc]
        if type(found) is not list or any(type(i) is not int or not LOW <= i <= HIGH for i in found):
            raise Failure(422)
        return found[:-1] if self._fault == "numbers-dropped" and len(found) > 10_000 else found
