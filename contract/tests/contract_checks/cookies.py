"""Sessions: missing, unknown, expired, odd, and beside other cookies."""

from contract_checks.backend import Backend
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, assert_golden, expired, session
from contract_checks.needs import for_scenario

KEY = session(1).encode()
VALID = b"sessionid=" + KEY

# No valid session by any reading.
ODD = (
    b"", b"sessionid", b"=", b"; ;", b"SESSIONID=" + KEY, b"xsessionid=" + KEY, b"sessionid=" + KEY[:-1], b"sessionid=%00",
    b"sessionid=' or '1'='1", b"sessionid=%s", b"sessionid=\\", b"sessionid=\xff\xfe", b"sessionid=\xc3\xa9", b"\xff=1",
    b"sessionid=" + b"a" * 5000, b'sessionid="\\000"',
)  # fmt: skip
# A valid session among other things.
ACCEPTED = (
    VALID, b"a=b; " + VALID, VALID + b"; a=b", b"theme=dark; " + VALID + b"; lang=en-GB; _ga=GA1.2.3",
    b"xsessionid=1; " + VALID, b"a=; " + VALID,
)  # fmt: skip


def assert_unauthorized(backend: Backend, path: str) -> None:
    """No session, an empty one, one that nobody has and one that has ended are 401."""
    for key in (None, "", "unknown", expired(1)):
        assert_error(backend.get(path, key), 401, what=f"{path} with the session {key!r}")


@for_scenario("recipe", "recipes")
def check_plain_sessions(backend: Backend) -> None:
    """Without a valid session both paths are 401."""
    for path in (RECIPES, f"{RECIPES}/1"):
        assert_unauthorized(backend, path)


@for_scenario("recipe")
def check_odd_sessions(backend: Backend) -> None:
    """Cookies that no browser sends are 401, and never another error."""
    for value in ODD:
        answer = backend.request("GET", f"{RECIPES}/1", [(b"cookie", value)])
        assert_error(answer, 401, what=f"the cookie {value[:60]!r}")


@for_scenario("recipe")
def check_accepted_sessions(backend: Backend) -> None:
    """A valid session works among other cookies."""
    for value in ACCEPTED:
        assert_golden(backend.request("GET", f"{RECIPES}/1", [(b"cookie", value)]), 1)


CHECKS = (check_plain_sessions, check_odd_sessions, check_accepted_sessions)
