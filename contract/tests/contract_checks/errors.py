"""What a check says when it fails, and which answers are refusals as the contract has them."""

from contract_checks.backend import Answer

ODD = (400, 422)
"""A body, an id or a value that makes no sense: frameworks differ in which they say."""
OWN = {401: "unauthorized", 503: "database unavailable"}
"""Refusals that the program writes itself. All others may be the framework's, with any body."""


class Undecided(Exception):
    """What a check looks at cannot be told here. It is held against nobody."""


class Failed(AssertionError):
    """An answer that is not the one of the contract. remedy: where the contract says what it has to be."""

    def __init__(self, what: str, answer: Answer, expected: str, remedy: str) -> None:
        super().__init__(f"{what}: expected {expected}, got {answer}")
        self.what, self.expected, self.remedy = what, expected, remedy
        self.request, self.received = answer.asked, str(answer)


def assert_answer(answer: Answer, status: int, body: str, kind: str, what: str, remedy: str = "") -> None:
    """Fails unless the answer has this status, this body and this media type."""
    if (answer.status, answer.body, answer.media_type) != (status, body.encode(), kind):
        remedy = remedy or "contract/README.md, the section of the scenario"
        raise Failed(what, answer, f"{status} with {body[:300]} as {kind}", remedy)


def assert_error(answer: Answer, *statuses: int, what: str) -> None:
    """Fails unless the answer has one of these statuses, and the body that belongs to it where the program writes it."""
    remedy = "contract/README.md, Refusals"
    if answer.status not in statuses:
        raise Failed(what, answer, " or ".join(map(str, statuses)), remedy)
    if word := OWN.get(answer.status):
        assert_answer(answer, answer.status, f'{{"error":"{word}"}}', "application/json", what, remedy)
