"""Paths and ids, and HEAD."""

from contract_checks.backend import Answer, Backend
from contract_checks.errors import ODD, assert_error
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
    paths = [path.path for path in served(backend) if "GET" in path.allow]
    for path in (*paths, "/nothing"):
        for headers in ([], COOKIE):
            head, get = (backend.request(method, path, headers) for method in ("HEAD", "GET"))
            _assert_head(head, get, path, other=path == RECIPES and get.status == 200)


def _assert_head(head: Answer, get: Answer, path: str, other: bool) -> None:
    """`other` says that the body is another one every time."""
    assert head.status == get.status, f"HEAD {path} is {head.status}, GET is {get.status}"
    assert not head.body, f"HEAD {path} has a body: {head}"
    types = head.headers.get("content-type"), get.headers.get("content-type")
    assert types[0] == types[1], f"HEAD {path} has the type {types[0]}, GET {types[1]}"
    length = None if other else head.headers.get("content-length")
    expected = str(len(get.body))
    assert length in (None, expected), f"HEAD {path}: Content-Length {length}, GET has {expected} bytes"


def check_healthz(backend: Backend) -> None:
    """/healthz is small, fixed and needs no session."""
    for headers in ([], COOKIE, [(b"cookie", b"sessionid=unknown")]):
        answer = backend.request("GET", "/healthz", headers)
        assert (answer.status, answer.body) == (200, b'{"status":"ok"}'), f"/healthz: {answer}"
        assert answer.media_type == "application/json", f"/healthz: {answer}"


CHECKS = (
    check_healthz,
    check_ids,
    check_unknown_paths,
    check_head_requests,
)
