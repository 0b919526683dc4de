"""A table of users in memory."""

import heapq
import re
import threading
import time
from typing import TYPE_CHECKING

from errors import TEXT, Answer, Failure

if TYPE_CHECKING:
    from routes import Request


class Users:
    """Ids count up from 0; the lowest that was freed is given again first."""

    def __init__(self, fault: str) -> None:
        self._fault = fault
        self._lock = threading.Lock()
        self._ids: set[int] = set()
        self._freed: list[int] = []

    def create(self) -> Answer:
        """POST /user/"""
        if self._fault == "users-collide":
            key = len(self._ids)
            time.sleep(0.01)
            self._ids.add(key)
            return Answer(200, str(key).encode(), TEXT)
        with self._lock:
            key = heapq.heappop(self._freed) if self._freed else len(self._ids)
            self._ids.add(key)
        return Answer(200, str(key).encode(), TEXT)

    def list(self) -> Answer:
        """GET /users/"""
        with self._lock:
            ids = sorted(self._ids, reverse=self._fault == "users-unsorted")
        return Answer(200, ",".join(map(str, ids)).encode(), TEXT)

    def one(self, request: "Request", match: re.Match[str]) -> Answer:
        """GET, PUT, DELETE and POST of /user/{id}"""
        if request.method == "POST":
            raise Failure(400)
        key = int(match[1][:30])
        with self._lock:
            if key not in self._ids:
                raise Failure(404)
            if request.method == "DELETE" and self._fault != "deleted-users-stay":
                self._ids.remove(key)
                heapq.heappush(self._freed, key)
        return Answer(200, b"{}" if request.method in ("GET", "HEAD") else b"", TEXT)
