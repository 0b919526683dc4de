"""The golden bodies: what a right answer is."""

import csv
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Golden:
    """Recipe id -> (length in bytes, SHA-256 in hexadecimal)."""

    bodies: dict[int, tuple[int, str]]

    def lengths(self, ids: list[int] | None = None) -> set[int]:
        """Lengths that a right answer can have."""
        chosen = self.bodies if ids is None else {i: self.bodies[i] for i in ids}
        return {length for length, _ in chosen.values()}

    def difference(self, body: bytes) -> str | None:
        """What is wrong with a body, or None if it is the golden body of its own id."""
        try:
            recipe = json.loads(body)["id"]
        except (ValueError, KeyError, TypeError):
            return f"not a recipe: {body[:60]!r}"
        if not isinstance(recipe, int) or recipe not in self.bodies:
            return f"recipe {recipe!r} does not exist"
        length, digest = self.bodies[recipe]
        if len(body) != length or hashlib.sha256(body).hexdigest() != digest:
            return f"the body of recipe {recipe} ({len(body)} bytes) is not the golden one ({length} bytes)"
        return None


def read_golden(file: Path) -> Golden:
    """Reads contract/golden/recipes.tsv."""
    with file.open(newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t")
        return Golden({int(row["id"]): (int(row["bytes"]), row["sha256"]) for row in rows})
