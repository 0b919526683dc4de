"""Toxiproxy, the latency proxy between application and database, told over its HTTP API.

https://github.com/Shopify/toxiproxy#http-api
"""

import httpx

from tandem.errors import TandemError

API_PORT = 8474
PROXIED_PORT = 6433
"""Port at which it takes the database's place. PgBouncer's own is another: on a lab's host both may be asked from
outside."""
_NAME = "database"


class Toxiproxy:
    """One running Toxiproxy, by its address."""

    def __init__(self, address: str) -> None:
        self._api = f"http://{address}:{API_PORT}"

    def version(self) -> str:
        """Raises httpx.HTTPError while it does not answer."""
        answer = httpx.get(f"{self._api}/version", timeout=2).raise_for_status()
        return str(answer.json()["version"])

    def delay(self, upstream: str, delay_ms: int) -> None:
        """Forwards to `upstream` (service:port) and holds back every answer for so long, whatever was before.

        Only what comes back is delayed: each toxic overshoots by almost half a millisecond, so two would by
        twice as much. It delays a chunk of bytes, not a statement, and no TCP handshake. Raises TandemError.
        """
        proxy = {
            "name": _NAME,
            "listen": f"0.0.0.0:{PROXIED_PORT}",
            "upstream": upstream,
            "enabled": True,
        }
        toxic = {"type": "latency", "stream": "downstream", "attributes": {"latency": delay_ms}}
        try:
            self._post("/reset", None)  # no toxic stays from a run before
            self._post("/populate", [proxy])
            if delay_ms:
                self._post(f"/proxies/{_NAME}/toxics", toxic)
        except httpx.HTTPError as error:
            raise TandemError(f"the latency proxy cannot be configured: {error}") from None

    def _post(self, path: str, body: object) -> None:
        httpx.post(f"{self._api}{path}", json=body, timeout=5).raise_for_status()
