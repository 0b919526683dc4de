"""Writing a note: what is stored, what is refused, and the transaction around it."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from contract_checks.backend import Answer, Backend, at_once, cookie
from contract_checks.docker import wait_until
from contract_checks.errors import ODD, assert_error
from contract_checks.golden import RECIPES, assert_golden, expired, neighbour, owned, session, shared
from contract_checks.load import SEEDED_EVENTS, SEEDED_NOTES
from contract_checks.needs import for_scenario
from contract_checks.server_log import runs, statement_log
from contract_checks.stack import Stack
from contract_checks.statements import sent

# Where a note may go wrong on its way: quoting, escapes of JSON, SQL and HTML, placeholders, direction, length.
TEXTS = (
    "x", " ", "\n", "  outer blanks \t\n", "it's", "''", "'; drop table core_note; --", '"quoted"', "$1 $2 $3",
    "%s %(p1)s %%", ":name ? ?1", "{} {0} ${x} #{x}", "\\", "\\\\ \\n \\u0041 \\x00", "E'\\041'", "$$ $tag$ $tag$",
    "<b>&amp;</b>", "a\tb\r\nc", "\u0001\u001f\u007f", "\u0080\u00a0\u200b\u2028\u2029\ufeff\ufffd\uffff",
    "crème fraîche", "e\u0301 and é", "汤", "🍲👩‍🍳", "\U0010ffff", "مرحبا \u202e", "null", "[]", "/* */ -- #",
    "a" * 10_000, "é" * 10_000, "🍲" * 10_000, "'" * 10_000, '"' * 10_000, "\\" * 10_000,
)  # fmt: skip
MISTAKES = (
    b"", b"text", b'{"text":', b"{}", b"[]", b'{"text":1}', b'{"text":null}', b'{"text":""}', b'{"text":"a\\u0000b"}',
    b'{"text":"%s"}' % (b"a" * 10_001), b'{"text":"%s"}' % ("é" * 10_001).encode(),
)  # fmt: skip
GOOD = b'{"text":"x"}'
N = 200


def write(backend: Backend, recipe: int | str, body: bytes, key: str | None = session(1)) -> Answer:
    """POST of a note, as user 1 unless said."""
    headers = [*cookie(key), (b"content-type", b"application/json")]
    return backend.request("POST", f"{RECIPES}/{recipe}/notes", headers, content=body)


def assert_written(answer: Answer, what: str) -> int:
    """Fails unless the answer says that a note was stored; returns its id."""
    match = re.fullmatch(rb'\{"id":([0-9]+)\}', answer.body)
    right = answer.status == 201 and answer.media_type == "application/json"
    assert right, f"{what}: expected 201 as application/json, got {answer}"
    assert match, f"{what}: {answer}"
    return int(match[1])


@contextmanager
def cleared(stack: Stack) -> Iterator[None]:
    """Removes what was written to the seeded database, before and after."""
    try:
        _clear(stack)
        yield
    finally:
        _clear(stack)


def _clear(stack: Stack) -> None:
    with stack.connect() as connection:
        connection.execute("delete from core_note where id > %s", [SEEDED_NOTES])
        connection.execute("delete from timeline_event where id > %s", [SEEDED_EVENTS])


def stored(stack: Stack) -> dict[int, tuple[int, str, int]]:
    """The notes that were written: id -> recipe, text, author. Their times and the rest are looked at, too."""
    wanted = "created = modified and last_modified_by_id is null"
    rows = _rows(stack, "core_note", "id, recipe_id, text, created_by_id", wanted, SEEDED_NOTES)
    return {key: (recipe, text, author) for key, recipe, text, author in rows}


def events(stack: Stack) -> list[tuple[Any, ...]]:
    """The events of notes that were written, in order: recipe, author."""
    return _rows(stack, "timeline_event", "recipe_id, created_by_id", "action = 'note added'", SEEDED_EVENTS)


def _rows(stack: Stack, table: str, columns: str, wanted: str, seeded: int) -> list[tuple[Any, ...]]:
    new = "created between now() - interval '5 min' and now() and deleted_at is null"
    query = f"select {columns}, {wanted} and {new} from {table} where id > %s order by id"
    rows = stack.query(query, seeded)
    odd = [row for row in rows if not row[-1]]
    assert not odd, f"{table} has rows that are not {wanted}, or have a wrong time or end: {odd[:3]}"
    return [row[:-1] for row in rows]


@for_scenario("note-write")
def check_note_stored(backend: Backend) -> None:
    """A note is there at once, character for character, with its event; it may be on a team's recipe."""
    with cleared(backend.stack):
        expected = {}
        places = [(1, owned(1)[0]), (1, shared(1)[0]), (1, shared(neighbour(1))[0]), (40, owned(40)[3])]
        for number, text in enumerate(TEXTS):
            user, recipe = places[number % len(places)]
            body = json.dumps({"text": text}, ensure_ascii=number % 2 == 1).encode()
            answer = write(backend, recipe, body, session(user))
            key = assert_written(answer, f"a note {text[:30]!r}, {len(text)} characters")
            found = backend.stack.query("select 1 from core_note where id = %s", key)
            assert found, f"note {key} was acknowledged before another connection could read it"
            expected[key] = (recipe, text, user)
        notes, marks = stored(backend.stack), events(backend.stack)
        assert notes.keys() == expected.keys(), f"acknowledged {len(expected)} notes, stored are {len(notes)}"
        for key, note in expected.items():
            told = f"note {key} is stored as {str(notes[key])[:300]}, sent was {str(note)[:300]}"
            assert notes[key] == note, told
        due = [(recipe, user) for recipe, _, user in expected.values()]
        assert marks == due, f"{len(marks)} events for {len(due)} notes"


