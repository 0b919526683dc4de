"""The fixed page."""

from contract_checks.backend import Backend
from contract_checks.catalog import CONTRACT
from contract_checks.needs import for_scenario

PAGE = (CONTRACT / "golden" / "index.html").read_bytes()
PATHS = ("/", "/index.html", "/index.htm")


@for_scenario("index")
def check_index(backend: Backend) -> None:
    """The golden page under its three names, whatever the query."""
    for path in (*PATHS, "/?a=b"):
        answer = backend.get(path)
        assert (answer.status, answer.body) == (200, PAGE), f"GET {path}: {answer}"
        assert answer.media_type == "text/html", f"GET {path}: {answer}"


CHECKS = (check_index,)
