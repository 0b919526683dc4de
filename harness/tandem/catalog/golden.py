"""What a right answer is: the golden bodies and the other kinds that a scenario can name; and the bodies that requests carry."""

import csv
import hashlib
import json
import re
from abc import ABC, abstractmethod
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tandem.catalog.ranges import expand
from tandem.catalog.scenario import Body, Scenario
from tandem.errors import UsageError

# ---- what requests carry ----

HEAD_BYTES = 64
"""Bytes at its beginning that tell a drawn body from all others of its study: the wire is read no further."""


class Sent(NamedTuple):
    """A body, and the right answer to it."""

    body: bytes
    answer: bytes


@dataclass(frozen=True)
class SentBodies:
    """Bodies that a load sends, one drawn for each request. name: another for other bodies."""

    each: tuple[bytes, ...]
    name: str

    @classmethod
    def of(cls, *each: bytes) -> "SentBodies":
        return cls(each, hashlib.sha256(b"\n".join(each)).hexdigest()[:16])


@cache
def drawn(body: Body, digits: int, salt: str) -> tuple[Sent, ...]:
    """`body.drawn` arrays as long as the body's own: each number has as many digits, so that one costs what another does.
    digits: of each sum. salt: of the study."""
    seed = hashlib.sha256(f"{salt} {body.integers_to} {body.repeated}".encode()).digest()
    random = np.random.Generator(np.random.PCG64(int.from_bytes(seed)))
    least = np.array([10 ** (len(str(number)) - 1) for number in body.numbers()])
    found: dict[bytes, Sent] = {}
    while len(found) < body.drawn:
        numbers = random.integers(least, least * 10).tolist()
        if len(str(total := sum(numbers))) == digits:
            text = json.dumps(numbers).encode()
            found[text[:HEAD_BYTES]] = Sent(text, f"Sum: {total}".encode())
    return tuple(found.values())


# ---- JSON of which some values may differ ----
# A path names them by keys with dots between, `*` any key or place of a list: `created_at`, `items.*.id`.


def same(body: bytes, right: bytes, ignored: Sequence[str]) -> bool:
    """Whether two bodies are alike but for the values at these paths."""
    if body == right or not ignored:
        return body == right
    try:
        return bool(without(json.loads(body), ignored) == without(json.loads(right), ignored))
    except ValueError:
        return False


def without(document: Any, paths: Sequence[str]) -> Any:
    """The document with null at each of these paths that it has. It is changed in place."""
    for path in paths:
        *before, last = path.split(".")
        found = [document]
        for step in before:
            found = [value for one in found for _, value in _at(one, step)]
        for one in found:
            for key, _ in [*_at(one, last)]:
                one[key] = None
    return document


def differing(one: Any, other: Any, at: tuple[str, ...] = ()) -> set[str]:
    """Paths at which two documents differ, places of lists as `*`. That of a whole document is empty."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return {path for key in one for path in differing(one[key], other[key], (*at, key))}
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return {path for pair in zip(one, other, strict=True) for path in differing(*pair, (*at, "*"))}
    return set() if one == other else {".".join(at)}


def _at(document: Any, step: str) -> Iterator[tuple[Any, Any]]:
    """Keys and values of one step of a path."""
    items = dict(enumerate(document)) if isinstance(document, list) else document
    if isinstance(items, dict):
        yield from ((key, value) for key, value in items.items() if step in ("*", str(key)))


# ---- right answers ----


class Answers(ABC):
    """Tells right bodies from others."""

    media_type: str | None
    """Media type in Content-Type; None: any."""
    ignored: Sequence[str] = ()
    """Paths in JSON whose values may differ: then so may lengths."""

    @abstractmethod
    def lengths(self) -> set[int]:
        """Lengths in bytes that a right answer can have."""

    def keys(self) -> dict[int, int]:
        """What a right answer can be about -> its length in bytes. Empty where bodies do not name themselves."""
        return {}

    @abstractmethod
    def difference(self, body: bytes, key: int | str | None = None, sent: bytes = b"") -> str | None:
        """What is wrong with a body, or None if it is right. key: what stands for {id} in the request's path. sent: what the
        request carried, or the beginning of it."""


@dataclass(frozen=True)
class Golden(Answers):
    """Bodies that name themselves: id under `key` -> (length in bytes, SHA-256 in hexadecimal)."""

    bodies: dict[int, tuple[int, str]]
    what: str = "recipe"
    key: str = "id"
    media_type: str = "application/json"

    def only(self, ids: list[int]) -> "Golden":
        """The golden bodies of some ids only."""
        return Golden({i: self.bodies[i] for i in ids}, self.what, self.key)

    def lengths(self) -> set[int]:
        return {length for length, _ in self.bodies.values()}

    def keys(self) -> dict[int, int]:
        return {key: length for key, (length, _) in self.bodies.items()}

    def difference(self, body: bytes, key: int | str | None = None, sent: bytes = b"") -> str | None:
        try:
            found = json.loads(body)[self.key]
        except (ValueError, KeyError, TypeError):
            return f"not a {self.what}: {body[:60]!r}"
        if key is not None and found != key:
            return f"{self.what} {found!r} for {self.what} {key}"
        if not isinstance(found, int) or found not in self.bodies:
            return f"{self.what} {found!r} does not exist"
        length, digest = self.bodies[found]
        if len(body) != length or hashlib.sha256(body).hexdigest() != digest:
            return (
                f"the body of {self.what} {found} ({len(body)} bytes) is not the golden one ({length} bytes)"
            )
        return None


@dataclass(frozen=True)
class Exact(Answers):
    """One body, always the same, or one for each value in a request's path."""

    body: bytes | Mapping[str, bytes]
    media_type: str | None = None
    """Media type in Content-Type; None: any."""
    ignored: Sequence[str] = ()

    def lengths(self) -> set[int]:
        return {len(body) for body in ([self.body] if isinstance(self.body, bytes) else self.body.values())}

    def difference(self, body: bytes, key: int | str | None = None, sent: bytes = b"") -> str | None:
        right = self.body if isinstance(self.body, bytes) else self.body.get(str(key), b"")
        return None if same(body, right, self.ignored) else f"{body[:60]!r} is not {right[:60]!r}"


