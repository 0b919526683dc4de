"""The fixed page."""

from contract_checks.backend import Backend
from contract_checks.catalog import CONTRACT
from contract_checks.needs import for_scenario

PAGE = (CONTRACT / "golden" / "index.html").read_bytes()
PATHS = ("/", "/index.html", "/index.htm")


@for_scenario("index")
def check_index(backend: Backend) -> None:
    """The golden page under its three names, whatever the query; HEAD has its head."""
    for path in (*PATHS, "/?", "/?a=b&c=%00", "/index.html?x"):
        answer = backend.get(path)
        assert (answer.status, answer.body) == (200, PAGE), f"GET {path}: {answer}"
        kind = answer.headers.get("content-type", "").lower().replace(" ", "")
        assert kind == "text/html;charset=utf-8", f"GET {path}: Content-Type is {kind!r}"
        head = backend.request("HEAD", path)
        assert (head.status, head.body) == (200, b""), f"HEAD {path}: {head}"
        assert head.headers.get("content-type") == answer.headers.get("content-type"), f"HEAD {path}: {head}"
        length = head.headers.get("content-length")
        assert length in (None, str(len(PAGE))), f"HEAD {path}: Content-Length is {length}"


CHECKS = (check_index,)
