"""The bodies of the contract's errors."""

from contract_checks.backend import Answer

WORDS = {
    400: "bad request",
    401: "unauthorized",
    404: "not found",
    405: "method not allowed",
    413: "payload too large",
    422: "unprocessable content",
    503: "database unavailable",
}


def assert_error(answer: Answer, *statuses: int, what: str) -> None:
    """Fails unless the answer is one of these errors, with exactly the body that belongs to it."""
    assert answer.status in statuses, f"{what}: expected {' or '.join(map(str, statuses))}, got {answer}"
    expected = f'{{"error":"{WORDS[answer.status]}"}}'.encode()
    assert answer.body == expected, f"{what}: expected the body {expected!r}, got {answer}"
    assert answer.headers.get("content-type") == "application/json", f"{what}: {answer}"
    length = answer.headers.get("content-length")
    assert length in (None, str(len(expected))), (
        f"{what}: Content-Length is {length}, the body has {len(expected)}"
    )
