"""The checks can fail: a backend that is wrong in one way is caught by the check that is there for it."""

import runpy
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from contract_checks import (
    bodies,
    catalog,
    cookies,
    database_knobs,
    hygiene,
    inputs,
    knobs,
    openapi,
    outage,
    statements,
)
from contract_checks.backend import POOLED, Backend
from contract_checks.docker import docker
from contract_checks.registry import CHECKS, Check, unsupported

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
    ("session-ignored", cookies.check_refused_sessions),
    ("expired-accepted", cookies.check_refused_sessions),
    ("odd-cookie-500", cookies.check_refused_sessions),
    ("first-cookie-only", cookies.check_accepted_sessions),
    ("odd-cookie-500", cookies.check_doubtful_sessions),
    ("sloppy-id", inputs.check_bad_ids),
    ("query-is-id", inputs.check_good_ids),
    ("html-errors", inputs.check_unknown_paths),
    ("wrong-allow", inputs.check_methods),
    ("head-refused", inputs.check_head),
    ("spaces-in-json", inputs.check_healthz),
    ("session-ignored", partial(openapi.check_openapi, examples=20)),
    ("wrong-error", partial(openapi.check_openapi, examples=20)),
    ("pool-unbounded", database_knobs.check_pool_max),
    ("never-persistent", database_knobs.check_persistent),
    ("always-persistent", database_knobs.check_not_persistent),
    ("never-prepared", database_knobs.check_prepared),
    ("always-prepared", database_knobs.check_not_prepared),
    ("reset-ignored", database_knobs.check_reset),
    ("reset-always", database_knobs.check_reset),
    ("log-ignored", knobs.check_access_log),
    ("log-always", knobs.check_access_log),
    ("bad-settings-ignored", partial(knobs.check_bad_settings, only="DB_POOL_MAX")),
    ("port-ignored", knobs.check_port_and_stop),
    ("deaf-to-sigterm", partial(knobs.check_port_and_stop, grace_s=2)),
    ("swallow-db-errors", outage.check_database_away),
    ("never-reconnects", outage.check_pgbouncer_restart),
)
BROKEN = catalog.load("contract/broken")

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]


@pytest.fixture
def impatient(backend: Backend) -> Iterator[Backend]:
    """The backend on a stack that waits less: here things are meant not to come."""
    patience_s, backend.stack.patience_s = backend.stack.patience_s, 4
    yield backend
    backend.stack.patience_s = patience_s


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_without_a_fault_it_passes(backend: Backend, check: Check) -> None:
    reason = unsupported(check, BROKEN.unsupported)
    if reason:
        pytest.skip(reason)
    check(backend)


def _name(value: Any) -> str:
    if isinstance(value, str):
        return value
    return str(getattr(value, "func", value).__name__.removeprefix("check_"))


@pytest.mark.parametrize(("fault", "check"), FAULTS, ids=_name)
def test_fault_is_found(impatient: Backend, fault: str, check: Check) -> None:
    # Outages are looked at through PgBouncer, as in the stack.
    settings = {"DATABASE_URL": POOLED} if check in outage.CHECKS else {}
    with impatient.variant(FAULT=fault, **settings) as faulty, pytest.raises(AssertionError) as caught:
        check(faulty)
    print(f"{fault}: {caught.value}")


def test_every_check_and_every_fault_is_used() -> None:
    by_hand = {bodies.check_proxied, *hygiene.CHECKS}  # the tests below
    found = {getattr(check, "func", check) for _, check in FAULTS}
    assert found | by_hand == set(CHECKS)
    known = runpy.run_path(str(catalog.ROOT / BROKEN.name / "src" / "faults.py"))["FAULTS"]
    assert {fault for fault, _ in FAULTS} == set(known)


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


def test_missing_proxy_is_found(impatient: Backend) -> None:
    impatient.stack.stop("proxy")
    try:
        with pytest.raises(AssertionError):
            bodies.check_proxied(impatient)
    finally:
        impatient.stack.start("proxy")
