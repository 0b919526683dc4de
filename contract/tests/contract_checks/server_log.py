"""PostgreSQL's own log of each statement: which connection sent it, and whether it was prepared."""

import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from contract_checks.docker import output, wait_until
from contract_checks.stack import Stack
from contract_checks.statements import normal, queries

LINE = re.compile(
    r"^(?P<host>\S+) (?P<pid>\d+) app LOG:  duration: \S+ ms  "
    r"(?P<kind>parse|bind|execute|statement)(?: (?P<name>[^:]*))?: (?P<text>.*)",
    re.DOTALL,
)
# PostgreSQL begins the further lines of a text with a tab.
NEXT = re.compile(r"\n(?!\t)")
SETTINGS = {"log_min_duration_statement": "0", "log_line_prefix": "%h %p %u "}
UNNAMED = "<unnamed>"
EARLIER_S = 5.0  # the engine's clock is this one; a log of minutes is not read again and again
ASKED_ONCE = {"", "show transaction isolation level"}
"""What HikariCP asks on the first connection of its pool; nobody can tell it not to. A second time it is a statement as any other."""
TRANSACTION = re.compile(r"(begin|start transaction|commit|end|rollback|abort)\b")
SPELLED = {"start transaction": "begin", "end": "commit", "abort": "rollback"}


@dataclass(frozen=True)
class Message:
    """One message of the wire protocol: parse, bind, execute or, of the simple protocol, statement."""

    host: str
    pid: int
    kind: str
    name: str
    text: str

    @property
    def runs(self) -> bool:
        return self.kind in ("execute", "statement")

    @property
    def prepared(self) -> bool:
        return self.kind != "statement" and self.name != UNNAMED


def runs(messages: list[Message], name: str = "") -> list[str]:
    """What ran, in its order, by the contract's names. name: of the implementation."""
    names = [spelled(message, name) for message in messages if message.runs]
    # psycopg forgets its prepared statements after every ROLLBACK, and nobody can tell it not to.
    behind = zip(names, ["", *names], strict=False)
    return [one for one, last in behind if (one, last) != ("deallocate all", "rollback")]


def spelled(message: Message, name: str = "") -> str:
    """The contract's name of a statement; one of a transaction under one spelling."""
    text = normal(message.text)
    match = TRANSACTION.match(text)
    if match:
        return SPELLED.get(match[1], match[1])
    return queries(name).get(text, text)


@contextmanager
def statement_log(stack: Stack) -> Iterator[Callable[[str], list[Message]]]:
    """Switches the log on; yields a function that reads what a client address has sent since."""
    _set(stack, SETTINGS)
    try:
        since_s = time.time() - EARLIER_S
        began = _mark(stack)
        yield lambda host: [one for one in _read(stack, began, since_s) if one.host == host]
    finally:
        _set(stack, dict.fromkeys(SETTINGS))


def _set(stack: Stack, settings: dict[str, str] | dict[str, None]) -> None:
    with stack.connect() as connection:
        for name, value in settings.items():
            change = f"reset {name}" if value is None else f"set {name} = '{value}'"
            connection.execute(f"alter system {change}".encode())
        connection.execute("select pg_reload_conf()")
    wanted = settings["log_min_duration_statement"] or "-1"
    shown = lambda: stack.query("show log_min_duration_statement") == [(wanted,)]  # noqa: E731
    assert wait_until(shown, 5), f"PostgreSQL did not take {settings}"


def _mark(stack: Stack) -> str:
    """Writes a unique line to the log and returns what is in it."""
    mark = f"mark {uuid.uuid4()}"
    stack.query(f"select '{mark}'")
    return mark


def _read(stack: Stack, began: str, since_s: float) -> list[Message]:
    end, text = _mark(stack), ""

    def arrived() -> bool:
        nonlocal text
        text = output(stack.container("db"), since_s)[1]
        return end in text

    # The log passes through the engine: what was written last may take a moment to arrive.
    assert wait_until(arrived, 5), "PostgreSQL's log does not arrive"
    text = text.partition(began)[2].partition(end)[0]
    found = filter(None, map(LINE.match, NEXT.split(text)))
    return without_what_is_asked_once(
        [
            Message(
                m["host"], int(m["pid"]), m["kind"], cast(str, m["name"] or "").partition("/")[0], m["text"]
            )
            for m in found
        ]
    )


def without_what_is_asked_once(messages: list[Message]) -> list[Message]:
    """Leaves out the first of each of ASKED_ONCE that a client runs, and what prepared it."""
    kept, met = [], set[tuple[str, str, str]]()
    for message in messages:
        key = message.host, message.kind, normal(message.text)
        if key[2] in ASKED_ONCE and key not in met:
            met.add(key)
        else:
            kept.append(message)
    return kept
