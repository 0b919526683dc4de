"""The cookie and the user behind it, and the ids of paths."""

import re
from http.cookies import CookieError, SimpleCookie

from errors import Failure
from repository import Connection, Pool, rows, set_time_zone

MOST = 2**31 - 1


class Sessions:
    """Finds out who asks."""

    def __init__(self, pool: Pool, fault: str, time_zone: str) -> None:
        self._pool, self._fault = pool, fault
        self._sets_zone = time_zone == "request" and fault not in ("time-zone-ignored", "time-zone-once")
        self._sets_zone = self._sets_zone or fault == "time-zone-always"
        self._known: dict[str, int] = {}

    def key(self, cookie: str) -> str:
        """The session's key; raises Failure when there is none."""
        if self._fault == "odd-cookie-500" and not cookie.isascii():
            raise Failure(500)
        if self._fault == "first-cookie-only":
            cookie = cookie.partition(";")[0]
        try:
            morsel = SimpleCookie(cookie).get("sessionid")
        except CookieError:
            morsel = None
        # The bytes of a header arrive as Latin-1. A key that is not ASCII cannot be one of ours.
        key = morsel.value if morsel and morsel.value.isascii() and "\0" not in morsel.value else ""
        if not key and self._fault != "session-ignored":
            raise Failure(401)
        return key

    def user(self, connection: Connection, key: str) -> int:
        """The id of the user whose session it is; raises Failure when it is nobody's."""
        skips = self._fault == "time-zone-alone" and self._pool.lent > 1
        if self._sets_zone and self._fault != "time-zone-late" and not skips:
            set_time_zone(connection)
        found = rows(connection, "session", key)
        if self._sets_zone and self._fault == "time-zone-late":
            set_time_zone(connection)
        if self._fault == "expired-accepted" and not found:
            text = "select user_id from user_sessions_session where session_key = %s"
            found = connection.execute(text, [key]).fetchall()
        if not found and self._fault == "session-ignored":
            return 1
        if self._fault == "session-unheeded" and key in self._known:
            return self._known[key]
        if not found:
            raise Failure(401)
        if self._fault == "extra-statement":
            connection.execute("select 1")
        self._known[key] = int(found[0]["user_id"])
        return self._known[key]

    def recipe(self, text: str) -> int:
        """The id of a recipe as it stands in a path."""
        if self._fault == "sloppy-id":
            text = text.removeprefix("-")
        if not re.fullmatch(r"[1-9][0-9]*", text) or not 0 < int(text[:20]) <= MOST:
            raise Failure(400)
        return int(text)
