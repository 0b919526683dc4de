"""The scenario with CPU work and waiting: what is accepted, what it adds up to, how long it takes."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import httpx

from contract_checks.backend import Answer, Backend
from contract_checks.errors import assert_error
from contract_checks.needs import for_model, for_scenario
from contract_checks.users import assert_text

INT_MAX, INT_MIN = 2**31 - 1, -(2**31)
LARGE_BYTES, LARGE_SUM = 515_176, 1_523_760
ROUNDS, PAIRS, NEW_BY_KNOWN_MOST = 3, 8, 1.5
"""Whoever remembers is slower with what is new in each round. The quickest of a round's requests count: whatever else
happens on the machine only adds to a time."""
SUMS = (
    (b"[]", 0), (b"[1]", 1), (b"[1,2,3]", 6), (b" \t\r\n[ 1 , 2\n, -3 ]\n", 0), (b"[0]", 0), (b"[-5,2]", -3),
    (f"[{INT_MAX}]".encode(), INT_MAX), (f"[{INT_MIN}]".encode(), INT_MIN),
    (f"[{INT_MAX},{INT_MIN}]".encode(), -1), (f"[{INT_MAX},1]".encode(), INT_MAX + 1),
    (b"[%s]" % b",".join([b"2147483647"] * 5000), INT_MAX * 5000),
    (b"[%s]" % b",".join([b"-2147483648"] * 5000), INT_MIN * 5000),
)  # fmt: skip
NOT_JSON = (
    b"", b" ", b"[", b"]", b"[1", b"[1,", b"[1,]", b"[,1]", b"[1 2]", b"[1]]", b"[1][2]", b"[1] x", b"x",
    b"[01]", b"[+1]", b"[1.]", b"[.5]", b"[0x1]", b"[1e]", b"[NaN]", b"[Infinity]", b"[-]", b"['1']",
    b"[1]//x", b"/**/[1]", b"[\"\\x\"]", b"[\"\n\"]", b"nul", b"\xff\xfe[\x001\x00]\x00",
    "[1]".encode("utf-16"), "[1]".encode("utf-16-be"), b"[\"\xff\"]", b"[\"\xc3\"]", b"\x00", b"[1]\x00", b"\x0c[1]",
)  # fmt: skip
OTHER_SHAPE = (
    b"{}", b"null", b"true", b"1", b"\"1\"", b"{\"0\":1}", b"[null]", b"[true]", b"[1,false]", b"[\"1\"]",
    b"[[1]]", b"[{}]", b"[1.5]", b"[1,2.25]", b"[2147483648]", b"[-2147483649]", b"[4294967296]",
    b"[9223372036854775807]", b"[9223372036854775808]", b"[1,2,\"3\"]",
    b"[1e0]", b"[1.0]", b"[1E2]", b"[10e-1]", b"[100e-2]", b"[-1.0]",
)  # fmt: skip
# Parsers differ in whether they call these JSON, but nobody may add them, or fall over them.
EITHER = (
    b"[1e400]", b"[-1e400]", b"[" + b"9" * 400 + b"]", b"[" + b"9" * 5000 + b"]", b"[\"\\ud800\"]",
    b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000,
    b"{\"a\":" * 100_000, b"[1," * 50_000 + b"1" + b"]" * 50_000, b"[\"" + b"x" * 100_000 + b"\"]",
)  # fmt: skip
BAD_DELAYS = (
    "", "-1", "%2B1", "1.5", "1e3", "abc", "0x10", "10001", "99999", "2147483648", "4294967296",
    "18446744073709551616", "9" * 200, "1ms", "%201", "1%20", "1%00", "%00", "%D9%A1", "%EF%BC%91", "null",
    "NaN", "1_0", "1,0", "%FF", "1&delay_ms=1", "1&delay_ms=2", "x&delay_ms=1", "1&delay_ms=x", "1&x=2&delay_ms=",
)  # fmt: skip


# What a client sends by mistake: status, body, query.
PLAIN_MISTAKES = (
    (400, b"", ""), (400, b"x", ""), (400, b"[1,", ""), (422, b"{}", ""), (422, b"[\"1\"]", ""), (422, b"[1.5]", ""),
    (422, b"[2147483648]", ""), (400, b"[1]", "?delay_ms=-1"), (400, b"[1]", "?delay_ms=abc"),
    (400, b"[1]", "?delay_ms=1.5"), (400, b"[1]", "?delay_ms=10001"),
)  # fmt: skip


def post(backend: Backend, body: bytes, query: str = "") -> Answer:
    """POST /work"""
    return backend.request("POST", f"/work{query}", content=body)


def large() -> bytes:
    """1 to 20, 7,256 times over: the body of the scenario work-large."""
    return json.dumps(list(range(1, 21)) * 7256).encode()


@for_scenario("work")
def check_work_sums(backend: Backend) -> None:
    """The sum of what was sent, exactly, also beyond 32 bits."""
    for body, total in SUMS:
        assert_text(post(backend, body), f"Sum: {total}", f"POST /work {body[:60]!r}")
    answer = backend.request("POST", "/work", [(b"content-type", b"text/html")], content=b"[4]")
    assert_text(answer, "Sum: 4", "POST /work with another Content-Type")
    with ThreadPoolExecutor(8) as pool:
        totals = list(range(200))
        answers = list(pool.map(lambda n: post(backend, b"[%d,1]" % n), totals))
    for total, answer in zip(totals, answers, strict=True):
        assert_text(answer, f"Sum: {total + 1}", "POST /work, eight at once")


@for_scenario("work-large")
def check_work_large(backend: Backend) -> None:
    """The body of the scenario work-large, several at once."""
    assert len(large()) == LARGE_BYTES
    with ThreadPoolExecutor(4) as pool:
        for answer in pool.map(lambda _: post(backend, large()), range(8)):
            assert_text(answer, f"Sum: {LARGE_SUM}", "POST /work with the large body")


@for_scenario("work-large")
def check_work_not_remembered(backend: Backend) -> None:
    """A body that came before is parsed and added like one that is new: it takes as long."""
    known, found = large(), list[float]()
    for turn in range(ROUNDS):
        again, new = [], []
        for n in range(PAIRS):
            # As long, and with the same sum: one of the numbers trades places with its neighbour.
            at = 1 + 3 * (1 + turn * PAIRS + n) * 101
            other = known[:at] + known[at:].replace(b"1, 2, 3", b"2, 1, 3", 1)
            assert len(other) == LARGE_BYTES
            for body, times in ((known, again), (other, new)):
                answer = post(backend, body)
                assert_text(answer, f"Sum: {LARGE_SUM}", "POST /work with the large body")
                times.append(answer.seconds)
        found.append(min(new[1:]) / min(again[1:]))
        if found[-1] < NEW_BY_KNOWN_MOST:
            return
    raise AssertionError(f"a new body takes {min(found):.1f} times as long as one that was sent before")


@for_scenario("work")
def check_work_mistakes(backend: Backend) -> None:
    """The mistakes that clients make: no JSON is 400, another shape 422, a delay that is none 400."""
    for status, body, query in PLAIN_MISTAKES:
        assert_error(post(backend, body, query), status, what=f"POST /work{query} {body!r}")


@for_scenario("work")
def check_work_bodies(backend: Backend) -> None:
    """What is not JSON is 400, what is JSON of another shape 422, and nothing is 500."""
    for status, bodies in ((400, NOT_JSON), (422, OTHER_SHAPE)):
        for body in bodies:
            assert_error(post(backend, body), status, what=f"POST /work {body[:60]!r}")
    for body in EITHER:
        assert_error(post(backend, body), 400, 422, what=f"POST /work {body[:60]!r}")
    assert_text(post(backend, b"[1]"), "Sum: 1", "POST /work after all that")


@for_scenario("work")
def check_work_delay_values(backend: Backend) -> None:
    """delay_ms is digits from 0 to 10000, once, percent-encoded or not; anything else is 400, before the body is looked at."""
    for value in BAD_DELAYS:
        for body in (b"[1]", b"{}", b"x"):
            assert_error(post(backend, body, f"?delay_ms={value}"), 400, what=f"delay_ms={value[:40]}")
    for query in (
        "?",
        "?delay_ms=0",
        "?x=abc",
        "?xdelay_ms=abc",
        "?delay_msx=abc",
        "?a=%00&delay_ms=1",
        "?delay_ms=1&b=%FF",
    ):
        assert_text(post(backend, b"[1]", query), "Sum: 1", f"POST /work{query}")
    assert_error(post(backend, b"[1]", "?delay_ms"), 400, what="delay_ms without a value")
    # Names and values of a query may be percent-encoded.
    for query in ("?delay_ms=%31%30", "?%64elay%5Fms=1", "?a=%zz&delay_ms=1"):
        assert_text(post(backend, b"[1]", query), "Sum: 1", f"POST /work{query}")
    for query in ("?%64elay_ms=x", "?delay_ms=1&%64elay_ms=1"):
        assert_error(post(backend, b"[1]", query), 400, what=f"POST /work{query}")
    # Accepted: the answer is still to come when the client has lost its patience.
    for delay_ms in (5000, 10000):
        try:
            answer = httpx.post(
                f"{backend.url}/work?delay_ms={delay_ms}", content=b"[1]", timeout=0.6, trust_env=False
            )
        except httpx.ReadTimeout:
            continue
        raise AssertionError(
            f"delay_ms={delay_ms}: after half a second {answer.status_code} {answer.content!r}"
        )


@for_scenario("work")
def check_work_waits(backend: Backend) -> None:
    """The answer comes after the delay and not much later; nothing is waited for when the body is refused."""
    for delay_ms in (50, 300, 1000):
        took_s = min(_timed(backend, f"?delay_ms={delay_ms}") for _ in range(3))
        late_s = took_s - delay_ms / 1000
        assert -0.002 <= late_s <= 0.5, f"delay_ms={delay_ms}: answered after {took_s * 1000:.0f} ms"
    answer = post(backend, b"{}", "?delay_ms=3000")
    assert_error(answer, 422, what="a body of another shape with a delay")
    assert answer.seconds < 2, f"422 came only after {answer.seconds:.1f} s"


def _timed(backend: Backend, query: str) -> float:
    began = time.monotonic()
    assert_text(post(backend, b"[1,2]", query), "Sum: 3", f"POST /work{query}")
    return time.monotonic() - began


@for_model("async")
@for_scenario("work")
def check_work_overlaps(backend: Backend) -> None:
    """100 requests that wait 200 ms each are all waiting at once; in turn they would take 20 s."""
    with ThreadPoolExecutor(100) as pool:
        began = time.monotonic()
        try:
            for answer in pool.map(lambda n: post(backend, b"[%d]" % n, "?delay_ms=200"), range(100)):
                assert answer.status == 200, f"one of 100 requests at once: {answer}"
        except httpx.TimeoutException as error:
            raise AssertionError(f"one of 100 requests at once that wait 0.2 s each: {error!r}") from None
        took_s = time.monotonic() - began
    assert took_s < 5, f"100 requests at once that wait 0.2 s each took {took_s:.1f} s"


CHECKS = (
    check_work_sums,
    check_work_large,
    check_work_mistakes,
    check_work_not_remembered,
    check_work_bodies,
    check_work_delay_values,
    check_work_waits,
    check_work_overlaps,
)
