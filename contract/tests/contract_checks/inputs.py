"""Methods, paths and ids as clients should not send them."""

from contract_checks.backend import Answer, Backend
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, assert_golden, session

COOKIE = [(b"cookie", b"sessionid=" + session(1).encode())]
PATHS = ("/healthz", RECIPES, f"{RECIPES}/1")

# Anything but decimal digits without a sign or leading zero, from 1 to 2147483647; as they travel.
BAD_IDS = (
    "0", "00", "01", "001", "-1", "+1", "-0", "1.0", "1.", ".1", "1e3", "0x1", "1_000", "1,000", "abc",
    "1a", "a1", "null", "NaN", "true", "2147483648", "4294967297", "9223372036854775808",
    "99999999999999999999", "9" * 400, "1;drop", "1'--", "1%20or%201=1", "%201", "1%20", "1%0A", "1%00",
    "%00", "1%09", "%2B1", "~", "*", "[]", "%D9%A1", "%EF%BC%91", "%C2%B2", "%E2%82%81", "%F0%9D%9F%8F",
    "%FF", "%C3%28", "%27", "%22", "%5C", "%25",
)  # fmt: skip
UNKNOWN = (
    "/", "/health", "/healthz/", "/HEALTHZ", "/api", "/api/v1", "/api/v1/", "/api/v2/recipes",
    "/API/v1/recipes", "/api/v1/recipe", "/api/v1/recipess", f"{RECIPES}/1/", f"{RECIPES}/1/notes",
    f"{RECIPES}/1/2", "/favicon.ico", "/index.html", "/admin/", "/metrics", "/docs", "/openapi.json",
    "/static/x",
)  # fmt: skip


def check_bad_ids(backend: Backend) -> None:
    """An id that is none is 400, with a session and without, and before the database is asked."""
    for text in BAD_IDS:
        assert_error(backend.request("GET", f"{RECIPES}/{text}", COOKIE), 400, what=f"id {text[:40]!r}")
    assert_error(backend.get(f"{RECIPES}/abc"), 400, what="id 'abc' without a session")


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


def check_methods(backend: Backend) -> None:
    """Methods other than GET and HEAD are 405 with the header that names those two."""
    for path in PATHS:
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
            for headers in ([], COOKIE):
                answer = backend.request(method, path, headers)
                assert_error(answer, 405, what=f"{method} {path}")
                allow = sorted(word.strip() for word in answer.headers.get("allow", "").split(","))
                assert allow == ["GET", "HEAD"], f"{method} {path}: Allow is {answer.headers.get('allow')!r}"
    assert_error(backend.request("POST", "/nothing"), 404, what="POST /nothing")


def check_head(backend: Backend) -> None:
    """HEAD is GET without the body: same status, same type, and the length of GET's body if any."""
    for path in ("/healthz", f"{RECIPES}/1", f"{RECIPES}/0", "/nothing"):
        for headers in ([], COOKIE):
            head, get = (backend.request(method, path, headers) for method in ("HEAD", "GET"))
            _assert_head(head, get, path)
    answer = backend.request("HEAD", RECIPES, COOKIE)
    assert (answer.status, answer.body) == (200, b""), f"HEAD {RECIPES}: {answer}"


def _assert_head(head: Answer, get: Answer, path: str) -> None:
    assert head.status == get.status, f"HEAD {path} is {head.status}, GET is {get.status}"
    assert not head.body, f"HEAD {path} has a body: {head}"
    types = head.headers.get("content-type"), get.headers.get("content-type")
    assert types[0] == types[1], f"HEAD {path} has the type {types[0]}, GET {types[1]}"
    length = head.headers.get("content-length")
    expected = str(len(get.body))
    assert length in (None, expected), f"HEAD {path}: Content-Length {length}, GET has {expected} bytes"


def check_healthz(backend: Backend) -> None:
    """/healthz is small, fixed and needs no session."""
    for headers in ([], COOKIE, [(b"cookie", b"sessionid=unknown")]):
        answer = backend.request("GET", "/healthz", headers)
        assert (answer.status, answer.body) == (200, b'{"status":"ok"}'), f"/healthz: {answer}"
        assert answer.headers.get("content-type") == "application/json", f"/healthz: {answer}"


CHECKS = (check_healthz, check_bad_ids, check_good_ids, check_unknown_paths, check_methods, check_head)