@for_scenario("note-write", "recipe")
def check_note_shown(backend: Backend) -> None:
    """A recipe shows a new note after the older ones, and its event before the older ones; else it is as before."""
    recipe = owned(1)[1]
    before = backend.get(f"{RECIPES}/{recipe}", session(1))
    assert_golden(before, recipe)
    with cleared(backend.stack):
        began = datetime.now().timestamp() - 5
        key = assert_written(write(backend, recipe, '{"text":"neu: 汤 \\"x\\""}'.encode()), "a note")
        answer = backend.get(f"{RECIPES}/{recipe}", session(1))
        assert answer.status == 200, f"the recipe with its new note: {answer}"
        after = json.loads(answer.body)
        kinds = [part["kind"] for part in after["timeline"]]
        assert "event" in kinds[1:], f"the recipe's timeline has only {kinds}"
        at = kinds.index("event") - 1
        note, event = after["timeline"].pop(at), after["timeline"].pop(at)
        rest = json.dumps(after, ensure_ascii=False, separators=(",", ":")).encode()
        assert rest == before.body, f"behind a new note the recipe is another: {answer.body[:2000]!r}"
        told = f"the new note is {note}, its event {event}"
        wanted = {"id": key, "text": 'neu: 汤 "x"', "reactions": [], "last_modified_by": None}
        assert note | wanted == note, told
        found = (note["created_by"]["id"], event["created_by_id"], event["action"])
        assert found == (1, 1, "note added"), told
        assert note["created"] == note["modified"] == event["created"], told
        assert datetime.fromisoformat(note["created"]).timestamp() >= began, told
    assert_golden(backend.get(f"{RECIPES}/{recipe}", session(1)), recipe)


@for_scenario("note-write")
def check_note_mistakes(backend: Backend) -> None:
    """The mistakes that clients make: no note, no session, not their recipe. Nothing is stored."""
    with cleared(backend.stack):
        for body in MISTAKES:
            assert_error(write(backend, 1, body), *ODD, what=f"a note {body[:40]!r}")
        assert_error(write(backend, "abc", GOOD), *ODD, 404, what="a note on recipe 'abc'")
        for key in (None, "unknown", expired(1)):
            assert_error(write(backend, 1, GOOD, key), 401, what=f"a note with the session {key!r}")
        for recipe in (25, owned(9)[0], shared(9)[0], 2**31 - 1):
            assert_error(write(backend, recipe, GOOD), 404, what=f"a note on recipe {recipe}")
        left = stored(backend.stack), events(backend.stack)
        assert left == ({}, []), f"notes that were refused left rows: {left}"


@for_scenario("note-write")
def check_notes_at_once(backend: Backend) -> None:
    """200 notes from 16 clients: each is acknowledged with an id of its own and stored once."""

    def once(number: int) -> tuple[int, tuple[int, str, int]]:
        user = number % 40 + 1
        recipe, text = owned(user)[number % 20], f"note {number}"
        body = json.dumps({"text": text}).encode()
        return assert_written(write(backend, recipe, body, session(user)), text), (recipe, text, user)

    with cleared(backend.stack):
        told = dict(at_once(once, range(N), clients=16))
        assert len(told) == N, f"{N} notes at once have only {len(told)} ids"
        found, marks = stored(backend.stack), events(backend.stack)
        lost = [note for key, note in told.items() if found.get(key) != note]
        assert not lost, f"{len(lost)} of {N} acknowledged notes are not stored, such as {lost[0]}"
        assert len(found) == len(marks) == N, f"{N} notes: {len(found)} are stored, with {len(marks)} events"


@for_scenario("note-write")
def check_note_statements(backend: Backend) -> None:
    """Session, BEGIN, the two inserts, COMMIT, on one connection; ROLLBACK when the recipe is not visible."""
    name, stored = backend.implementation.name, ["session", "begin", "note_insert", "event_insert", "commit"]
    hidden = sent(backend, "note-write", [*stored[:3], "rollback"], "recipe_by_id")
    cases = (
        ("a note", 1, session(1), 201, sent(backend, "note-write", stored)),
        ("a recipe that is not visible", 25, session(1), 404, hidden),
        ("an unknown session", 1, "unknown", 401, sent(backend, "note-write", ["session"], "session")),
    )
    with cleared(backend.stack), statement_log(backend.stack) as read, backend.variant() as variant:
        assert_written(write(variant, 1, GOOD), "a note")
        for what, recipe, key, status, expected in cases:
            before = len(read(variant.host))
            answers = [write(variant, recipe, GOOD, key) for _ in range(3)]
            assert all(answer.status == status for answer in answers), f"{what}: {answers[0]}"
            # The end of a transaction may come after the answer where it is a rollback.
            wait_until(lambda: len(runs(read(variant.host)[before:], name)) >= 3 * len(expected), 1)  # noqa: B023
            ran = runs(read(variant.host)[before:], name)
            assert ran == expected * 3, f"{what}, three times: statements {ran}"


CHECKS = (
    check_note_stored,
    check_note_shown,
    check_note_mistakes,
    check_notes_at_once,
    check_note_statements,
)
