"""The checks can fail: a backend that is wrong in one way is caught by the check that is there for it."""

import runpy
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from contract_checks import (
    bodies,
    catalog,
    connections,
    crowds,
    hygiene,
    limits,
    outage,
    paths,
    pool,
    restarts,
    statements,
    whole_path,
)
from contract_checks.backend import POOLED, Backend
from contract_checks.docker import docker
from contract_checks.needs import name_of, unsupported
from contract_checks.registry import CHECKS, Check

FOUND_BY = {
    "wrong-body": "golden_bodies random",
    "spaces-in-json": "golden_bodies healthz",
    "escaped-json": "golden_bodies",
    "others-visible": "invisible",
    "not-random": "random",
    "short-body-under-load": "concurrent",
    "cached": "statements_by_id note_shown",
    "extra-statement": "statements_by_id statements_random dashboard_statements note_statements",
    "missing-statement": "statements_by_id",
    "pretended-statement": "statements_by_id",
    "session-ignored": "statements_of_errors plain_sessions dashboards note_mistakes",
    "eager-session": "no_statements",
    "expired-accepted": "plain_sessions",
    "odd-cookie-500": "odd_sessions",
    "wrong-error": "plain_sessions",
    "first-cookie-only": "accepted_sessions",
    "sloppy-id": "ids",
    "query-is-id": "ids",
    "pages-for-all": "unknown_paths",
    "any-method": "methods",
    "head-refused": "head_requests",
    "wrong-page": "index",
    "page-type": "index",
    "index-only-root": "index",
    "deleted-users-stay": "users",
    "users-unsorted": "users",
    "users-collide": "users_at_once",
    "sum-of-32-bits": "work_sums",
    "numbers-dropped": "work_large",
    "sloppy-delay": "work_mistakes",
    "lenient-json": "work_mistakes",
    "work-remembered": "work_not_remembered",
    "delay-ignored": "work_waits",
    "delays-in-turn": "work_overlaps",
    "wrong-dashboard": "dashboards",
    "dashboard-cached": "dashboard_statements",
    "session-held": "dashboard_pool_of_one",
    "reads-in-turn": "dashboard_at_once",
    "note-not-stored": "note_stored",
    "event-missing": "note_stored",
    "note-escaped": "note_stored",
    "note-trimmed": "note_stored",
    "bytes-for-characters": "note_stored",
    "acknowledged-early": "note_readable",
    "sloppy-note": "note_mistakes",
    "orphan-event": "note_mistakes",
    "note-lost-under-load": "notes_at_once",
    "no-transaction": "note_statements",
    "early-transaction": "note_statements",
    "pool-unbounded": "pool_max",
    "pool-per-worker": "pool_max",
    "never-persistent": "persistent",
    "always-persistent": "not_persistent",
    "never-prepared": "prepared",
    "always-prepared": "not_prepared",
    "reset-ignored": "reset",
    "reset-alone": "reset",
    "reset-always": "reset",
    "time-zone-ignored": "time_zone",
    "time-zone-alone": "time_zone",
    "time-zone-always": "time_zone",
    "time-zone-late": "time_zone",
    "time-zone-once": "time_zone_pooled",
    "pool-tells-text": "pool_checkouts",
    "pool-counts-requests": "pool_checkouts",
    "pool-never-waits": "pool_wait",
    "pool-waits-in-ms": "pool_wait",
    "pool-waits-in-use": "pool_wait",
    "pool-tells-anyway": "pool_not_told",
    "pool-tells-in-part": "pool_not_told",
    "log-ignored": "access_log",
    "log-always": "access_log",
    "workers-ignored": "workers",
    "threads-ignored": "handler_threads offload_threads",
    "offload-ignored": "offload",
    "offload-pretended": "offload",
    "offload-wrong": "offload",
    "bad-settings-ignored": "bad_settings",
    "port-ignored": "port_and_stop",
    "deaf-to-sigterm": "port_and_stop",
    "one-packet-requests": "fragments",
    "nagle": "no_delay",
    "thread-for-connection": "silent_connections",
    "bytes-behind-body": "nothing_behind_bodies",
    "drops-pipelined": "pipelined",
    "no-chunks": "chunked",
    "never-closes": "old_clients",
    "odd-requests-500": "malformed",
    "smuggling": "conflicting_lengths",
    "small-body": "body_too_large",
    "late-413": "body_too_large",
    "no-body-limit": "body_too_large endless",
    "small-head": "head",
    "no-head-limit": "head_too_large endless",
    "one-connection-at-a-time": "slow_clients",
    "leaks-descriptors": "broken_off",
    "few-connections": "idle_crowd",
    "short-keep-alive": "keep_alive",
    "ends-without-drain": "stop_finishes",
    "accepts-while-stopping": "stop_finishes",
    "half-answers": "stop_under_load",
    "waits-for-idle": "stop_closes_idle",
    "commit-unflushed": "database_killed",
    "slow-503": "database_paused",
    "note-acknowledged-anyway": "database_paused",
    "note-twice": "database_paused",
    "given-back-early": "given_up",
    "waits-for-ever": "waits_end",
    "one-request-at-a-time": "waits_end",
    "bugs-are-503": "bugs",
    "bugs-unlogged": "bugs",
    "swallow-db-errors": "database_away",
    "never-reconnects": "pgbouncer_restart",
}
"""Fault of contract/broken/src/faults.py -> the checks that have to find it."""
NAMED = {name_of(check): check for check in CHECKS}
FAULTS = [(fault, name) for fault, names in FOUND_BY.items() for name in names.split()]
ARGUMENTS: dict[str, dict[str, Any]] = {
    "bad-settings-ignored": {"only": "DB_POOL_MAX"},
    "deaf-to-sigterm": {"grace_s": 2},
}
"""What makes a check shorter where it waits for what never comes."""
# Outages are looked at through PgBouncer, as in the stack; what is set for each connection, without it.
POOLED_CHECKS = {*outage.CHECKS, *restarts.CHECKS} - {restarts.check_database_killed}
NEVER_COME = ("port-ignored", "bad-settings-ignored")  # with these the check waits for what never comes
BROKEN = catalog.load("contract/broken")

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]


