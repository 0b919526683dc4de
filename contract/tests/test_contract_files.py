"""The contract itself: its document is valid, and its golden files are what the seeded database says."""

import json
import re
import statistics
from contextlib import nullcontext
from typing import Any

import httpx
import pytest
import schemathesis
import yaml

from contract_checks import catalog, errors, golden, golden_files, inputs, parallelism, paths, server_log
from contract_checks.backend import Answer
from contract_checks.brief import brief
from contract_checks.needs import file_of, name_of
from contract_checks.registry import CHECKS, HARDENED
from contract_checks.stack import Stack

OPENAPI = catalog.CONTRACT / "openapi.yaml"
DOCUMENT = {
    path: {method.upper(): what for method, what in item.items() if method != "parameters"}
    for path, item in yaml.safe_load(OPENAPI.read_text())["paths"].items()
}
OPERATIONS = [operation for item in DOCUMENT.values() for operation in item.values()]
SCENARIOS = {scenario for path in paths.PATHS for scenario in path.scenarios}


def test_openapi_document_is_valid() -> None:
    schemathesis.openapi.from_path(OPENAPI).validate()


def test_every_scenario_has_its_operations() -> None:
    tags = {tag for operation in OPERATIONS for tag in operation.get("tags", ())}
    # The operations of these are those of index and work.
    assert tags | {"idle", "work-large"} == SCENARIOS


def test_every_path_of_the_checks_is_in_the_document() -> None:
    asked = {re.sub(r"/(987654|1)\b", "/{id}", path.path): {*path.allow} for path in paths.PATHS}
    assert {path: {*item} for path, item in DOCUMENT.items()} == asked | {"/pool": {"GET"}}
    ids = [operation["operationId"] for operation in OPERATIONS if "operationId" in operation]
    assert len(ids) == len({*ids})


def test_checks_have_names_of_their_own_and_tiers() -> None:
    assert len({*map(name_of, CHECKS)}) == len(CHECKS)
    assert {*CHECKS} > HARDENED


@pytest.mark.parametrize("name", [*catalog.names(), "contract/broken"])
def test_what_is_declared_exists(name: str) -> None:
    """A misspelled name under [unsupported] would excuse nothing, or be believed to."""
    implementation = catalog.load(name)
    assert implementation.settings.keys() <= catalog.settings().keys()
    assert implementation.scenarios.keys() <= SCENARIOS
    assert implementation.checks.keys() <= set(map(name_of, CHECKS))
    assert set(implementation.bridge) <= set(map(file_of, CHECKS))
    for reasons in (implementation.settings, implementation.scenarios, implementation.checks):
        assert all(map(str.strip, reasons.values()))


def test_median_body_is_as_published() -> None:
    sizes = [entry.bytes for key, entry in golden.table().items() if key % 25]
    assert 3.4 <= statistics.median(sizes) / 1024 <= 3.8


@pytest.mark.docker
@pytest.mark.timeout(300)
def test_golden_files_are_what_the_database_says(stack: Stack) -> None:
    """The control: changed data make them stale."""
    remedy = "contract/tests/contract_checks/golden_files.py writes them anew"
    assert golden_files.stale(stack) == [], remedy
    stack.query("update core_step set text = text || '!' where recipe_id = 2 returning 1")
    try:
        assert golden_files.stale(stack) == ["recipe-2.json", "recipes.tsv"]
    finally:
        stack.query("update core_step set text = rtrim(text, '!') where recipe_id = 2 returning 1")
    assert golden_files.stale(stack) == []


def _rows(body: dict[str, Any]) -> dict[tuple[str, int], dict[str, Any]]:
    """What each statement has found for a recipe: (which, id) -> row."""
    parts = [*body["ingredients"], *body["timeline"], *({"kind": "step", **step} for step in body["steps"])]
    rows = {(part["kind"], part["id"]): part for part in parts}
    for note in [part for part in parts if part["kind"] == "note"]:
        rows |= {("reaction", one["id"]): one for one in note.pop("reactions")}
    return rows | {("recipe", body["id"]): {"name": body["name"], "created": body["created"]}}


