"""The committed golden bodies, and who may see which recipe (from contract/sql/seed.sql at scale 1)."""

import csv
import hashlib
from functools import cache
from typing import NamedTuple

from contract_checks.backend import Answer
from contract_checks.catalog import CONTRACT
from contract_checks.errors import Failed

FOLDER = CONTRACT / "golden"
BLOCK, USERS = 50, 40
RECIPES = "/api/v1/recipes"


class Golden(NamedTuple):
    bytes: int
    sha256: str


def digest(body: bytes) -> Golden:
    return Golden(len(body), hashlib.sha256(body).hexdigest())


@cache
def table(name: str = "recipes") -> dict[int, Golden]:
    """Size and digest of the body of each recipe of scale 1, deleted ones included, or of each user's dashboard."""
    with (FOLDER / f"{name}.tsv").open() as lines:
        rows = csv.DictReader(lines, delimiter="\t")
        return {int(row["id"]): Golden(int(row["bytes"]), row["sha256"]) for row in rows}


@cache
def bodies(name: str = "recipe") -> dict[int, bytes]:
    """The bodies that are committed in full."""
    return {int(path.stem.rpartition("-")[2]): path.read_bytes() for path in FOLDER.glob(f"{name}-*.json")}


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
    full = bodies("dashboard").get(user)
    _assert_golden(answer, table("dashboards")[user], full, f"the dashboard of user {user}")


def _assert_golden(answer: Answer, expected: Golden, full: bytes | None, what: str) -> None:
    remedy = "contract/README.md, The API: canonical JSON, keys in the order of openapi.yaml; contract/golden has bodies"
    if answer.status != 200 or answer.media_type != "application/json":
        raise Failed(what, answer, "200 with Content-Type: application/json", remedy)
    found = digest(answer.body)
    if found != expected:
        told = f"{expected}, not {found}" if full is None else _difference(full, answer.body)
        raise Failed(what, answer, f"its golden body, {told}", remedy)


def _difference(golden: bytes, served: bytes) -> str:
    """Where two bodies part, with what stands around."""
    shorter = min(len(golden), len(served))
    at = next((at for at in range(shorter) if golden[at] != served[at]), shorter)
    around = slice(max(0, at - 60), at + 60)
    return f"which it leaves at byte {at}\ngolden ...{golden[around]!r}\nserved ...{served[around]!r}"