@pytest.fixture
def patience(backend: Backend) -> Iterator[Backend]:
    """The backend on a stack whose patience a test may shorten where things are meant not to come."""
    patience_s = backend.stack.patience_s
    yield backend
    backend.stack.patience_s = patience_s


@pytest.mark.parametrize("check", CHECKS, ids=name_of)
def test_without_a_fault_it_passes(backend: Backend, check: Check) -> None:
    # Its threads do what either model does, so the checks of both are asked.
    reason = unsupported(check, BROKEN) or BROKEN.checks.get(name_of(check))
    if reason:
        pytest.skip(reason)
    check(backend)


@pytest.mark.parametrize(("fault", "name"), FAULTS)
def test_fault_is_found(patience: Backend, fault: str, name: str) -> None:
    check: Callable[..., None] = NAMED[name]
    settings = {"DATABASE_URL": POOLED} if check in POOLED_CHECKS else {}
    with patience.variant(FAULT=fault, **settings) as faulty:
        if fault in NEVER_COME:
            patience.stack.patience_s = 4
        with pytest.raises(AssertionError) as caught:
            check(faulty, **ARGUMENTS.get(fault, {}))
    # A container that was only slow to start proves nothing.
    assert fault in NEVER_COME or "did not answer http" not in str(caught.value)
    print(f"{fault}: {caught.value}")


def test_what_is_known_beforehand_is_right_while_the_data_are_public(backend: Backend) -> None:
    """No check of the contract can see that the rows are dropped. A run can, by data of its own."""
    with backend.variant(FAULT="known-beforehand") as liar:
        for check in (bodies.check_golden_bodies, bodies.check_random, statements.check_statements_by_id):
            check(liar)


def test_every_check_and_every_fault_is_used() -> None:
    by_hand = {*whole_path.CHECKS, paths.check_declared_scenarios, *hygiene.CHECKS}  # the tests below
    assert {NAMED[name] for _, name in FAULTS} | by_hand == {*CHECKS}
    known = runpy.run_path(str(catalog.ROOT / BROKEN.name / "src" / "faults.py"))
    assert FOUND_BY.keys() == known["FAULTS"].keys() - known["UNDER_LOAD"]


def test_undeclared_success_is_found(backend: Backend) -> None:
    """It serves all; one that says it does not serve users is told that it does."""
    modest = replace(BROKEN, scenarios={"users": "a lie"})
    with pytest.raises(AssertionError, match="declares unsupported"):
        paths.check_declared_scenarios(Backend(backend.stack, modest, backend.container, backend.host))


def test_undeclared_pool_is_found(backend: Backend) -> None:
    silent = replace(BROKEN, pool_tells=False)
    with pytest.raises(AssertionError, match=r"bench\.toml does not declare"):
        pool.check_pool_not_told(Backend(backend.stack, silent, backend.container, backend.host))


def test_unclean_image_is_found(backend: Backend) -> None:
    unclean = catalog.Implementation("contract/broken-unclean")
    options = ["--target", "unclean", "--tag", unclean.image, "--file", f"{BROKEN.name}/Dockerfile"]
    docker("build", "--quiet", *options, str(catalog.ROOT))
    with Backend(backend.stack, unclean, "", "").variant() as faulty:
        with pytest.raises(AssertionError, match="root"):
            hygiene.check_not_root(faulty)
        with pytest.raises(AssertionError, match="gcc"):
            hygiene.check_no_compilers(faulty)


def test_missing_label_is_found(backend: Backend) -> None:
    label = f"com.docker.compose.project={backend.stack.project}"
    container = docker("create", "--label", label, BROKEN.image).strip()
    try:
        with pytest.raises(AssertionError, match=r"without the label dev\.tandem"):
            hygiene.check_labels(backend)
    finally:
        docker("rm", container)


BY_PROXY = (
    limits.check_head, limits.check_head_too_large, crowds.check_slow_clients, connections.check_malformed,
    connections.check_conflicting_lengths,
)  # fmt: skip


@pytest.mark.parametrize("check", BY_PROXY, ids=name_of)
def test_the_proxy_deals_with_what_core_programs_need_not(backend: Backend, check: Check) -> None:
    with whole_path.behind_proxy(backend) as proxy:
        check(proxy)


@pytest.fixture
def without_proxy(patience: Backend) -> Iterator[Backend]:
    patience.stack.stop("proxy")
    patience.stack.patience_s = 4
    yield patience
    patience.stack.start("proxy")


@pytest.mark.parametrize("check", whole_path.CHECKS, ids=name_of)
def test_missing_proxy_is_found(without_proxy: Backend, check: Check) -> None:
    """None of them asks the application itself, which is there."""
    with pytest.raises(AssertionError):
        check(without_proxy)
