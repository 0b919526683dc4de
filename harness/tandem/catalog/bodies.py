"""Bodies of requests that a study draws, and the answer that is right for each. Pure."""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from tandem.catalog.scenario import Body

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
