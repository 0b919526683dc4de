"""The scenario with CPU work and waiting: what is accepted, what it adds up to, how long it takes."""

import json
import time

import httpx

from contract_checks.backend import Answer, Backend
from contract_checks.crowds import at_once
from contract_checks.errors import ODD, assert_error
from contract_checks.needs import for_model, for_scenario
from contract_checks.users import assert_text

INT_MAX, INT_MIN = 2**31 - 1, -(2**31)
LARGE_SUM = 1_523_760
SUMS = (
    (b"[]", 0), (b"[1]", 1), (b"[1,2,3]", 6), (b" \t\r\n[ 1 , 2\n, -3 ]\n", 0), (b"[0]", 0), (b"[-5,2]", -3),
    (f"[{INT_MAX}]".encode(), INT_MAX), (f"[{INT_MIN}]".encode(), INT_MIN),
    (f"[{INT_MAX},{INT_MIN}]".encode(), -1), (f"[{INT_MAX},1]".encode(), INT_MAX + 1),
    (b"[%s]" % b",".join([b"2147483647"] * 5000), INT_MAX * 5000),
    (b"[%s]" % b",".join([b"-2147483648"] * 5000), INT_MIN * 5000),
)  # fmt: skip
NOT_JSON = (b"", b"[", b"[1,", b"[1,]", b"[1 2]", b"[1] x", b"x")
OTHER_SHAPE = (
    b"{}", b"null", b"true", b"1", b"[null]", b"[\"1\"]", b"[[1]]", b"[1.5]", b"[2147483648]", b"[-2147483649]",
)  # fmt: skip
BAD_DELAYS = ("", "-1", "abc", "1.5", "10001")
JSON = [(b"content-type", b"application/json")]


def post(backend: Backend, body: bytes, query: str = "") -> Answer:
    """POST /work"""
    return backend.request("POST", f"/work{query}", JSON, body)


def large() -> bytes:
    """1 to 20, 7,256 times over: the body of the scenario work-large."""
    return json.dumps(list(range(1, 21)) * 7256).encode()


@for_scenario("work")
def check_work_sums(backend: Backend) -> None:
    """The sum of what was sent, exactly, also beyond 32 bits."""
    for body, total in SUMS:
        assert_text(post(backend, body), f"Sum: {total}", f"POST /work {body[:60]!r}")
    for total, answer in enumerate(at_once(8, 200, lambda n: post(backend, b"[%d,1]" % n)), 1):
        assert_text(answer, f"Sum: {total}", "POST /work, eight at once")


@for_scenario("work-large")
def check_work_large(backend: Backend) -> None:
    """The body of the scenario work-large, several at once."""
    for answer in at_once(4, 8, lambda _: post(backend, large())):
        assert_text(answer, f"Sum: {LARGE_SUM}", "POST /work with the large body")


@for_scenario("work")
def check_work_mistakes(backend: Backend) -> None:
    """The mistakes that clients make are 400 or 422: no JSON, another shape, a number that is none, a delay that is none."""
    for body in (*NOT_JSON, *OTHER_SHAPE):
        assert_error(post(backend, body), *ODD, what=f"POST /work {body!r}")
    for value in BAD_DELAYS:
        assert_error(post(backend, b"[1]", f"?delay_ms={value}"), *ODD, what=f"delay_ms={value}")
    assert_text(post(backend, b"[1]", "?x=1"), "Sum: 1", "POST /work?x=1")


@for_scenario("work")
def check_work_waits(backend: Backend) -> None:
    """The answer comes after the delay and not much later; nothing is waited for when the body is refused."""
    for delay_ms in (50, 300, 1000):
        answer = post(backend, b"[1,2]", f"?delay_ms={delay_ms}")
        assert_text(answer, "Sum: 3", f"delay_ms={delay_ms}")
        late_s = answer.seconds - delay_ms / 1000
        assert -0.002 <= late_s <= 0.5, f"delay_ms={delay_ms}: answered after {answer.seconds:.3f} s"
    answer = post(backend, b"{}", "?delay_ms=3000")
    assert_error(answer, *ODD, what="a body of another shape with a delay")
    assert answer.seconds < 2, f"the refusal came only after {answer.seconds:.1f} s"


@for_model("async")
@for_scenario("work")
def check_work_overlaps(backend: Backend) -> None:
    """100 requests that wait 200 ms each are all waiting at once; in turn they would take 20 s."""
    began = time.monotonic()
    try:
        answers = at_once(100, 100, lambda n: post(backend, b"[%d]" % n, "?delay_ms=200"))
    except httpx.TimeoutException as error:
        raise AssertionError(f"one of 100 requests at once that wait 0.2 s each: {error!r}") from None
    for number, answer in enumerate(answers):
        assert_text(answer, f"Sum: {number}", "one of 100 requests at once")
    took_s = time.monotonic() - began
    assert took_s < 5, f"100 requests at once that wait 0.2 s each took {took_s:.1f} s"


CHECKS = (check_work_sums, check_work_large, check_work_mistakes, check_work_waits, check_work_overlaps)
