"""Schemathesis against contract/openapi.yaml: valid and invalid requests, the same ones every time."""

import tempfile
from collections import Counter
from collections.abc import Iterator

import schemathesis
from hypothesis.configuration import set_hypothesis_home_dir
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, events, from_schema
from schemathesis.schemas import BaseSchema

from contract_checks.backend import Backend
from contract_checks.catalog import CONTRACT
from contract_checks.golden import session

DOCUMENT = CONTRACT / "openapi.yaml"
EXAMPLES = 150  # requests per operation
SHOWN = 8


def load(url: str, examples: int) -> BaseSchema:
    """The document with the settings of a run; raises when the document is not valid OpenAPI."""
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
            "stateful": {"enabled": False},  # no operation changes anything
        },
    }
    schema = schemathesis.openapi.from_path(DOCUMENT, config=SchemathesisConfig.from_dict(settings))
    schema.validate()
    return schema


def check_openapi(backend: Backend, examples: int = EXAMPLES) -> None:
    """Every status, header, content type and body is one that the document allows for the request."""
    statuses: Counter[int] = Counter()
    with tempfile.TemporaryDirectory() as cache:
        set_hypothesis_home_dir(cache)  # else it leaves a folder where the tests were started
        failures = list(_failures(load(backend.url, examples), statuses))
    text = "\n".join(failures[:SHOWN])
    assert not failures, f"{len(failures)} requests broke the document, the first of them:\n{text}"
    # A run that reached nothing would be green as well.
    assert {200, 400, 401, 404, 405} <= statuses.keys(), (
        f"the run did not reach every answer: {dict(statuses)}"
    )


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


CHECKS = (check_openapi,)
