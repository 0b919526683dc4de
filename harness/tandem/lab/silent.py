"""A window of silent connections: what an application's memory grows by when so many are opened to it. No load."""

import time

from tandem.hosts import HERE
from tandem.judge.judge import host_findings, verdict
from tandem.judge.measure import unloaded
from tandem.lab.application import Application
from tandem.lab.waiting import settle
from tandem.load.idle import IdleConnections
from tandem.record.trial import WindowRecord, WindowSpec
from tandem.record.window import Finding

NAME = "silent"
"""As WindowSpec.generator. It opens the scenario's `idle_connections`."""


def window(app: Application, spec: WindowSpec) -> WindowRecord:
    """Opens them to an application that has answered some requests, and looks at its anonymous memory.

    `told` of the record: `memory_before_bytes`, `memory_after_bytes`. Raises TandemError, OSError.
    """
    wanted, loadgen = app.cell.scenario.idle_connections, app.services["loadgen"]
    group = HERE.cgroup(app.app.pid)
    settle(HERE)
    cpu, began, began_s = HERE.read_cpu(), time.monotonic(), time.time()
    before = group.usage().anonymous_bytes
    target, path = app.cell.load_address, app.cell.scenario.path
    held = IdleConnections(HERE, loadgen.id, loadgen.pid, target, wanted, path)
    try:
        settle(HERE)
        after = group.usage().anonymous_bytes
        established = held.established()
    finally:
        held.release()
    made = unloaded(wanted, time.monotonic() - began, HERE.read_cpu().since(cpu))
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
