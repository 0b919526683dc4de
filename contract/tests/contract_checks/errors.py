"""What a check says when it fails, and the bodies of the contract's errors."""

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


class Undecided(Exception):
    """What a check looks at cannot be told here. It is held against nobody."""


class Failed(AssertionError):
    """An answer that is not the one of the contract. remedy: where the contract says what it has to be."""

    def __init__(self, what: str, answer: Answer, expected: str, remedy: str) -> None:
        super().__init__(f"{what}: expected {expected}, got {answer}")
        self.what, self.expected, self.remedy = what, expected, remedy
        self.request, self.received = answer.asked, str(answer)


def assert_error(answer: Answer, *statuses: int, what: str) -> None:
    """Fails unless the answer is one of these errors, with exactly the body that belongs to it."""
    name = " or ".join(map(str, statuses))
    body = f'{{"error":"{WORDS[answer.status if answer.status in statuses else statuses[0]]}"}}'.encode()
    remedy = "contract/README.md, Order of refusal: which status goes first, and its body"
    if answer.status not in statuses or answer.body != body:
        raise Failed(what, answer, f"{name} with the body {body.decode()}", remedy)
    if answer.headers.get("content-type") != "application/json":
        raise Failed(what, answer, f"{name} with Content-Type: application/json", remedy)
    length = answer.headers.get("content-length")
    if length not in (None, str(len(body))):
        raise Failed(what, answer, f"Content-Length: {len(body)}, as the body has, not {length}", remedy)
