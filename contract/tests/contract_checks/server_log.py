"""PostgreSQL's own log of each statement: which connection sent it, and whether it was prepared."""

import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from contract_checks.docker import output, wait_until
from contract_checks.stack import Stack
from contract_checks.statements import normal, queries

LINE = re.compile(
    r"^(?P<host>\S+) (?P<pid>\d+) app LOG:  duration: \S+ ms  "
    r"(?P<kind>parse|bind|execute|statement)(?: (?P<name>[^:/]*)[^:]*)?: (?P<text>.*)",
    re.DOTALL,
)
# PostgreSQL begins the further lines of a text with a tab.
NEXT = re.compile(r"\n(?!\t)")
SETTINGS = {"log_min_duration_statement": "0", "log_line_prefix": "%h %p %u "}
UNNAMED = "<unnamed>"
ASKED_ONCE = {"", "show transaction isolation level"}
"""What HikariCP asks on the first connection of its pool; nobody can tell it not to. A second time it is a statement as any other."""
TRANSACTION = {"start": "begin", "end": "commit", "abort": "rollback"} | {
    w: w for w in ("begin", "commit", "rollback")
}
"""Of the first word of a statement, the contract's name."""


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
    return TRANSACTION.get(text.partition(" ")[0]) or queries(name).get(text, text)


@contextmanager
def statement_log(stack: Stack) -> Iterator[Callable[[str], list[Message]]]:
    """Switches the log on; yields a function that reads what a client address has sent since."""
    try:
        _alter(stack, *(f"set {name} = '{value}'" for name, value in SETTINGS.items()))
        logs = wait_until(lambda: stack.query("show log_min_duration_statement") == [("0",)], 5)
        assert logs, f"PostgreSQL did not take {SETTINGS}"
        since_s = time.time()  # the engine's clock is this one
        yield lambda host: [one for one in _read(stack, since_s) if one.host == host]
    finally:
        _alter(stack, *(f"reset {name}" for name in SETTINGS))


def _alter(stack: Stack, *changes: str) -> None:
    with stack.connect() as connection:
        for change in changes:
            connection.execute(f"alter system {change}".encode())
        connection.execute("select pg_reload_conf()")


def _read(stack: Stack, since_s: float) -> list[Message]:
    end, text = f"mark {uuid.uuid4()}", ""
    stack.query(f"select '{end}'")

    def arrived() -> bool:
        nonlocal text
        text = output(stack.container("db"), since_s)[1]
        return end in text

    # The log passes through the engine: what was written last may take a moment to arrive.
    assert wait_until(arrived, 5), "PostgreSQL's log does not arrive"
    lines = NEXT.split(text.partition(end)[0])
    messages = [
        Message(one["host"], int(one["pid"]), one["kind"], one["name"] or "", one["text"])
        for one in map(LINE.match, lines)
        if one
    ]
    return without_what_is_asked_once(messages)


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
