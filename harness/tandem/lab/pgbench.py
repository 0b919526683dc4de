"""pgbench with a scenario's own statements: what the database and PgBouncer could do for an application that costs
nothing."""

import re
import time
from dataclasses import dataclass
from pathlib import Path

from python_on_whales import DockerException

from tandem.catalog.ranges import expand
from tandem.catalog.scenario import Scenario
from tandem.errors import TandemError
from tandem.judge.judge import host_findings, verdict
from tandem.judge.measure import unloaded
from tandem.lab.prepare import Prepared
from tandem.lab.sites import APP
from tandem.lab.stack import LABEL, to_its_end
from tandem.load.client import session_key
from tandem.record.trial import WindowRecord, WindowSpec

RECIPE_PARTS = ("ingredients", "steps", "sections", "notes", "reactions", "timeline_events")
DASHBOARD_PARTS = ("dashboard_recipes", "dashboard_teams", "dashboard_notes", "dashboard_events")
FROM_VARIABLE = 'printf %s "$STATEMENTS" >/tmp/script.sql && exec pgbench "$0" "$@" -f /tmp/script.sql tandem'
"""A script that comes in a variable: no folder of this machine is there on another host."""
PARAMETERS = {
    "session": ["key"],
    "recipe_random": ["user_id"],
    "recipe_by_id": ["user_id", "asked"],
    "note_insert": ["user_id", "asked", "text"],
    "event_insert": ["user_id", "asked"],
    **{name: ["id"] for name in RECIPE_PARTS},
    **{name: ["user_id"] for name in DASHBOARD_PARTS},
}
"""Query -> the pgbench variables that take the places of $1, $2, …"""
NOTE = "A pinch more salt, and serve it with crème fraîche."
ONE_ROW = ("session", "recipe_random", "recipe_by_id")
"""Queries whose columns become variables: `user_id` of the session, `id` of the recipe."""


@dataclass(frozen=True)
class Transactions:
    """The summary of a pgbench run."""

    transactions_per_s: float
    failed: int


def script(scenario: Scenario, queries: Path) -> str:
    """The scenario's statements as a pgbench script, in their order. queries: the contract's folder of them."""
    lines = []
    if scenario.ids:
        low, _, high = scenario.ids[0].partition("-")
        lines.append(f"\\set asked random({low}, {high or low})")
    for name in scenario.statements:
        if name not in PARAMETERS:
            lines.append(f"{name};")
            continue
        text = (queries / f"{name}.sql").read_text().strip()
        for number, variable in enumerate(PARAMETERS[name], start=1):
            text = re.sub(rf"\${number}\b", f":{variable}", text)
        lines.append(f"{text} \\gset" if name in ONE_ROW else f"{text};")
    return "\n".join(lines) + "\n"


def parse(output: str) -> Transactions:
    """Reads pgbench's summary. Raises TandemError if it is none."""
    rate = re.search(r"^tps = ([0-9.]+) ", output, re.MULTILINE)
    failed = re.search(r"^number of failed transactions: (\d+) ", output, re.MULTILINE)
    if not rate or not failed:
        raise TandemError(f"pgbench did not report its rate:\n{output[-1000:]}")
    return Transactions(float(rate[1]), int(failed[1]))


def transactions(prepared: Prepared, seconds: int, folder: Path) -> Transactions:
    """Runs the scenario's statements through PgBouncer with pgbench in the application's place: a container on its host, with its
    connections and CPUs. folder: where the script is kept.

    Raises TandemError if one transaction fails.
    """
    scenario, stack = prepared.case.scenario, prepared.stack
    assert scenario.session_user is not None
    folder.mkdir(parents=True, exist_ok=True)
    statements = script(scenario, stack.root / "contract/sql/queries")
    (folder / "script.sql").write_text(statements)
    clients = int(prepared.case.settings["DB_POOL_MAX"])
    cpus = expand(stack.variables.get("APP_CPUSET", ""))
    threads = min(clients, len(cpus) or 1)
    options = ["-n", "-M", "prepared", "-c", str(clients), "-j", str(threads), "-T", str(seconds)]
    # Where it is alone on its host, there is no network of the stack.
    beside = stack.sites.of(APP) is stack.sites.of("pgbouncer")
    pooler = stack.seen_by(APP, stack.service("pgbouncer"), "pgbouncer")
    address = ["-h", pooler, "-p", "6432", "-U", "app"]
    variables = ["-D", f"key={session_key(scenario.session_user)}", "-D", f"text={NOTE}"]
    try:
        # To its end: a container that is left on the stack's network keeps that from being removed.
        said = to_its_end(
            lambda: stack.at(APP).run(
                stack.image_name("db"),
                ["sh", "-c", FROM_VARIABLE, *address, *options, *variables],
                envs={"PGPASSWORD": "app", "PGSSLMODE": "disable", "STATEMENTS": statements},
                networks=[f"{stack.project}_pool"] if beside else [],
                labels={LABEL: "stack"},
                cap_drop=["ALL"],
                cpuset_cpus=cpus or None,
                remove=True,
            )
        )
    except DockerException as error:
        raise TandemError(f"pgbench failed:\n{(error.stderr or str(error))[-1500:]}") from None
    done = parse(str(said))
    if done.failed:
        raise TandemError(f"{done.failed} transactions of pgbench failed")
    return done


def window_of(prepared: Prepared, spec: WindowSpec, folder: Path) -> WindowRecord:
    """One window of pgbench. Transactions stand for requests; nothing else is measured. Raises TandemError."""
    machines = prepared.stack.sites.machines
    before, began_s = machines.read_cpu(), time.time()
    done = transactions(prepared, spec.seconds, folder)
    during = machines.read_cpu().since(before)
    made = unloaded(int(prepared.case.settings["DB_POOL_MAX"]), spec.seconds, during)
    made.requests = made.good = round(done.transactions_per_s * spec.seconds)
    made.goodput_rps = done.transactions_per_s
    made.findings = host_findings(made)
    made.verdict = verdict(made.findings)
    return WindowRecord(spec=spec, windows={spec.variants[0]: made}, began_s={spec.variants[0]: began_s})
