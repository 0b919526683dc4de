"""Methods, paths and ids as clients should not send them."""

from contract_checks.backend import Answer, Backend
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, assert_golden
from contract_checks.needs import for_scenario
from contract_checks.paths import COOKIE, READ, served

# Anything but decimal digits without a sign or leading zero, from 1 to 2147483647; as they travel.
BAD_IDS = (
    "0", "00", "01", "001", "-1", "+1", "-0", "1.0", "1.", ".1", "1e3", "0x1", "1_000", "1,000", "abc",
    "1a", "a1", "null", "NaN", "true", "2147483648", "4294967297", "9223372036854775808",
    "99999999999999999999", "9" * 400, "1;drop", "1'--", "1%20or%201=1", "%201", "1%20", "1%0A", "1%00",
    "%00", "1%09", "%2B1", "~", "*", "[]", "%D9%A1", "%EF%BC%91", "%C2%B2", "%E2%82%81", "%F0%9D%9F%8F",
    "%FF", "%C3%28", "%27", "%22", "%5C", "%25",
)  # fmt: skip
PLAIN_BAD_IDS = ("0", "01", "-1", "abc", "1.0", "2147483648")
UNKNOWN = (
    "/health", "/healthz/", "/HEALTHZ", "/index", "/index.html/", "/index.php", "/Index.html", "/user/x", "/users/1",
    "/work/", "/work/1", "/WORK", "/null", "/api", "/api/v1", "/api/v1/", "/api/v2/recipes", "/API/v1/recipes",
    "/api/v1/recipe", "/api/v1/recipess", f"{RECIPES}/1/", f"{RECIPES}/1/2", f"{RECIPES}/1/note",
    f"{RECIPES}/1/notes/", f"{RECIPES}/1/notes/1", "/api/v1/dashboards", "/api/v1/dashboard/", "/api/v1/dashboard/1",
    "/favicon.ico", "/admin/", "/metrics", "/docs", "/openapi.json", "/static/x",
)  # fmt: skip


@for_scenario("recipe")
def check_plain_ids(backend: Backend) -> None:
    """An id that is no number from 1 to 2147483647, or begins with 0, is 400, with a session and without."""
    for text in PLAIN_BAD_IDS:
        for headers in (COOKIE, []):
            answer = backend.request("GET", f"{RECIPES}/{text}", headers)
            assert_error(answer, 400, what=f"id {text!r}")


@for_scenario("recipe")
def check_bad_ids(backend: Backend) -> None:
    """An id that is none is 400, with a session and without, and before the database is asked."""
    for text in BAD_IDS:
        assert_error(backend.request("GET", f"{RECIPES}/{text}", COOKIE), 400, what=f"id {text[:40]!r}")
    assert_error(backend.get(f"{RECIPES}/abc"), 400, what="id 'abc' without a session")


@for_scenario("recipe")
def check_good_ids(backend: Backend) -> None:
    """Limits that are still ids, and forms that a server may read either way."""
    assert_error(backend.request("GET", f"{RECIPES}/2147483647", COOKIE), 404, what="the largest id")
    # A percent-encoded digit is equivalent to the digit (RFC 3986, 2.3), but few routers normalise it.
    answer = backend.request("GET", f"{RECIPES}/%31", COOKIE)
    if answer.status == 200:
        assert_golden(answer, 1)
    else:
        assert_error(answer, 400, 404, what="id '%31'")
    for query in ("?", "?x=1", "?id=2", "?sessionid=x", "?%00", "?a[]=%FF"):
        assert_golden(backend.request("GET", f"{RECIPES}/1{query}", COOKIE), 1)


def check_unknown_paths(backend: Backend) -> None:
    """A path that is none is 404 in JSON: no page, no redirect."""
    for path in UNKNOWN:
        assert_error(backend.request("GET", path, COOKIE), 404, what=f"path {path}")
        assert_error(backend.request("GET", path), 404, what=f"path {path} without a session")
    # Either an unknown path or an empty id.
    assert_error(backend.request("GET", f"{RECIPES}/", COOKIE), 400, 404, what=f"path {RECIPES}/")
    path = f"{RECIPES}//notes"  # with an empty id it takes POST only
    assert_error(backend.request("GET", path, COOKIE), 400, 404, 405, what=f"path {path}")


def check_head_requests(backend: Backend) -> None:
    """HEAD is GET without the body: same status, same type, and the length of GET's body if any."""
    paths = [path.path for path in served(backend) if path.allow[:2] == READ]
    for path in (*paths, "/nothing", f"{RECIPES}/0"):
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
        assert answer.headers.get("content-type") == "application/json", f"/healthz: {answer}"


CHECKS = (
    check_healthz,
    check_plain_ids,
    check_bad_ids,
    check_good_ids,
    check_unknown_paths,
    check_head_requests,
)
