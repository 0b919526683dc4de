"""The statements that a request runs, counted by PostgreSQL itself."""

import json
import re
from collections import Counter
from functools import cache
from typing import NamedTuple

from contract_checks.backend import Answer, Backend
from contract_checks.catalog import CONTRACT, ROOT
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, assert_golden, expired, session, visible
from contract_checks.needs import for_scenario
from contract_checks.stack import Stack

N = 10
PARTS = ("ingredients", "steps", "sections", "notes", "reactions", "timeline_events")
KINDS = {"ingredient": "ingredients", "section": "sections", "note": "notes", "event": "timeline_events"}
"""Of what a body shows, the statement that gives it."""
STATISTICS = """
    select s.query, s.calls::int, s.rows::int
    from pg_stat_statements as s
    inner join pg_roles as r on r.oid = s.userid
    where r.rolname = 'app'
"""


class Statement(NamedTuple):
    """How often one text ran and how many rows it gave."""

    text: str
    calls: int
    rows: int


def normal(text: str) -> str:
    """One form for a statement: lower case, single blanks, no comments, one mark for any value and any list of them.

    PostgreSQL numbers the constants of a text that it shows, so numbers cannot be compared.
    """
    text = re.sub(r"--[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL).strip().rstrip(";")
    text = re.sub(r"\s+", " ", re.sub(r"\$\d+|\b\d+\b", "?", text)).strip().lower()
    return re.sub(r"\bin \((\?(?:::\w+)?)(?:, ?\1)+\)", r"in (\1)", text)


@cache
def queries(name: str = "") -> dict[str, str]:
    """The statements of the contract, and those that the implementation of that name has instead: normal form -> name."""
    folders = (CONTRACT / "sql" / "queries", ROOT / name / "sql")
    files = [path for folder in folders for path in folder.glob("*.sql")]
    return {normal(path.read_text()): path.name.partition(".")[0] for path in files}


def reset(stack: Stack) -> None:
    """Sets the counters to zero."""
    stack.query("select pg_stat_statements_reset()")


def seen(stack: Stack, name: str = "") -> list[Statement]:
    """What the role of the application has run since; a statement of the contract goes by its name. name: of the implementation."""
    calls, rows = Counter[str](), Counter[str]()
    for text, times, given in stack.query(STATISTICS):
        key = queries(name).get(normal(text), normal(text))
        calls[key] += times
        rows[key] += given
    return [Statement(key, calls[key], rows[key]) for key in calls]


def sent(backend: Backend, scenario: str, due: list[str], refused: str = "") -> list[str]:
    """What a request sends. due: by the contract; an implementation may have statements of its own. refused: of these, the last
    one that a refused request sends."""
    own = backend.implementation.statements.get(scenario)
    if own is None or not refused:
        return own or due
    own = own[: own.index(refused) + 1]
    return [*own, *(["rollback"] if "begin" in own else [])]


def _ask(
    backend: Backend, paths: list[str], key: str, due: list[str], what: str
) -> tuple[list[Answer], Counter[str]]:
    """Sends the requests one after the other, each of which has to run the statements that are due; returns the answers,
    and the rows by statement."""
    backend.get(f"{RECIPES}/1", session(1))  # PgBouncer asks `select 1` of a connection that idled long
    reset(backend.stack)
    answers = [backend.get(path, key) for path in paths]
    found = seen(backend.stack, backend.implementation.name)
    calls, expected = {one.text: one.calls for one in found}, dict.fromkeys(due, len(paths))
    assert calls == expected, f"{what}: calls are {calls}, not {expected}"
    return answers, Counter({one.text: one.rows for one in found})


def _recipes(backend: Backend, scenario: str, first: str, paths: list[str], what: str) -> list[Answer]:
    """Recipes, each with the eight statements once and nothing else. The rows that each statement gave are those in the
    bodies: none fetched in vain, none left out."""
    due = sent(backend, scenario, ["session", first, *PARTS])
    answers, rows = _ask(backend, paths, session(1), due, what)
    expected: Counter[str] = Counter()
    for answer in answers:
        assert answer.status == 200, f"{what}: {answer}"
        body = json.loads(answer.body)
        parts = [*body["ingredients"], *body["timeline"]]
        reactions = sum(len(part.get("reactions", ())) for part in parts)
        expected += Counter({"session": 1, first: 1, "steps": len(body["steps"]), "reactions": reactions})
        expected += Counter(KINDS[part["kind"]] for part in parts)
    differ = {name: f"{rows[name]} of {n}" for name, n in expected.items() if rows[name] != n}
    assert not differ, f"{what}: rows that differ from those in the bodies: {differ}"
    return answers


@for_scenario("recipe")
def check_statements_by_id(backend: Backend) -> None:
    """The eight statements once per request and nothing else; the same id again is no exception."""
    keys = [*visible(1)[: N - 2], 1, 1]
    paths = [f"{RECIPES}/{key}" for key in keys]
    answers = _recipes(backend, "recipe", "recipe_by_id", paths, f"{N} recipes by id")
    for key, answer in zip(keys, answers, strict=True):
        assert_golden(answer, key)


@for_scenario("recipes")
def check_statements_random(backend: Backend) -> None:
    """The same for the random recipe."""
    _recipes(backend, "recipes", "recipe_random", [RECIPES] * N, f"{N} random recipes")


@for_scenario("recipe", "recipes")
def check_statements_of_errors(backend: Backend) -> None:
    """A request that is refused stops where it is refused."""
    unheard = sent(backend, "recipe", ["session"], "session")
    hidden = sent(backend, "recipe", ["session", "recipe_by_id"], "recipe_by_id")
    for path, key, status, due in (
        *((path, key, 401, unheard) for path in (RECIPES, f"{RECIPES}/1") for key in ("unknown", expired(1))),
        (f"{RECIPES}/25", session(1), 404, hidden),  # deleted
    ):
        what = f"{path} with the session {key!r}"
        for answer in _ask(backend, [path] * N, key, due, what)[0]:
            assert_error(answer, status, what=what)


@for_scenario("recipe", "recipes")
def check_no_statements(backend: Backend) -> None:
    """Without a valid path, method or id, and for /healthz, the database is left alone."""
    paths = ["/healthz", f"{RECIPES}/0", f"{RECIPES}/abc", f"{RECIPES}/2147483648", "/nothing"]
    _ask(backend, paths * 2, session(1), [], "requests that need no database")
    reset(backend.stack)
    for path in (RECIPES, f"{RECIPES}/1", "/healthz"):
        answer = backend.request("POST", path, [(b"cookie", b"sessionid=" + session(1).encode())])
        assert_error(answer, 405, what=f"POST {path}")
    found = seen(backend.stack)
    assert not found, f"POST: statements are {found}"


CHECKS = (check_statements_by_id, check_statements_random, check_statements_of_errors, check_no_statements)
