"""Sessions as clients should not send them: 401 or, where that is fair, the right answer; never 500."""

from contract_checks.backend import Backend
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, assert_golden, expired, session
from contract_checks.needs import for_scenario

KEY = session(1).encode()
VALID = b"sessionid=" + KEY

# No valid session by any reading.
REFUSED = (
    b"", b"sessionid", b"sessionid=", b"=", b";", b"; ;", b"sessionid=unknown",
    b"sessionid=" + expired(1).encode(), b"sessionid=" + KEY[:-1], b"sessionid=" + KEY + b"0",
    b"sessionid=x" + KEY, b"SESSIONID=" + KEY, b"xsessionid=" + KEY, b"sessionid2=" + KEY,
    b"session=" + KEY, b"x=sessionid=" + KEY, b"x=1; y=2", b"sessionid=%00",
    b"sessionid=" + KEY + b"%00", b"sessionid=' or '1'='1", b"sessionid=' or 1=1 --",
    b"sessionid='; drop table core_recipe; --", b"sessionid=$1", b"sessionid=%s", b"sessionid=%(p1)s",
    b"sessionid=\\", b"sessionid=_%", b"sessionid=\xff\xfe", b"sessionid=\xc3\xa9", b"\xff=1",
    b"sessionid=\xc3", b"sessionid=\xf0\x9f\x8d\xb2", b"sessionid=" + b"a" * 5000, b"sessionid=\"",
    b"sessionid=\"\\000\"", b"sessionid={}", b"sessionid=None", b"sessionid=null", b"a=" + b"b" * 3000,
    b"; ".join(b"c%d=1" % i for i in range(200)),
)  # fmt: skip
# A valid session among other things.
ACCEPTED = (
    VALID,
    b"a=b; " + VALID,
    VALID + b"; a=b",
    b"theme=dark; " + VALID + b"; lang=en-GB; _ga=GA1.2.3",
    b"xsessionid=1; " + VALID,
    b"a=; " + VALID,
)
# RFC 6265 leaves these to the server: two values of one name, quotes, blanks, junk beside it.
EITHER = (
    VALID + b"; sessionid=unknown",
    b"sessionid=unknown; " + VALID,
    b'sessionid="' + KEY + b'"',
    b"sessionid = " + KEY,
    b"a=b," + VALID,
    b"a=b;" + VALID,
    b"\xff=\xff; " + VALID,
    b"a b; " + VALID,
    b"{}; " + VALID,
)


@for_scenario("recipe", "recipes")
def check_plain_sessions(backend: Backend) -> None:
    """No session, an empty one, one that nobody has and one that has ended are 401 on both paths."""
    for path in (RECIPES, f"{RECIPES}/1"):
        for key in (None, "", "unknown", expired(1)):
            assert_error(backend.get(path, key), 401, what=f"{path} with the session {key!r}")


@for_scenario("recipe", "recipes")
def check_refused_sessions(backend: Backend) -> None:
    """Missing, unknown, expired and odd sessions are 401 on both paths."""
    for path in (RECIPES, f"{RECIPES}/1"):
        assert_error(backend.get(path), 401, what=f"{path} without a cookie")
        for value in REFUSED:
            answer = backend.request("GET", path, [(b"cookie", value)])
            assert_error(answer, 401, what=f"{path} with the cookie {value[:60]!r}")


@for_scenario("recipe")
def check_accepted_sessions(backend: Backend) -> None:
    """A valid session works among other cookies."""
    for value in ACCEPTED:
        assert_golden(backend.request("GET", f"{RECIPES}/1", [(b"cookie", value)]), 1)


@for_scenario("recipe")
def check_doubtful_sessions(backend: Backend) -> None:
    """What may be read either way is the right answer or 401, never another error."""
    several = [(b"a=b", VALID), (VALID, b"sessionid=unknown")]  # as two headers
    for values in [(value,) for value in EITHER] + several:
        headers = [(b"cookie", value) for value in values]
        answer = backend.request("GET", f"{RECIPES}/1", headers)
        if answer.status == 200:
            assert_golden(answer, 1)
        else:
            assert_error(answer, 401, what=f"{headers}")


CHECKS = (check_plain_sessions, check_refused_sessions, check_accepted_sessions, check_doubtful_sessions)
