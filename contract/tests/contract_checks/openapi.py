"""Schemathesis against contract/openapi.yaml: valid and invalid requests, the same ones every time."""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import schemathesis
from hypothesis.configuration import set_hypothesis_home_dir
from schemathesis import Case, HookContext
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, events, from_schema
from schemathesis.generation import GenerationMode
from schemathesis.schemas import BaseSchema

from contract_checks.backend import Backend
from contract_checks.catalog import CONTRACT
from contract_checks.golden import session, visible
from contract_checks.needs import for_scenario
from contract_checks.notes import cleared, stored

DOCUMENT = CONTRACT / "openapi.yaml"
EXAMPLES = 100  # requests per operation
NOTES = 30  # valid requests, each a note
LONGEST_MS = 40
# The answers that a run has to have met, by the scenarios that have them.
REACHED = {
    200: ("index", "users", "work", "recipes", "recipe", "fan-out"),
    400: ("users", "work", "recipe", "note-write"),
    401: ("recipes", "recipe", "note-write", "fan-out"),
    404: ("users", "recipe", "note-write"),
    422: ("work", "note-write"),
}
SHOWN = 8
# Other names of operations that are tried under their first one: the checks of index, users and methods ask for these.
ALIASES = ("/index.html", "/index.htm", "/user", "/user/{id}/", "/users")


def load(
    url: str, examples: int, without: Iterable[str] = (), operations: Iterable[dict[str, Any]] = ()
) -> BaseSchema:
    """The document with the settings of a run; raises when the document is not valid OpenAPI.

    `without` are scenarios that are left out, `operations` more settings of single operations.
    """
    settings = {
        "base-url": url,
        "request-timeout": 10,
        "workers": 2,
        "continue-on-failure": True,
        # Sent where the operation asks for it, and left out where the run tries to do without.
        "auth": {"openapi": {"session": {"api_key": session(1)}}},
        "generation": {
            "mode": "all",
            "max-examples": examples,
            "deterministic": True,
            "database": "none",
            "no-shrink": True,  # the recorded request is short anyhow
        },
        "phases": {
            # QUERY, which is among the defaults, is unknown to the parsers of several servers.
            "coverage": {"unexpected-methods": ["PUT", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE"]},
            "stateful": {"enabled": False},  # the checks of users and notes know better what has changed
        },
        "operations": [
            *({"include-tag": scenario, "enabled": False} for scenario in without),
            *({"include-path": path, "enabled": False} for path in ALIASES),
            # Never allowed, but with an answer of its own: it never succeeds, and no Allow names it.
            {"include-operation-id": "createUserWithId", "checks": _off("positive_data_acceptance")},
            {"include-path": "/user/{id}", "checks": _off("allow_header_conformance")},
            *operations,
        ],
    }
    schema = schemathesis.openapi.from_path(DOCUMENT, config=SchemathesisConfig.from_dict(settings))
    schema.validate()
    return schema


def _off(check: str) -> dict[str, Any]:
    return {check: {"enabled": False}}


@schemathesis.hook("before_call")
def _amend(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:
    """Shortens valid delays, and writes integers without a fraction: for JSON Schema 1.0 is one, too."""
    delay = str((case.query or {}).get("delay_ms"))
    if delay.isdecimal() and LONGEST_MS < int(delay) <= 10_000:
        case.query["delay_ms"] = int(delay) % LONGEST_MS
    if isinstance(case.body, list):
        case.body[:] = [int(x) if isinstance(x, float) and x.is_integer() else x for x in case.body]


def check_openapi(backend: Backend, examples: int = EXAMPLES) -> None:
    """Every status, header, content type and body is one that the document allows for the request."""
    statuses: Counter[int] = Counter()
    # There with some settings only, and not with every implementation: pool.py knows when.
    absent = [] if backend.get("/pool").status == 200 else [{"include-path": "/pool", "enabled": False}]
    with cleared(backend.stack):
        _run(load(backend.url, examples, backend.implementation.scenarios, absent), statuses)
    # A run that reached nothing would be green as well.
    serves = backend.implementation.serves
    expected = {405} | {status for status, scenarios in REACHED.items() if any(map(serves, scenarios))}
    assert expected <= statuses.keys(), f"the run did not reach every answer: {dict(statuses)}"


@for_scenario("note-write")
def check_openapi_notes(backend: Backend, examples: int = NOTES) -> None:
    """Valid notes on a recipe that is visible are all stored."""
    statuses: Counter[int] = Counter()
    recipe = visible(1)[4]
    place = {"include-operation-id": "writeNote", "parameters": {"path.id": recipe}}
    others = {"exclude-operation-id": "writeNote", "enabled": False}
    schema = load(backend.url, examples, operations=[others, place])
    schema.config.generation.update(modes=[GenerationMode.POSITIVE])
    with cleared(backend.stack):
        _run(schema, statuses)
        found = stored(backend.stack)
    assert statuses[201] >= min(examples, NOTES) // 4, f"too few valid notes: {dict(statuses)}"
    assert len(found) == statuses[201], f"{statuses[201]} notes were acknowledged, {len(found)} are stored"
    assert {note[0] for note in found.values()} == {recipe}, f"the notes are on {found}"


def _run(schema: BaseSchema, statuses: Counter[int]) -> None:
    with tempfile.TemporaryDirectory() as cache:
        set_hypothesis_home_dir(cache)  # else it leaves a folder where the tests were started
        failures = list(_failures(schema, statuses))
    text = "\n".join(failures[:SHOWN])
    assert not failures, f"{len(failures)} requests broke the document, the first of them:\n{text}"


def _failures(schema: BaseSchema, statuses: Counter[int]) -> Iterator[str]:
    """Runs schemathesis and yields one line per failed check; counts the answers by status."""
    for event in from_schema(schema).execute():
        if isinstance(event, events.FatalError):
            raise event.exception
        if isinstance(event, events.NonFatalError):
            yield f"{event.label}: {event.value}"
        if not isinstance(event, events.ScenarioFinished):
            continue
        recorder = event.recorder
        for key, interaction in recorder.interactions.items():
            request, response = interaction.request, interaction.response
            if response is not None:
                statuses[response.status_code] += 1
            for check in recorder.checks.get(key, []):
                if check.status is Status.FAILURE and check.failure_info:
                    sent = f"{request.method} {request.uri} {request.headers.get('Cookie', '')}"
                    status = response.status_code if response else "no answer"
                    yield f"{check.name}: {sent} -> {status}: {check.failure_info.failure}"


CHECKS = (check_openapi, check_openapi_notes)
