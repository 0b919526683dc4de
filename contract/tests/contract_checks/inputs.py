"""Paths and ids, and HEAD."""

from contract_checks.backend import Backend, cookie
from contract_checks.errors import ODD, assert_answer, assert_error
from contract_checks.golden import RECIPES, assert_golden
from contract_checks.needs import for_scenario
from contract_checks.paths import COOKIE, served

# An id is decimal digits from 1 to 2147483647.
BAD_IDS = ("0", "-1", "abc", "1.0", "2147483648")
UNKNOWN = ("/nothing", "/api", "/api/v2/recipes", "/api/v1/recipess", f"{RECIPES}/1/2", "/favicon.ico")


@for_scenario("recipe")
def check_ids(backend: Backend) -> None:
    """An id that is none is 400, 422 or no path, with a session; the largest is an id; a query changes nothing."""
    for text in BAD_IDS:
        answer = backend.request("GET", f"{RECIPES}/{text}", COOKIE)
        assert_error(answer, *ODD, 404, what=f"id {text!r}")
    assert_error(backend.request("GET", f"{RECIPES}/2147483647", COOKIE), 404, what="the largest id")
    for query in ("?x=1", "?id=2"):
        assert_golden(backend.request("GET", f"{RECIPES}/1{query}", COOKIE), 1)


def check_unknown_paths(backend: Backend) -> None:
    """A path that is none is 404, with a session and without."""
    for path in UNKNOWN:
        for headers in (COOKIE, []):
            assert_error(backend.request("GET", path, headers), 404, what=f"path {path}")


def check_head_requests(backend: Backend) -> None:
    """HEAD is GET without the body: same status, same type, and the length of GET's body if any."""
    for path in [*(path.path for path in served(backend) if "GET" in path.allow), "/nothing"]:
        for headers in ([], COOKIE):
            head, get = (backend.request(method, path, headers) for method in ("HEAD", "GET"))
            length = str(len(get.body))
            # A random recipe is another one every time.
            told = length if path == RECIPES else head.headers.get("content-length", length)
            found = head.status, head.headers.get("content-type"), told, head.body
            expected = get.status, get.headers.get("content-type"), length, b""
            assert found == expected, (
                f"HEAD {path}: status, type, length and body are {found}, of GET {expected}"
            )


def check_healthz(backend: Backend) -> None:
    """/healthz is small, fixed and needs no session."""
    for headers in ([], COOKIE, cookie("unknown")):
        answer = backend.request("GET", "/healthz", headers)
        assert_answer(answer, 200, '{"status":"ok"}', "application/json", "/healthz")


CHECKS = (check_healthz, check_ids, check_unknown_paths, check_head_requests)
