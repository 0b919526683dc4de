"""The checks can fail: a backend that is wrong in one way is caught by the check that is there for it."""

import runpy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

# isort: off
from contract_checks import (
    bodies, catalog, connections, crowds, hygiene, limits, outage, paths, pool, restarts, statements, whole_path,
)  # fmt: skip

# isort: on
from contract_checks.backend import POOLED, Backend
from contract_checks.docker import docker
from contract_checks.needs import name_of, unsupported
from contract_checks.registry import CHECKS, Check

FINDS = {
    "golden_bodies": "wrong-body spaces-in-json escaped-json",
    "random": "wrong-body not-random",
    "healthz": "spaces-in-json",
    "invisible": "others-visible",
    "concurrent": "short-body-under-load",
    "statements_by_id": "cached extra-statement missing-statement pretended-statement",
    "note_shown": "cached",
    "statements_random": "extra-statement",
    "dashboard_statements": "extra-statement dashboard-cached",
    "note_statements": "extra-statement no-transaction early-transaction",
    "statements_of_errors": "session-ignored",
    "plain_sessions": "session-ignored expired-accepted wrong-error",
    "dashboards": "session-ignored wrong-dashboard",
    "note_mistakes": "session-ignored sloppy-note orphan-event",
    "no_statements": "eager-session",
    "odd_sessions": "odd-cookie-500",
    "accepted_sessions": "first-cookie-only",
    "ids": "sloppy-id query-is-id",
    "unknown_paths": "pages-for-all",
    "methods": "any-method",
    "head_requests": "head-refused",
    "index": "wrong-page page-type index-only-root",
    "users": "deleted-users-stay users-unsorted",
    "users_at_once": "users-collide",
    "work_sums": "sum-of-32-bits",
    "work_large": "numbers-dropped",
    "work_mistakes": "sloppy-delay lenient-json",
    "work_waits": "delay-ignored",
    "work_overlaps": "delays-in-turn",
    "dashboard_pool_of_one": "session-held",
    "dashboard_at_once": "reads-in-turn",
    "note_stored": "note-not-stored event-missing note-escaped note-trimmed bytes-for-characters acknowledged-early",
    "notes_at_once": "note-lost-under-load",
    "pool_max": "pool-unbounded pool-per-worker",
    "persistent": "never-persistent always-persistent",
    "prepared": "never-prepared always-prepared",
    "reset": "reset-ignored reset-alone reset-always",
    "time_zone": "time-zone-ignored time-zone-alone time-zone-always time-zone-late time-zone-once",
    "pool_told": "pool-tells-text pool-counts-requests pool-never-waits pool-waits-in-ms pool-waits-in-use",
    "pool_not_told": "pool-tells-anyway pool-tells-in-part",
    "access_log": "log-ignored log-always",
    "workers": "workers-ignored",
    "handler_threads": "threads-ignored one-request-at-a-time",
    "offload_threads": "threads-ignored",
    "offload": "offload-ignored offload-pretended offload-wrong",
    "bad_settings": "bad-settings-ignored",
    "port": "port-ignored",
    "fragments": "one-packet-requests",
    "no_delay": "nagle",
    "silent_connections": "thread-for-connection",
    "nothing_behind_bodies": "bytes-behind-body",
    "pipelined": "drops-pipelined",
    "chunked": "no-chunks",
    "old_clients": "never-closes",
    "malformed": "odd-requests-500",
    "conflicting_lengths": "smuggling",
    "body_too_large": "small-body late-413 no-body-limit",
    "endless": "no-body-limit no-head-limit",
    "head": "small-head",
    "head_too_large": "no-head-limit",
    "slow_clients": "one-connection-at-a-time",
    "broken_off": "leaks-descriptors",
    "idle_crowd": "few-connections",
    "keep_alive": "short-keep-alive",
    "stop_finishes": "deaf-to-sigterm ends-without-drain accepts-while-stopping",
    "stop_under_load": "half-answers",
    "stop_closes_idle": "waits-for-idle",
    "database_killed": "commit-unflushed",
    "database_paused": "slow-503 note-acknowledged-anyway note-twice",
    "given_up": "given-back-early hung-up-kept",
    "waits_end": "waits-for-ever one-request-at-a-time",
    "first_come": "last-in-first-out",
    "bugs": "bugs-are-503 bugs-unlogged",
    "database_away": "swallow-db-errors",
    "pgbouncer_restart": "never-reconnects",
}
"""Check -> the faults of contract/broken/src/faults.py that it has to find."""
NAMED = {name_of(check): check for check in CHECKS}
FAULTS = [(fault, name) for name, faults in FINDS.items() for fault in faults.split()]
# Outages are looked at through PgBouncer, as in the stack; what is set for each connection, without it.
POOLED_CHECKS = {*outage.CHECKS, *restarts.CHECKS} - {restarts.check_database_killed}
# With these the check waits for what never comes; arguments that make it shorter.
NEVER_COME: dict[str, dict[str, Any]] = {"port-ignored": {}, "bad-settings-ignored": {"only": "DB_POOL_MAX"}}
BROKEN = catalog.load("contract/broken")

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300, func_only=True)]


