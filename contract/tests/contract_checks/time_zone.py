"""DB_TIME_ZONE: whether a request begins with SET TIME ZONE, seen from PostgreSQL's side."""

from itertools import pairwise

from contract_checks.backend import Backend
from contract_checks.dashboard import PATH, READS
from contract_checks.database_settings import N as RECIPES_ASKED
from contract_checks.database_settings import logged
from contract_checks.docker import wait_until
from contract_checks.errors import ODD, assert_error
from contract_checks.golden import RECIPES, assert_golden, assert_golden_dashboard, session
from contract_checks.needs import for_scenario, needs
from contract_checks.notes import assert_written, cleared, write
from contract_checks.server_log import spelled, statement_log
from contract_checks.statements import PARTS

KEY = session(1)
ZONE = "set time zone 'utc'"


def _ask(backend: Backend) -> list[list[str]]:
    """One request of each kind that is served; returns what the database is asked for each, but for the zone."""
    asked = [["session", "recipe_by_id", *PARTS], ["session"]]
    assert_golden(backend.get(f"{RECIPES}/1", KEY), 1)
    assert_error(backend.get(f"{RECIPES}/1", "unknown"), 401, what="an unknown session")
    assert_error(backend.get(f"{RECIPES}/0", KEY), *ODD, 404, what="a bad id")
    assert_error(backend.get(f"{RECIPES}/1"), 401, what="no session")
    assert backend.get("/healthz").status == 200
    if backend.implementation.serves("recipes"):
        assert backend.get(RECIPES, KEY).status == 200
        asked.append(["session", "recipe_random", *PARTS])
    if backend.implementation.serves("note-write"):
        assert_written(write(backend, 1, b'{"text":"x"}'), "a note")
        asked.append(["session", "begin", "note_insert", "event_insert", "commit"])
    if backend.implementation.serves("fan-out"):
        assert_golden_dashboard(backend.get(PATH, session(2)), 2)
        asked.append(["session", *sorted(READS)])
    return asked


def _ran(backend: Backend) -> tuple[list[tuple[int, str]], list[list[str]]]:
    """What PostgreSQL's log has of these requests, with the connection; and what `_ask` says about them."""
    database = backend.stack
    with (
        cleared(database),
        statement_log(database) as read,
        backend.variant(DB_TIME_ZONE="request") as variant,
    ):
        assert_golden(variant.get(f"{RECIPES}/1", KEY), 1)
        before = len(read(variant.host))
        asked = _ask(variant)
        least = sum(map(len, asked)) + len(asked)
        wait_until(lambda: sum(message.runs for message in read(variant.host)[before:]) >= least, 1)
        found = read(variant.host)[before:]
    return [(message.pid, spelled(message)) for message in found if message.runs], asked


@needs("DB_TIME_ZONE")
@for_scenario("recipe")
def check_time_zone(backend: Backend) -> None:
    """`request`: whatever asks the database sets the zone first, once, on its connection; `connection`: nothing does."""
    _assert_zone_at_once(backend, "connection", ["session", "recipe_by_id", *PARTS])
    _assert_zone_at_once(backend, "request", [ZONE, "session", "recipe_by_id", *PARTS])
    ran, asked = _ran(backend)
    expected = [name for names in asked for name in [ZONE, *names]]
    names = [name for _, name in ran]
    # The four reads of the dashboard, which come last, may run at once.
    names = [*(n for n in names if n not in READS), *sorted(n for n in names if n in READS)]
    assert names == expected, f"DB_TIME_ZONE=request: statements are {names}, not {expected}"
    for (pid, name), (next_pid, next_name) in pairwise(ran):
        assert name != ZONE or pid == next_pid, (
            f"the zone is set on one connection, '{next_name}' runs on another"
        )


def _assert_zone_at_once(backend: Backend, value: str, each: list[str]) -> None:
    """With several requests at once, every connection runs whole requests, each of which is `each`."""
    messages, _ = logged(backend, DB_TIME_ZONE=value)
    ran: dict[int, list[str]] = {}
    for message in messages:
        if message.runs:
            ran.setdefault(message.pid, []).append(spelled(message))
    requests = [names[i : i + len(each)] for names in ran.values() for i in range(0, len(names), len(each))]
    assert requests == [each] * RECIPES_ASKED, (
        f"DB_TIME_ZONE={value}, several requests at once: on their connections they are {requests}, not {each}"
    )


CHECKS = (check_time_zone,)
