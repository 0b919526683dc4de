"""All checks, in the order in which they run, the ones that disturb the stack last; and the tier of each."""

from collections.abc import Callable

from contract_checks import (
    bodies,
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
from contract_checks.backend import Backend
from contract_checks.needs import name_of

Check = Callable[[Backend], None]

CHECKS: tuple[Check, ...] = (
    *connections.CHECKS,
    *limits.CHECKS,
    *paths.CHECKS,
    *inputs.CHECKS,
    *index.CHECKS,
    *users.CHECKS,
    *work.CHECKS,
    *bodies.CHECKS,
    *cookies.CHECKS,
    *statements.CHECKS,
    *dashboard.CHECKS,
    *notes.CHECKS,
    *openapi.CHECKS,
    *hygiene.CHECKS,
    *whole_path.CHECKS,
    *settings.CHECKS,
    *parallelism.CHECKS,
    *database_settings.CHECKS,
    *time_zone.CHECKS,
    *pool.CHECKS,
    *crowds.CHECKS,
    *stopping.CHECKS,
    *outage.CHECKS,
    *restarts.CHECKS,
    crowds.check_keep_alive,
)

# What a program has to do to be measured and believed: the right answers to what clients ask, with the right statements;
# plain refusals; its end. What bench.toml says of settings and of the pool is looked at in either tier: it is optional there.
CORE: frozenset[Check] = frozenset(
    {
        connections.check_fragments,
        connections.check_old_clients,
        connections.check_nothing_behind_bodies,
        *paths.CHECKS,
        inputs.check_healthz,
        inputs.check_plain_ids,
        inputs.check_good_ids,
        inputs.check_unknown_paths,
        inputs.check_head_requests,
        *index.CHECKS,
        users.check_users,
        users.check_users_at_once,
        work.check_work_sums,
        work.check_work_large,
        work.check_work_not_remembered,
        work.check_work_mistakes,
        work.check_work_waits,
        work.check_work_overlaps,
        *bodies.CHECKS,
        cookies.check_plain_sessions,
        cookies.check_accepted_sessions,
        *statements.CHECKS,
        *dashboard.CHECKS,
        notes.check_note_stored,
        notes.check_note_readable,
        notes.check_note_shown,
        notes.check_note_mistakes,
        notes.check_notes_at_once,
        notes.check_note_statements,
        openapi.check_openapi_notes,
        hygiene.check_not_root,
        hygiene.check_labels,
        *whole_path.CHECKS,
        settings.check_port_and_stop,
        settings.check_access_log,
        *parallelism.CHECKS,
        *database_settings.CHECKS,
        *time_zone.CHECKS,
        *pool.CHECKS,
        crowds.check_idle_crowd,
        stopping.check_stop_finishes,
        stopping.check_stop_under_load,
    }
)
# What a program needs that stands in the open, without a proxy, and through outages.
HARDENED: frozenset[Check] = frozenset(
    {
        connections.check_pipelined,
        connections.check_chunked,
        connections.check_expect,
        connections.check_malformed,
        connections.check_conflicting_lengths,
        connections.check_refused_in_turn,
        connections.check_refused_before_body,
        *limits.CHECKS,
        inputs.check_bad_ids,
        users.check_user_paths,
        work.check_work_bodies,
        work.check_work_delay_values,
        cookies.check_refused_sessions,
        cookies.check_doubtful_sessions,
        notes.check_note_refused,
        openapi.check_openapi,
        hygiene.check_no_compilers,
        settings.check_bad_settings,
        crowds.check_slow_clients,
        crowds.check_broken_off,
        crowds.check_ten_thousand,
        crowds.check_keep_alive,
        stopping.check_stop_closes_idle,
        stopping.check_second_signal,
        *outage.CHECKS,
        *restarts.CHECKS,
    }
)


def tier_of(check: Check) -> str:
    """`core` or `hardened`; raises KeyError for a check that has none."""
    for tier, checks in (("core", CORE), ("hardened", HARDENED)):
        if check in checks:
            return tier
    raise KeyError(name_of(check))