@pytest.mark.parametrize("check", CHECKS, ids=name_of)
def test_without_a_fault_it_passes(backend: Backend, check: Check) -> None:
    # Its threads do what either model does, so the checks of both are asked.
    reason = unsupported(check, BROKEN) or BROKEN.checks.get(name_of(check))
    if reason:
        pytest.skip(reason)
    check(backend)


@pytest.mark.parametrize(("fault", "name"), FAULTS)
def test_fault_is_found(backend: Backend, monkeypatch: pytest.MonkeyPatch, fault: str, name: str) -> None:
    check: Callable[..., None] = NAMED[name]
    settings = {"DATABASE_URL": POOLED} if check in POOLED_CHECKS else {}
    with backend.variant(FAULT=fault, **settings) as faulty:
        if fault in NEVER_COME:
            monkeypatch.setattr(backend.stack, "patience_s", 4)
        with pytest.raises(AssertionError) as caught:
            check(faulty, **NEVER_COME.get(fault, {}))
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
    assert {NAMED[name] for name in FINDS} | by_hand == {*CHECKS}
    known = runpy.run_path(str(catalog.ROOT / BROKEN.name / "src" / "faults.py"))
    assert {fault for fault, _ in FAULTS} == known["FAULTS"].keys() - known["UNDER_LOAD"]


PARTS = ("session", "recipe_by_id", *statements.PARTS)
UNTRUE: tuple[tuple[dict[str, Any], Check, str], ...] = (
    # It serves all; one that says it does not serve users is told that it does.
    ({"scenarios": {"users": "a lie"}}, paths.check_declared_scenarios, "declares unsupported"),
    # It sends the contract's eight; one that declares others is told what it sends.
    ({"statements": {"recipe": ["begin", *PARTS]}}, statements.check_statements_by_id, "recipes by id"),
    ({"statements": {"recipe": [*PARTS[:-1]]}}, statements.check_statements_by_id, "recipes by id"),
    ({"pool_tells": False}, pool.check_pool_not_told, r"bench\.toml does not declare"),
)


@pytest.mark.parametrize(("declared", "check", "said"), UNTRUE)
def test_untrue_declaration_is_found(
    backend: Backend, declared: dict[str, Any], check: Check, said: str
) -> None:
    with pytest.raises(AssertionError, match=said):
        check(replace(backend, implementation=replace(BROKEN, **declared)))


def test_unclean_image_is_found(backend: Backend) -> None:
    unclean = catalog.Implementation("contract/broken-unclean")
    options = ["--target", "unclean", "--tag", unclean.image, "--file", f"{BROKEN.name}/Dockerfile"]
    docker("build", "--quiet", *options, str(catalog.ROOT))
    with replace(backend, implementation=unclean).variant() as faulty:
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
    connections.check_conflicting_lengths, whole_path.slow_bodies,
)  # fmt: skip


@pytest.mark.parametrize("check", BY_PROXY, ids=name_of)
def test_the_proxy_deals_with_what_core_programs_need_not(backend: Backend, check: Check) -> None:
    with whole_path.behind_proxy(backend) as proxy:
        check(proxy)


def test_missing_proxy_is_found(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The application itself, which is there, is not asked."""
    backend.stack.stop("proxy")
    monkeypatch.setattr(backend.stack, "patience_s", 4)
    try:
        with pytest.raises(AssertionError):
            whole_path.check_proxied(backend)
    finally:
        backend.stack.start("proxy")
