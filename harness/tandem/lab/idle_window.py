"""A window of silent connections: what an application's memory grows by when so many are opened to it. No load."""

import time

from tandem.judge.judge import host_findings, verdict
from tandem.judge.measure import unloaded
from tandem.lab.application import Application
from tandem.lab.readiness import settle
from tandem.record.trial import WindowRecord, WindowSpec
from tandem.record.window import Finding

NAME = "silent"
"""Name in WindowSpec.generator. It opens the scenario's `idle_connections`."""


def window(app: Application, spec: WindowSpec) -> WindowRecord:
    """Opens them to an application that has answered some requests, and looks at its anonymous memory.

    `told` of the record: `memory_before_bytes`, `memory_after_bytes`. Raises TandemError, OSError.
    """
    wanted = app.case.scenario.idle_connections
    group, machines = app.app.host.cgroup(app.app.pid), app.stack.sites.machines
    settle(machines)
    cpu, began, began_s = machines.read_cpu(), time.monotonic(), time.time()
    before = group.usage().anonymous_bytes
    held = app.idle_connections()
    try:
        settle(machines)
        after = group.usage().anonymous_bytes
        established = held.established()
    finally:
        held.release()
    made = unloaded(wanted, time.monotonic() - began, machines.read_cpu().since(cpu))
    made.idle_connections = established
    made.app_memory_peak_bytes = after
    made.findings = host_findings(made)
    if established < wanted:
        text = f"only {established:,} of {wanted:,} silent connections stayed open"
        made.findings.insert(0, Finding.of("idle-lost", "invalid", text))
    made.verdict = verdict(made.findings)
    return WindowRecord(
        spec=spec,
        windows={spec.variants[0]: made},
        began_s={spec.variants[0]: began_s},
        told={"memory_before_bytes": before, "memory_after_bytes": after},
    )
