"""The fixed page."""

from contract_checks.backend import Backend
from contract_checks.catalog import CONTRACT
from contract_checks.errors import assert_answer
from contract_checks.needs import for_scenario

PAGE = (CONTRACT / "golden" / "index.html").read_text()


@for_scenario("index")
def check_index(backend: Backend) -> None:
    """The golden page under its three names, whatever the query."""
    for path in ("/", "/index.html", "/index.htm", "/?a=b"):
        assert_answer(backend.get(path), 200, PAGE, "text/html", "the page")


CHECKS = (check_index,)