@dataclass(frozen=True)
class Sums(Answers):
    """`Sum: N` for the numbers that were sent. body: whose arrays are drawn; salt: of the study."""

    body: Body
    digits: int
    salt: str = ""
    media_type: str = "text/plain"

    @property
    def sent(self) -> tuple[Sent, ...]:
        """All that can be sent."""
        return drawn(self.body, self.digits, self.salt)

    @cached_property
    def bodies(self) -> SentBodies:
        """All bodies that can be sent, as a load sends them."""
        return SentBodies.of(*(one.body for one in self.sent))

    @cached_property
    def _answers(self) -> dict[bytes, bytes]:
        """Beginning of a body -> the right answer."""
        return {one.body[:HEAD_BYTES]: one.answer for one in self.sent}

    def lengths(self) -> set[int]:
        return {len("Sum: ") + self.digits}

    def knows(self, sent: bytes) -> bool:
        """Whether so much was seen of a body that it is one of ours."""
        return sent[:HEAD_BYTES] in self._answers

    def difference(self, body: bytes, key: int | str | None = None, sent: bytes = b"") -> str | None:
        right = self._answers.get(sent[:HEAD_BYTES])
        if right is None:
            return f"nobody sent {sent[:20]!r}"
        return None if body == right else f"{body[:60]!r} is not {right!r}, the sum of what was sent"


@dataclass(frozen=True)
class Created(Answers):
    """`{"id":N}`, N a positive number that the database gave."""

    media_type: str = "application/json"

    def lengths(self) -> set[int]:
        return set(range(len('{"id":1}'), len('{"id":2147483647}') + 1))

    def difference(self, body: bytes, key: int | str | None = None, sent: bytes = b"") -> str | None:
        right = re.fullmatch(rb'\{"id":[1-9][0-9]{0,9}\}', body)
        return None if right else f'{body[:60]!r} is not {{"id":N}}'


TABLES = {"recipes": ("recipe", "id"), "dashboards": ("dashboard", "user_id")}
"""Tables in the order of contract/sql/golden.sql: what a body is, and under which key it names itself."""

type Tables = Mapping[str, Golden]


def read_golden(file: Path) -> Golden:
    """Reads contract/golden/recipes.tsv or dashboards.tsv."""
    with file.open(newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t")
        bodies = {int(row["id"]): (int(row["bytes"]), row["sha256"]) for row in rows}
    return Golden(bodies, *TABLES[file.stem])


def of_bodies(results: Sequence[Mapping[int, bytes]]) -> Tables:
    """The tables of other data than those of contract/golden. results: of contract/sql/golden.sql."""
    return {
        name: Golden(
            {key: (len(body), hashlib.sha256(body).hexdigest()) for key, body in bodies.items()}, *of
        )
        for (name, of), bodies in zip(TABLES.items(), results, strict=False)
    }


def recipes_of(scenario: Scenario) -> list[int]:
    """Recipes that can come; empty: any."""
    return scenario.expanded_ids or expand(",".join(scenario.answer.ids))


def bodies_of(scenario: Scenario, answers: Answers) -> SentBodies | None:
    """What requests carry, where they carry something."""
    if isinstance(answers, Sums):
        return answers.bodies
    return SentBodies.of(scenario.body.bytes()) if scenario.body else None


def read_answers(scenario: Scenario, contract: Path, own: Tables | None = None, salt: str = "") -> Answers:
    """What a scenario's answers are compared with. own: where the data are not those of contract/golden. salt: of the
    study. Raises UsageError where it names what does not exist."""
    answer = scenario.answer
    if answer.sum_digits is not None:
        assert scenario.body is not None
        return Sums(scenario.body, answer.sum_digits, salt)
    if answer.golden is not None:
        golden = own[answer.golden] if own else read_golden(contract / f"golden/{answer.golden}.tsv")
        ids = recipes_of(scenario)
        if answer.golden == "dashboards":
            if scenario.session_user is None:
                raise UsageError(f"scenario {scenario.name}: a dashboard needs `session_user`")
            ids = [scenario.session_user]
        return golden.only(ids) if ids else golden
    if answer.file is not None:
        try:
            return Exact((contract / answer.file).read_bytes(), "text/html")
        except OSError as error:
            raise UsageError(
                f"scenario {scenario.name}: answer -> file: {answer.file}: {error.strerror}"
            ) from None
    if answer.created is not None:
        return Created()
    body: bytes | dict[str, bytes]
    if answer.texts is not None:
        body = {key: text.encode() for key, text in answer.texts.items()}
    else:
        body = (answer.text or "").encode() if answer.base64 is None else b64decode(answer.base64)
    return Exact(body, answer.media_type or None, answer.ignore)
