"""The checks can fail: a backend that is wrong in one way is caught by the check that is there for it."""

import runpy
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from contract_checks import (
    bodies,
    catalog,
    connections,
    cookies,
    crowds,
    dashboard,
    database_settings,
    hygiene,
    index,
    inputs,
    limits,
    notes,
    openapi,
    outage,
    parallelism,
    paths,
    pool,
    restarts,
    settings,
    statements,
    stopping,
    time_zone,
    users,
    whole_path,
    work,
)
from contract_checks.backend import POOLED, Backend
from contract_checks.docker import docker
from contract_checks.needs import name_of, unsupported
from contract_checks.registry import CHECKS, Check

FAULTS: tuple[tuple[str, Check], ...] = (
    ("wrong-body", bodies.check_golden_bodies),
    ("wrong-body", bodies.check_random),
    ("spaces-in-json", bodies.check_golden_bodies),
    ("escaped-json", bodies.check_golden_bodies),
    ("others-visible", bodies.check_invisible),
    ("not-random", bodies.check_random),
    ("short-body-under-load", bodies.check_concurrent),
    ("cached", statements.check_statements_by_id),
    ("extra-statement", statements.check_statements_by_id),
    ("extra-statement", statements.check_statements_random),
    ("missing-statement", statements.check_statements_by_id),
    ("pretended-statement", statements.check_statements_by_id),
    ("session-ignored", statements.check_statements_of_errors),
    ("eager-session", statements.check_no_statements),
    ("session-ignored", cookies.check_plain_sessions),
    ("session-ignored", cookies.check_refused_sessions),
    ("expired-accepted", cookies.check_refused_sessions),
    ("odd-cookie-500", cookies.check_refused_sessions),
    ("first-cookie-only", cookies.check_accepted_sessions),
    ("odd-cookie-500", cookies.check_doubtful_sessions),
    ("sloppy-id", inputs.check_plain_ids),
    ("sloppy-id", inputs.check_bad_ids),
    ("query-is-id", inputs.check_good_ids),
    ("html-errors", inputs.check_unknown_paths),
    ("wrong-allow", paths.check_methods),
    ("head-refused", inputs.check_head_requests),
    ("spaces-in-json", inputs.check_healthz),
    ("wrong-page", index.check_index),
    ("page-type", index.check_index),
    ("index-only-root", index.check_index),
    ("deleted-users-stay", users.check_users),
    ("users-unsorted", users.check_users),
    ("post-with-id", users.check_user_paths),
    ("huge-id-400", users.check_user_paths),
    ("slash-needed", users.check_user_paths),
    ("users-collide", users.check_users_at_once),
    ("sum-of-32-bits", work.check_work_sums),
    ("numbers-dropped", work.check_work_large),
    ("sloppy-delay", work.check_work_mistakes),
    ("work-remembered", work.check_work_not_remembered),
    ("nested-500", work.check_work_bodies),
    ("lenient-json", work.check_work_bodies),
    ("whole-fractions", work.check_work_bodies),
    ("lenient-text", work.check_work_bodies),
    ("last-delay", work.check_work_delay_values),
    ("sloppy-delay", work.check_work_delay_values),
    ("delay-undecoded", work.check_work_delay_values),
    ("delay-ignored", work.check_work_waits),
    ("delays-in-turn", work.check_work_overlaps),
    ("wrong-dashboard", dashboard.check_dashboards),
    ("session-ignored", dashboard.check_dashboards),
    ("extra-statement", dashboard.check_dashboard_statements),
    ("dashboard-cached", dashboard.check_dashboard_statements),
    ("session-held", dashboard.check_dashboard_pool_of_one),
    ("reads-in-turn", dashboard.check_dashboard_at_once),
    ("note-not-stored", notes.check_note_stored),
    ("event-missing", notes.check_note_stored),
    ("note-escaped", notes.check_note_stored),
    ("note-trimmed", notes.check_note_stored),
    ("bytes-for-characters", notes.check_note_stored),
    ("acknowledged-early", notes.check_note_readable),
    ("cached", notes.check_note_shown),
    ("sloppy-note", notes.check_note_mistakes),
    ("sloppy-note", notes.check_note_refused),
    ("note-before-session", notes.check_note_refused),
    ("orphan-event", notes.check_note_refused),
    ("nested-500", notes.check_note_refused),
    ("note-lost-under-load", notes.check_notes_at_once),
    ("no-transaction", notes.check_note_statements),
    ("early-transaction", notes.check_note_statements),
    ("extra-statement", notes.check_note_statements),
    ("session-ignored", partial(openapi.check_openapi, examples=20)),
    ("wrong-error", partial(openapi.check_openapi, examples=20)),
    ("lenient-json", partial(openapi.check_openapi, examples=20)),
    ("note-on-memory", openapi.check_openapi_notes),
    ("pool-unbounded", database_settings.check_pool_max),
    ("pool-per-worker", database_settings.check_pool_max),
    ("never-persistent", database_settings.check_persistent),
    ("always-persistent", database_settings.check_not_persistent),
    ("never-prepared", database_settings.check_prepared),
    ("always-prepared", database_settings.check_not_prepared),
    ("reset-ignored", database_settings.check_reset),
    ("reset-alone", database_settings.check_reset),
    ("reset-always", database_settings.check_reset),
    ("time-zone-ignored", time_zone.check_time_zone),
    ("time-zone-alone", time_zone.check_time_zone),
    ("time-zone-always", time_zone.check_time_zone),
    ("time-zone-late", time_zone.check_time_zone),
    ("time-zone-once", time_zone.check_time_zone_pooled),
    ("pool-tells-text", pool.check_pool_checkouts),
    ("pool-counts-requests", pool.check_pool_checkouts),
    ("pool-never-waits", pool.check_pool_wait),
    ("pool-waits-in-ms", pool.check_pool_wait),
    ("pool-waits-in-use", pool.check_pool_wait),
    ("pool-tells-anyway", pool.check_pool_not_told),
    ("pool-tells-in-part", pool.check_pool_not_told),
    ("log-ignored", settings.check_access_log),
    ("log-always", settings.check_access_log),
    ("workers-ignored", parallelism.check_workers),
    ("threads-ignored", parallelism.check_handler_threads),
    ("threads-ignored", parallelism.check_offload_threads),
    ("offload-ignored", parallelism.check_offload),
    ("offload-pretended", parallelism.check_offload),
    ("offload-wrong", parallelism.check_offload),
    ("bad-settings-ignored", partial(settings.check_bad_settings, only="DB_POOL_MAX")),
    ("port-ignored", settings.check_port_and_stop),
    ("deaf-to-sigterm", partial(settings.check_port_and_stop, grace_s=2)),
    ("one-packet-requests", connections.check_fragments),
    ("bytes-behind-body", connections.check_nothing_behind_bodies),
    ("drops-pipelined", connections.check_pipelined),
    ("no-chunks", connections.check_chunked),
    ("refuses-expect", connections.check_expect),
    ("never-closes", connections.check_old_clients),
    ("odd-requests-500", connections.check_malformed),
    ("refuses-at-once", connections.check_refused_in_turn),
    ("closes-unannounced", connections.check_refused_before_body),
    ("smuggling", connections.check_conflicting_lengths),
    ("small-body", limits.check_largest_body),
    ("late-413", limits.check_body_too_large),
    ("no-body-limit", limits.check_body_too_large),
    ("small-head", limits.check_head),
    ("no-head-limit", limits.check_head_too_large),
    ("no-head-limit", limits.check_endless_heads),
    ("no-head-limit", limits.check_endless_lines),
    ("no-body-limit", limits.check_endless_bodies),
    ("one-connection-at-a-time", crowds.check_slow_clients),
    ("leaks-descriptors", crowds.check_broken_off),
    ("few-connections", crowds.check_idle_crowd),
    ("few-connections", crowds.check_ten_thousand),
    ("short-keep-alive", crowds.check_keep_alive),
    ("ends-without-drain", stopping.check_stop_finishes),
    ("accepts-while-stopping", stopping.check_stop_finishes),
    ("half-answers", stopping.check_stop_under_load),
    ("waits-for-idle", stopping.check_stop_closes_idle),
    ("second-signal-kills", stopping.check_second_signal),
    ("note-acknowledged-anyway", restarts.check_database_restart),
    ("note-twice", restarts.check_database_restart),
    ("commit-unflushed", restarts.check_database_killed),
    ("never-reconnects", restarts.check_pgbouncer_stopped),
    ("slow-503", restarts.check_database_paused),
    ("given-back-early", outage.check_given_up),
    ("swallow-db-errors", outage.check_database_away),
    ("never-reconnects", outage.check_pgbouncer_restart),
)
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


def _name(value: Any) -> str:
    if isinstance(value, str):
        return value
    return name_of(value)


@pytest.mark.parametrize(("fault", "check"), FAULTS, ids=_name)
def test_fault_is_found(patience: Backend, fault: str, check: Check) -> None:
    settings = {"DATABASE_URL": POOLED} if check in POOLED_CHECKS else {}
    with patience.variant(FAULT=fault, **settings) as faulty:
        if fault in NEVER_COME:
            patience.stack.patience_s = 4
        with pytest.raises(AssertionError) as caught:
            check(faulty)
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
    found = {getattr(check, "func", check) for _, check in FAULTS}
    assert found | by_hand == set(CHECKS)
    known = runpy.run_path(str(catalog.ROOT / BROKEN.name / "src" / "faults.py"))
    assert {fault for fault, _ in FAULTS} == known["FAULTS"].keys() - known["UNDER_LOAD"]


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
