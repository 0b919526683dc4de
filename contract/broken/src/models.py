"""JSON in and out; the canonical recipe, built from the rows of the eight statements."""

import json
from datetime import datetime
from typing import Any

from errors import Failure
from repository import Connection, Row, rows, together

Json = dict[str, Any]
_remembered: dict[int, list[Row]] = {}
_steps: dict[int, list[Row]] = {}
BEHIND = ("ingredients", "steps", "sections", "notes", "reactions", "timeline_events")


def encode(value: Json, fault: str) -> bytes:
    """The bytes of a body."""
    separators = (", ", ": ") if fault == "spaces-in-json" else (",", ":")
    return json.dumps(value, ensure_ascii=fault == "escaped-json", separators=separators).encode()


def decode(data: bytes) -> Any:
    """The value of a body; raises Failure when it is not JSON in UTF-8."""
    try:
        return json.loads(data.decode(), parse_constant=_refuse)
    except (RecursionError, ValueError) as error:
        raise Failure(400) from error


def _refuse(name: str) -> None:
    raise ValueError(name)


def recipe(connection: Connection, head: Row, fault: str) -> Json:
    """Runs the six statements behind the recipe's own row and puts all of it together."""
    key = head["id"]
    if fault in ("several-in-flight", "synced-in-flight"):
        found = together(connection, BEHIND, key, fault == "synced-in-flight")
    else:
        found = [
            _reactions(connection, key, fault) if query == "reactions" else rows(connection, query, key)
            for query in BEHIND
        ]
    if fault == "steps-kept":
        found[1] = _steps.setdefault(key, found[1])
    return assembled(head, found)


def assembled(head: Row, found: list[list[Row]]) -> Json:
    """found: the rows of the six statements."""
    ingredients, steps, sections, notes, reactions, events = found
    owner = {"kind": "user" if head["content_type_id"] == 1 else "team", "id": head["object_id"]}
    hidden = ("deleted_at", "object_id", "content_type_id")
    return {
        **{name: _value(value) for name, value in head.items() if name not in hidden},
        "owner": owner,
        "ingredients": [tagged("ingredient", row) for row in ingredients]
        + [
            {"kind": "section", "id": row["id"], "position": row["position"], "title": row["title"]}
            for row in sections
        ],
        "steps": steps,
        "timeline": [_note(row, reactions) for row in notes] + [tagged("event", row) for row in events],
    }


def _reactions(connection: Connection, key: int, fault: str) -> list[Row]:
    if fault == "missing-statement":
        return []
    if fault == "pretended-statement" and key in _remembered:
        rows(connection, "reactions", 0)
        return _remembered[key]
    _remembered[key] = rows(connection, "reactions", key)
    return _remembered[key]


def _note(row: Row, reactions: list[Row]) -> Json:
    return {
        "kind": "note",
        **{name: _value(row[name]) for name in ("id", "text", "created", "modified")},
        "created_by": _person(row, "author"),
        "last_modified_by": _person(row, "editor"),
        "reactions": [
            {name: _value(value) for name, value in reaction.items() if name != "note_id"}
            for reaction in reactions
            if reaction["note_id"] == row["id"]
        ],
    }


def _person(row: Row, role: str) -> Json | None:
    if row[f"{role}_id"] is None:
        return None
    return {name: row[f"{role}_{name}"] for name in ("id", "email", "name")}


def tagged(kind: str | None, row: Row) -> Json:
    """The columns of a row, behind its kind where there are several."""
    return ({"kind": kind} if kind else {}) | {name: _value(value) for name, value in row.items()}


def _value(value: Any) -> Any:
    return value.strftime("%Y-%m-%dT%H:%M:%SZ") if isinstance(value, datetime) else value
