"""The statements that a request runs, counted by PostgreSQL itself."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

from contract_checks.backend import Answer, Backend
from contract_checks.catalog import CONTRACT, ROOT
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, assert_golden, expired, session, visible
from contract_checks.needs import for_scenario
from contract_checks.stack import Stack

N = 10
SCENARIOS = {"recipe": "recipe_by_id", "recipes": "recipe_random"}
PARTS = ("ingredients", "steps", "sections", "notes", "reactions", "timeline_events")
STATISTICS = """
    select s.query, s.calls::int, s.rows::int
    from pg_stat_statements as s
    inner join pg_roles as r on r.oid = s.userid
    where r.rolname = 'app'
"""


@dataclass(frozen=True)
class Statement:
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
    counted: dict[str, Statement] = {}
    for text, calls, rows in stack.query(STATISTICS):
        key = queries(name).get(normal(text), normal(text))
        before = counted.get(key, Statement(key, 0, 0))
        counted[key] = Statement(key, before.calls + calls, before.rows + rows)
    return list(counted.values())


def _run(backend: Backend, paths: list[str], key: str | None) -> tuple[list[Answer], dict[str, Statement]]:
    """Sends the requests one after the other; returns the answers and the statements by name."""
    backend.get(f"{RECIPES}/1", session(1))  # PgBouncer asks `select 1` of a connection that idled long
    reset(backend.stack)
    answers = [backend.get(path, key) for path in paths]
    return answers, {one.text: one for one in seen(backend.stack, backend.implementation.name)}


def sent(backend: Backend, scenario: str, due: list[str], refused: str = "") -> list[str]:
    """What a request sends. due: by the contract; an implementation may have statements of its own. refused: of these, the last
    one that a refused request sends."""
    own = backend.implementation.statements.get(scenario)
    if own is None or not refused:
        return own or due
    own = own[: own.index(refused) + 1]
    return [*own, *(["rollback"] if "begin" in own else [])]


def _due(backend: Backend, scenario: str, refused: str = "") -> dict[str, int]:
    """The calls of N requests."""
    all_of = ["session", SCENARIOS[scenario], *PARTS]
    due = all_of[: all_of.index(refused) + 1] if refused else all_of
    return dict.fromkeys(sent(backend, scenario, due, refused), N)


def _assert_calls(found: dict[str, Statement], expected: dict[str, int], what: str) -> None:
    calls = {name: statement.calls for name, statement in found.items()}
    extra = {name: n for name, n in calls.items() if name not in expected}
    assert not extra, f"{what}: statements that the contract does not have here: {extra}"
    assert calls == expected, f"{what}: calls are {calls}, not {expected}"


def _assert_rows(found: dict[str, Statement], bodies: list[bytes], what: str) -> None:
    """The rows that each statement gave are those in the bodies: none fetched in vain, none left out."""
    expected: Counter[str] = Counter()
    for body in map(json.loads, bodies):
        kinds = Counter(part["kind"] for part in body["ingredients"] + body["timeline"])
        expected += Counter(
            session=1,
            recipe=1,
            ingredients=kinds["ingredient"],
            sections=kinds["section"],
            steps=len(body["steps"]),
            notes=kinds["note"],
            reactions=sum(len(part["reactions"]) for part in body["timeline"] if part["kind"] == "note"),
            timeline_events=kinds["event"],
        )
    rows = {("recipe" if name.startswith("recipe_") else name): s.rows for name, s in found.items()}
    differ = {name: f"{rows.get(name, 0)} of {n}" for name, n in expected.items() if rows.get(name, 0) != n}
    assert not differ, f"{what}: rows that differ from those in the bodies: {differ}"


@for_scenario("recipe")
def check_statements_by_id(backend: Backend) -> None:
    """The eight statements once per request and nothing else; the same id again is no exception."""
    keys = [*visible(1)[: N - 2], 1, 1]
    answers, found = _run(backend, [f"{RECIPES}/{key}" for key in keys], session(1))
    for key, answer in zip(keys, answers, strict=True):
        assert_golden(answer, key)
    _assert_calls(found, _due(backend, "recipe"), f"{N} recipes by id")
    _assert_rows(found, [answer.body for answer in answers], f"{N} recipes by id")


@for_scenario("recipes")
def check_statements_random(backend: Backend) -> None:
    """The same for the random recipe."""
    answers, found = _run(backend, [RECIPES] * N, session(3))
    assert all(answer.status == 200 for answer in answers), f"random recipes: {answers[0]}"
    _assert_calls(found, _due(backend, "recipes"), f"{N} random recipes")
    _assert_rows(found, [answer.body for answer in answers], f"{N} random recipes")


@for_scenario("recipe", "recipes")
def check_statements_of_errors(backend: Backend) -> None:
    """A request that is refused stops where it is refused."""
    for key in ("unknown", expired(1)):
        for path in (RECIPES, f"{RECIPES}/1"):
            answers, found = _run(backend, [path] * N, key)
            for answer in answers:
                assert_error(answer, 401, what=f"{path} with the session {key!r}")
            _assert_calls(found, _due(backend, "recipe", "session"), f"{N} requests with the session {key!r}")
    answers, found = _run(backend, [f"{RECIPES}/25"] * N, session(1))
    for answer in answers:
        assert_error(answer, 404, what="a deleted recipe")
    due = _due(backend, "recipe", "recipe_by_id")
    _assert_calls(found, due, f"{N} requests for a deleted recipe")


@for_scenario("recipe", "recipes")
def check_no_statements(backend: Backend) -> None:
    """Without a valid path, method or id, and for /healthz, the database is left alone."""
    paths = ["/healthz", f"{RECIPES}/0", f"{RECIPES}/abc", f"{RECIPES}/2147483648", "/nothing"]
    _, found = _run(backend, paths * 2, session(1))
    _assert_calls(found, {}, "requests that need no database")
    reset(backend.stack)
    for path in (RECIPES, f"{RECIPES}/1", "/healthz"):
        answer = backend.request("POST", path, [(b"cookie", b"sessionid=" + session(1).encode())])
        assert_error(answer, 405, what=f"POST {path}")
    _assert_calls({s.text: s for s in seen(backend.stack)}, {}, "POST")


CHECKS = (check_statements_by_id, check_statements_random, check_statements_of_errors, check_no_statements)
