"""The committed golden bodies, and who may see which recipe (from contract/sql/seed.sql at scale 1)."""

import csv
import hashlib
from dataclasses import dataclass
from functools import cache

from contract_checks.backend import Answer
from contract_checks.catalog import CONTRACT
from contract_checks.errors import Failed

FOLDER = CONTRACT / "golden"
BLOCK, USERS = 50, 40
RECIPES = "/api/v1/recipes"


@dataclass(frozen=True)
class Golden:
    bytes: int
    sha256: str


def _table(name: str) -> dict[int, Golden]:
    with (FOLDER / name).open() as lines:
        return {
            int(row["id"]): Golden(int(row["bytes"]), row["sha256"])
            for row in csv.DictReader(lines, delimiter="\t")
        }


@cache
def table() -> dict[int, Golden]:
    """Size and digest of the body of each recipe of scale 1, deleted ones included."""
    return _table("recipes.tsv")


@cache
def dashboards() -> dict[int, Golden]:
    """Size and digest of the dashboard of each user."""
    return _table("dashboards.tsv")


@cache
def bodies() -> dict[int, bytes]:
    """The bodies that are committed in full."""
    return {
        int(path.stem.removeprefix("recipe-")): path.read_bytes() for path in FOLDER.glob("recipe-*.json")
    }


def session(user: int) -> str:
    """The key of the user's valid session."""
    return hashlib.md5(f"session {user}".encode()).hexdigest()


def expired(user: int) -> str:
    """The key of the user's session that ended in 2020."""
    return hashlib.md5(f"expired {user}".encode()).hexdigest()


def neighbour(user: int) -> int:
    """The user whose team this user is in, too."""
    return user - 1 if user % 2 == 0 else user + 1


def owned(user: int) -> range:
    """Ids of the recipes of that user, deleted ones included."""
    return range((user - 1) * BLOCK + 1, (user - 1) * BLOCK + 26)


def shared(team: int) -> range:
    """Ids of the recipes of that team, deleted ones included."""
    return range((team - 1) * BLOCK + 26, team * BLOCK + 1)


def visible(user: int) -> list[int]:
    """Ids of the recipes that the user may see."""
    return [key for key in (*owned(user), *shared(user), *shared(neighbour(user))) if key % 25]


def viewer(key: int) -> int:
    """A user who may see the recipe of that id."""
    return (key - 1) // BLOCK + 1


def assert_golden(answer: Answer, key: int) -> None:
    """Fails unless the answer is the golden body of that id, byte for byte."""
    _assert_golden(answer, table()[key], bodies().get(key), f"recipe {key}")


def assert_golden_dashboard(answer: Answer, user: int) -> None:
    """Fails unless the answer is the golden dashboard of that user, byte for byte."""
    full = (FOLDER / "dashboard-1.json").read_bytes() if user == 1 else None
    _assert_golden(answer, dashboards()[user], full, f"the dashboard of user {user}")


def _assert_golden(answer: Answer, expected: Golden, full: bytes | None, what: str) -> None:
    remedy = "contract/README.md, The API: canonical JSON, keys in the order of openapi.yaml; contract/golden has bodies"
    if answer.status != 200 or answer.media_type != "application/json":
        raise Failed(what, answer, "200 with Content-Type: application/json", remedy)
    if full is not None and answer.body != full:
        raise Failed(what, answer, f"its golden body; they part {_difference(full, answer.body)}", remedy)
    found = Golden(len(answer.body), hashlib.sha256(answer.body).hexdigest())
    if found != expected:
        raise Failed(what, answer, f"its golden body, {expected}, not {found}", remedy)


def _difference(golden: bytes, served: bytes) -> str:
    """Where two bodies part, with what stands around."""
    pairs = enumerate(zip(golden, served, strict=False))
    at = next((i for i, (one, other) in pairs if one != other), min(len(golden), len(served)))
    around = slice(max(0, at - 60), at + 60)
    return f"at byte {at}\ngolden ...{golden[around]!r}\nserved ...{served[around]!r}"
