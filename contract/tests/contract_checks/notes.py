"""Writing a note: what is stored, what is refused, and the transaction around it."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime

from contract_checks.backend import Answer, Backend, Headers
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
N = 200


def cookie(user: int) -> Headers:
    return [(b"cookie", b"sessionid=" + session(user).encode())]


def write(backend: Backend, recipe: int | str, body: bytes, headers: Headers | None = None) -> Answer:
    """POST of a note, as user 1 unless said."""
    headers = [*(cookie(1) if headers is None else headers), (b"content-type", b"application/json")]
    return backend.request("POST", f"{RECIPES}/{recipe}/notes", headers, content=body)


def assert_written(answer: Answer, what: str) -> int:
    """Fails unless the answer says that a note was stored; returns its id."""
    assert answer.status == 201, f"{what}: expected 201, got {answer}"
    assert answer.media_type == "application/json", f"{what}: {answer}"
    match = re.fullmatch(rb'\{"id":([0-9]+)\}', answer.body)
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
    rows = stack.query(
        "select id, recipe_id, text, created_by_id, created = modified"
        " and created between now() - interval '5 min' and now()"
        " and last_modified_by_id is null and deleted_at is null from core_note where id > %s",
        SEEDED_NOTES,
    )
    odd = [row for row in rows if not row[4]]
    assert not odd, f"notes with a wrong time, editor or end: {odd[:3]}"
    return {int(row[0]): (int(row[1]), str(row[2]), int(row[3])) for row in rows}


def events(stack: Stack) -> list[tuple[int, int]]:
    """The events of notes that were written, in order: recipe, author."""
    rows = stack.query(
        "select recipe_id, created_by_id, action = 'note added' and deleted_at is null"
        " and created between now() - interval '5 min' and now() from timeline_event where id > %s order by id",
        SEEDED_EVENTS,
    )
    assert all(row[2] for row in rows), f"events with a wrong time, action or end: {rows[:3]}"
    return [(int(row[0]), int(row[1])) for row in rows]


@for_scenario("note-write")
def check_note_stored(backend: Backend) -> None:
    """A note is there at once, character for character, with its event; it may be on a team's recipe."""
    with cleared(backend.stack):
        expected, marks = {}, []
        places = [(1, owned(1)[0]), (1, shared(1)[0]), (1, shared(neighbour(1))[0]), (40, owned(40)[3])]
        for number, text in enumerate(TEXTS):
            user, recipe = places[number % len(places)]
            body = json.dumps({"text": text}, ensure_ascii=number % 2 == 1).encode()
            what = f"a note {text[:30]!r}, {len(text)} characters"
            key = assert_written(write(backend, recipe, body, cookie(user)), what)
            found = backend.stack.query("select 1 from core_note where id = %s", key)
            assert found, f"note {key} was acknowledged before another connection could read it"
            expected[key] = (recipe, text, user)
            marks.append((recipe, user))
        notes = stored(backend.stack)
        assert notes.keys() == expected.keys(), f"acknowledged {len(expected)} notes, stored are {len(notes)}"
        for key, note in expected.items():
            assert notes[key] == note, (
                f"note {key} is stored as {str(notes[key])[:300]}, sent was {str(note)[:300]}"
            )
        assert events(backend.stack) == marks, f"{len(events(backend.stack))} events for {len(marks)} notes"


@for_scenario("note-write", "recipe")
def check_note_shown(backend: Backend) -> None:
    """A recipe shows a new note after the older ones, and its event before the older ones; else it is as before."""
    recipe = owned(1)[1]
    before = backend.get(f"{RECIPES}/{recipe}", session(1))
    assert_golden(before, recipe)
    with cleared(backend.stack):
        began = datetime.now().astimezone().timestamp() - 5
        key = assert_written(write(backend, recipe, '{"text":"neu: 汤 \\"x\\""}'.encode()), "a note")
        answer = backend.get(f"{RECIPES}/{recipe}", session(1))
        assert answer.status == 200, f"the recipe with its new note: {answer}"
        after = json.loads(answer.body)
        kinds = [part["kind"] for part in after["timeline"]]
        at = kinds.index("event") if "event" in kinds else len(kinds)
        assert 0 < at < len(kinds), f"the recipe's timeline has only {kinds}"
        note, event = after["timeline"].pop(at - 1), after["timeline"].pop(at - 1)
        assert json.dumps(after, ensure_ascii=False, separators=(",", ":")).encode() == before.body, (
            f"behind a new note the recipe is another: {answer.body[:2000]!r}"
        )
        assert (note["id"], note["text"], note["reactions"]) == (key, 'neu: 汤 "x"', []), (
            f"the new note is {note}"
        )
        assert (note["created_by"]["id"], note["last_modified_by"]) == (1, None), f"the new note is {note}"
        assert (event["action"], event["created_by_id"]) == ("note added", 1), f"the new event is {event}"
        assert note["created"] == note["modified"] == event["created"], f"note {note}, event {event}"
        assert datetime.fromisoformat(note["created"]).timestamp() >= began, f"the new note is {note}"
    assert_golden(backend.get(f"{RECIPES}/{recipe}", session(1)), recipe)


@for_scenario("note-write")
def check_note_mistakes(backend: Backend) -> None:
    """The mistakes that clients make: no note, no session, not their recipe. Nothing is stored."""
    with cleared(backend.stack):
        for body in MISTAKES:
            assert_error(write(backend, 1, body), *ODD, what=f"a note {body[:40]!r}")
        good = b'{"text":"x"}'
        assert_error(write(backend, "abc", good), *ODD, 404, what="a note on recipe 'abc'")
        assert_error(write(backend, 1, good, ()), 401, what="a note without a session")
        for key in (b"unknown", expired(1).encode()):
            headers = [(b"cookie", b"sessionid=" + key)]
            assert_error(write(backend, 1, good, headers), 401, what=f"a note with the session {key!r}")
        for recipe in (25, owned(9)[0], shared(9)[0], 2**31 - 1):
            assert_error(write(backend, recipe, good), 404, what=f"a note on recipe {recipe}")
        left = stored(backend.stack), events(backend.stack)
        assert left == ({}, []), f"notes that were refused left rows: {left}"


@for_scenario("note-write")
def check_notes_at_once(backend: Backend) -> None:
    """200 notes from 16 clients: each is acknowledged with an id of its own and stored once."""
    with cleared(backend.stack):

        def once(number: int) -> tuple[int, tuple[int, str, int]]:
            user = number % 40 + 1
            recipe, text = owned(user)[number % 20], f"note {number}"
            body = json.dumps({"text": text}).encode()
            return assert_written(write(backend, recipe, body, cookie(user)), text), (recipe, text, user)

        with ThreadPoolExecutor(16) as pool:
            told = list(pool.map(once, range(N)))
        assert len(dict(told)) == N, f"{N} notes at once have only {len(dict(told))} ids"
        found = stored(backend.stack)
        lost = [note for key, note in told if found.get(key) != note]
        assert not lost, f"{len(lost)} of {N} acknowledged notes are not stored, such as {lost[0]}"
        assert len(found) == N, f"{len(found)} notes are stored, {N} were sent"
        assert len(events(backend.stack)) == N, f"{len(events(backend.stack))} events for {N} notes"


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
        assert_written(write(variant, 1, b'{"text":"first"}'), "a note")
        for what, recipe, key, status, expected in cases:
            before = len(read(variant.host))
            answers = [
                write(variant, recipe, b'{"text":"x"}', [(b"cookie", b"sessionid=" + key.encode())])
                for _ in range(3)
            ]
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