@pytest.mark.docker
@pytest.mark.timeout(300)
def test_other_data_are_as_many_rows_and_none_of_them_is_known(stack: Stack) -> None:
    """A study's own (SALT): a request costs what it costs with those of contract/golden, and no answer is among them."""
    public_recipes, public_dashboards = golden_files.bodies(stack)
    with stack.other_data(salt="1") as database:
        recipes, dashboards = golden_files.bodies(stack, database)
    assert recipes.keys() == public_recipes.keys()
    known = {*public_recipes.values(), *public_dashboards.values()}
    assert not known & {*recipes.values(), *dashboards.values()}
    for key, body in recipes.items():
        own, public = _rows(json.loads(body)), _rows(json.loads(public_recipes[key]))
        assert own.keys() == public.keys()
        same = [row for row in own if own[row] == public[row]]
        assert not {which for which, _ in same} - {"ingredient", "section"}
        assert len(same) <= 1, "two words may be the same by chance"
    sizes = [statistics.mean(map(len, each.values())) for each in (recipes, public_recipes)]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.005)
    for user, body in dashboards.items():
        own, public = json.loads(body), json.loads(public_dashboards[user])
        for part in ("recipes", "teams", "notes", "events"):
            assert len(own[part]) == len(public[part])
            assert not [row for row in own[part] if row in public[part]]


@pytest.mark.parametrize(
    ("at_work", "outcome"),
    [
        ({1: 1.0, 4: 3.6}, None),
        ({1: 1.3, 4: 2.3}, None),
        ({1: 1.0, 4: 1.1}, AssertionError),
        ({1: 0.5, 4: 0.6}, errors.Undecided),
        ({1: 0.5, 4: 2.0}, errors.Undecided),
    ],
)
def test_workers_that_are_started_on_demand(
    at_work: dict[int, float], outcome: type[Exception] | None
) -> None:
    """As in Go, whose threads at rest say nothing."""
    with (
        pytest.raises(outcome, match="at rest: 5 and 6; threads that had work") if outcome else nullcontext()
    ):
        parallelism.assert_more_at_work(at_work, "at rest: 5 and 6")


def test_a_failure_is_told_in_a_few_lines() -> None:
    headers = httpx.Headers({"content-type": "application/json"})
    wrong = Answer(401, headers, b'{"error":"no session"}', 0.1, "GET /api/v1/recipes/0")
    with pytest.raises(AssertionError) as caught:
        errors.assert_error(wrong, 401, what="no session")
    lines = brief(inputs.check_ids, "mine", caught.value).splitlines()
    assert lines[0].startswith("ids: An id that is none is 400")
    assert lines[1:] == [
        "  request   no session: GET /api/v1/recipes/0",
        '  expected  401 with {"error":"unauthorized"} as application/json',
        '  received  401 application/json b\'{"error":"no session"}\'',
        "  remedy    contract/README.md, Refusals",
        "  again     just verify mine --only ids --verbose",
    ]


def test_a_long_failure_is_cut() -> None:
    told = brief(inputs.check_ids, "mine", AssertionError("\n".join(["x" * 5000] * 200)))
    assert len(told.splitlines()) < 15
    assert len(told) < 6000


def test_what_a_pool_asks_once_is_no_statement_of_a_request() -> None:
    """The control: asked twice, it is one."""

    def sent(*texts: str, host: str = "a") -> list[server_log.Message]:
        return [server_log.Message(host, 1, "execute", "<unnamed>", text) for text in texts]

    first = sent("", "SHOW TRANSACTION ISOLATION LEVEL", "select 1")
    assert server_log.without_what_is_asked_once(first) == sent("select 1")
    assert server_log.without_what_is_asked_once(first + sent("", "select 1")) == sent(
        "select 1", "", "select 1"
    )
    assert server_log.without_what_is_asked_once(sent("", host="b") + sent("", "")) == sent("")
